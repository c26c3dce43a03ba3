from __future__ import annotations

import numpy as np
import pytest
import torch

from demoloom.generators.learned.config import WorldConfig
from demoloom.generators.learned.crops import Crops, draw_crops
from demoloom.generators.learned.dynamics import advance
from demoloom.generators.learned.evaluation import psnr
from demoloom.generators.learned.head_training import choose_success_threshold
from demoloom.generators.learned.interaction import collect_rows
from demoloom.generators.learned.layers import coordinates
from demoloom.generators.learned.timeline import Timeline
from demoloom.generators.learned.training_config import DynamicsTrainingConfig, WorldTrainingConfig
from demoloom.generators.learned.vector_dynamics import keep_on_circles, second_order
from demoloom.storage.errors import ConfigError

from .moving_square import SPEC, square_episodes


def test_an_episodes_score_belongs_to_the_frame_after_the_row() -> None:
    episode = next(iter(square_episodes(1)))
    data = collect_rows(SPEC, [episode, episode])
    assert data.score[1] == episode.score[0]
    assert not data.scored[0]
    assert data.final_score.tolist() == [episode.score[-1]] * 2
    assert data.starts.tolist() == [0, 20, 40]


def test_labels_that_an_episode_lacks_are_no_labels_of_the_data() -> None:
    first, second = square_episodes(2)
    object.__setattr__(second, "labels", {})
    data = collect_rows(SPEC, [first, second])
    assert data.labels == {}
    assert data.spec.labels == {}


def test_one_episode_is_too_few() -> None:
    with pytest.raises(ConfigError, match="at least 2 episodes of interaction data, got 1"):
        collect_rows(SPEC, square_episodes(1))


def test_episodes_are_either_trained_on_or_held_out() -> None:
    train, held_out = collect_rows(SPEC, square_episodes(10)).split(0.2)
    assert held_out.tolist() == [4, 9]
    assert sorted([*train, *held_out]) == list(range(10))


def test_before_the_first_row_of_an_episode_stand_copies_of_it() -> None:
    timeline = Timeline(np.array([0, 3, 6]), np.array([0, 1]))
    assert timeline.window(np.array([3, 4, 5]), 3).tolist() == [[3, 3, 3], [3, 3, 4], [3, 4, 5]]


def test_rows_to_learn_from_lie_in_the_chosen_episodes_and_have_followers() -> None:
    timeline = Timeline(np.array([0, 3, 6]), np.array([1]))
    assert timeline.rows_with_next().tolist() == [3, 4]
    assert timeline.rows_with_next(2).tolist() == [3]


def test_crops_of_latents_and_of_frames_show_the_same_place() -> None:
    crops = Crops(torch.tensor([[2, 3]]), torch.tensor([[4, 5]]))
    latents = torch.arange(64.0).view(1, 1, 8, 8)
    frames = latents.numpy()[0, 0].repeat(4, 0).repeat(4, 1)[None, ..., None]
    window = crops.of_latents(latents, torch.tensor([0]))
    pixels = crops.in_pixels(4).of_frames(frames, np.array([0]))
    assert window.tolist() == [[[[20, 21], [28, 29]]]]
    assert (pixels[0, ::4, ::4, 0] == window[0, 0].numpy()).all()


def test_crops_begin_at_even_cells_inside_the_image() -> None:
    noise = torch.Generator().manual_seed(0)
    crops = draw_crops(torch.rand(50, 16, 16), 8, noise)
    for cells in (crops.ys, crops.xs):
        assert (cells[:, 0] % 2 == 0).all()
        assert cells.min() >= 0
        assert cells.max() <= 15


def test_crops_are_drawn_where_the_importance_is() -> None:
    importance = torch.zeros(20, 16, 16)
    importance[:, 12, 3] = 1e6
    crops = draw_crops(importance, 8, torch.Generator().manual_seed(0))
    assert all(12 in ys and 3 in xs for ys, xs in zip(crops.ys, crops.xs, strict=True))


def test_cells_with_a_closed_gate_are_copied_to_the_bit() -> None:
    latent, delta = torch.rand(1, 2, 2, 2), torch.full((1, 2, 2, 2), 0.1)
    closed, opened = torch.full((1, 1, 2, 2), -5.0), torch.full((1, 1, 2, 2), 5.0)
    assert torch.equal(advance(latent, delta, closed), latent)
    assert not torch.equal(advance(latent, delta, opened), latent)


def test_a_cosine_and_its_sine_stay_on_the_circle() -> None:
    before = torch.tensor([[9.0, 0.6, 0.8]])
    assert torch.allclose(keep_on_circles(torch.tensor([[9.0, 3.0, 4.0]]), before, [1]), before)
    assert torch.equal(keep_on_circles(before, before, [1]), before)


def test_second_order_holds_the_numbers_and_their_products() -> None:
    assert second_order(torch.tensor([[2.0, 3.0]])).tolist() == [[2, 3, 4, 6, 9]]


def test_coordinates_run_from_edge_to_edge() -> None:
    x, y = coordinates(2, 4)
    assert x.tolist() == [[-0.75, -0.25, 0.25, 0.75]] * 2
    assert y[:, 0].tolist() == [-0.5, 0.5]


def test_the_threshold_of_success_parts_successes_from_failures() -> None:
    score = np.array([0.2, 0.9, 0.94, 0.96, 0.99])
    assert choose_success_threshold(score, score > 0.95) == pytest.approx(0.95)


def test_a_false_success_weighs_more_than_two_missed_ones() -> None:
    score = np.array([0.1, 0.90, 0.91, 0.92, 0.93])
    success = np.array([False, True, True, False, True])
    assert choose_success_threshold(score, success) == pytest.approx(0.925)


def test_without_a_success_in_the_data_no_score_is_one() -> None:
    assert choose_success_threshold(np.array([0.5]), np.array([False])) == 2


def test_psnr_of_a_tenth_of_the_range_is_20_db() -> None:
    real = np.zeros((1, 4, 4, 3), np.uint8)
    assert psnr(real + np.uint8(25.5), real) == pytest.approx(20.17, abs=0.01)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (lambda: WorldConfig(history=1), "history must be at least 2"),
        (lambda: WorldConfig(latent_channels=0), "latent_channels must be at least 1, got 0"),
        (lambda: WorldTrainingConfig(crop=5), "crop must be an even number of at least 4 cells, got 5"),
        (lambda: WorldTrainingConfig(held_out=0.9), r"held_out must be above 0 and at most 0\.5, got 0\.9"),
        (lambda: DynamicsTrainingConfig(num_rollouts=0), "num_rollouts of the dynamics must be at least 1, got 0"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(config: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        config()  # type: ignore[operator]
