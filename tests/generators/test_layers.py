from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from demoloom.generators.learned.layers import Halve, Linear, PerCell


def test_no_row_depends_on_its_neighbours_in_any_bit() -> None:
    torch.manual_seed(0)
    layer, rows = Linear(300, 70), torch.randn(33, 300)
    with torch.no_grad():
        together, alone = layer(rows), torch.cat([layer(row[None]) for row in rows])
    assert torch.equal(together, alone)


def test_nor_where_rows_of_an_odd_length_lie_in_memory() -> None:
    # 27 numbers are 108 bytes: the second row begins in the middle of a cache line.
    torch.manual_seed(0)
    layer, rows = Linear(27, 54), torch.randn(40, 3, 27)
    with torch.no_grad():
        together = torch.stack([layer(three) for three in rows])
        alone = torch.stack([torch.cat([layer(row[None].clone()) for row in three]) for three in rows])
    assert torch.equal(together, alone)


def test_cells_of_a_sample_do_not_depend_on_other_samples_in_any_bit() -> None:
    torch.manual_seed(0)
    layer, cells = PerCell(96, 64), torch.randn(5, 64, 96)
    with torch.no_grad():
        assert torch.equal(layer(cells)[3:], layer(cells[3:]))


def test_a_layer_says_the_same_in_training_but_for_the_last_bits() -> None:
    torch.manual_seed(0)
    layer, rows = Linear(300, 70), torch.randn(33, 300)
    with torch.no_grad():
        alone = layer(rows)
    assert torch.allclose(layer(rows), alone, atol=1e-5)


def test_a_product_for_each_cell_is_a_1_x_1_convolution() -> None:
    torch.manual_seed(0)
    layer, image = PerCell(6, 4), torch.randn(2, 6, 3, 5)
    cells = layer(image.flatten(2).transpose(1, 2))
    expected = F.conv2d(image, layer.weight, layer.bias)
    assert torch.allclose(cells.transpose(1, 2).unflatten(2, (3, 5)), expected, atol=1e-6)


def test_halving_is_pixel_unshuffle_and_a_1_x_1_convolution() -> None:
    torch.manual_seed(0)
    layer, image = Halve(3, 8), torch.randn(2, 3, 6, 4)
    plain = nn.Conv2d(12, 8, 1)
    plain.load_state_dict(layer.state_dict())
    assert torch.allclose(layer(image), plain(F.pixel_unshuffle(image, 2)), atol=1e-6)
