from __future__ import annotations

import numpy as np
import pytest
from world_ablation import AGENT, BLOCK, alive, edges, rows_of, variants


def _scene(block_width: int) -> np.ndarray:
    frame = np.full((1, 32, 32, 3), 255, np.uint8)
    frame[:, :8, :block_width] = BLOCK
    frame[:, 20:23, 20:23] = AGENT
    return frame


def test_a_rollout_lives_while_the_block_keeps_three_quarters_of_its_area() -> None:
    real = _scene(8)
    assert alive(_scene(6), real).all()
    assert not alive(_scene(5), real).any()


def test_a_rollout_without_its_agent_is_dead() -> None:
    lost = _scene(8)
    lost[:, 20:23, 20:23] = 255
    assert not alive(lost, _scene(8)).any()


def test_every_variant_differs_from_the_first_and_from_each_other() -> None:
    made = [(variant.model, variant.dynamics) for variant in variants(10)]
    assert len(set(made)) == len(made)


def test_figures_stand_beside_those_of_the_first_variant() -> None:
    first, other = {"name": "first", "psnr_16": 20.0}, {"name": "other", "psnr_16": 30.0}
    row = rows_of([first, other])[1]
    assert (row["name"], row["value"], row["rival"], row["ratio"]) == ("other: psnr_16", 30, 20, 1.5)


def test_units_follow_from_the_names_of_figures() -> None:
    rows = rows_of([{"name": "any", "psnr": 30.0, "sharpness_latents_off_0.1": 0.9, "alive": 1.0, "minutes": 2.0}])
    assert [row["unit"] for row in rows] == ["dB", "of real", "share", "min"]


def test_edges_half_as_high_are_half_as_sharp() -> None:
    step = np.zeros((1, 4, 4, 1), np.uint8)
    step[:, :, 2:] = 100
    # One of three neighbours along rows differs by 100, none along columns.
    assert edges(step) == pytest.approx(100 / 3 / 2)
    assert edges(step // 2) == pytest.approx(50 / 3 / 2)
