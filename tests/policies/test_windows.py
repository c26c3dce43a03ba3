"""Frame, state and action of row t all say t, so that one off by a row shows."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from torch.utils.data import DataLoader

from demoloom.policies.fitting import new_policy
from demoloom.policies.latent import LatentConfig
from demoloom.policies.training import PolicyTrainingConfig
from demoloom.policies.windows import policy_windows, rows_to_start_from
from demoloom.storage import open_dataset
from demoloom.storage.row_table import RowTable, join_episodes, read_table

from .toy import SETTINGS, SIZE, SPEC, walk, write_store


@pytest.fixture(scope="module")
def data() -> RowTable:
    """Two episodes of 10 rows; row t of the second says 100 + t; frames are red."""
    return join_episodes(SPEC, [numbered(0), numbered(100)])


def numbered(first: int, length: int = 10):
    numbers = first + np.arange(length)
    frames = np.zeros((length, SIZE, SIZE, 3), np.uint8)
    frames[..., 0] = numbers[:, None, None]
    both = np.repeat(numbers[:, None], 2, axis=1).astype(np.float32)
    return replace(walk(first, length), images={"top": frames}, state=both, action=both)


def test_a_latent_policy_sees_the_last_frame_and_this_one_and_does_what_was_done_on_seeing_it(data) -> None:
    batch = policy_windows(data, LatentConfig(device="cpu")).batch(np.array([4, 10, 17]))
    seen = (255 * batch["observation.images.top"]).round()
    assert seen[:, :, 0, 0, 0].tolist() == [[3, 4], [100, 100], [106, 107]]
    assert batch["observation.state"][..., 0].tolist() == [[3, 4], [100, 100], [106, 107]]
    assert batch["action"][0, :, 0].tolist() == [4, 5, 6, 7, 8, 9, 9, 9]
    assert batch["action_is_pad"][0].tolist() == [False] * 6 + [True] * 2
    assert batch["action"][:, 0, 0].tolist() == [4, 100, 107]


def test_frozen_eyes_have_seen_the_same_rows(data) -> None:
    seen = np.arange(20.0)[:, None]
    batch = policy_windows(data, LatentConfig(device="cpu"), seen).batch(np.array([4, 10]))
    assert batch["observation.seen"][..., 0].tolist() == [[3, 4], [10, 10]]
    assert "observation.images.top" not in batch


def test_act_sees_this_frame_only_and_does_what_was_done_on_seeing_it(data) -> None:
    batch = policy_windows(data, ACTConfig(device="cpu", chunk_size=3, n_action_steps=3)).batch(np.array([4, 11]))
    assert (255 * batch["observation.images.top"]).round()[:, 0, 0, 0].tolist() == [4, 101]
    assert batch["action"][..., 0].tolist() == [[4, 5, 6], [101, 102, 103]]


def test_the_first_action_of_a_diffusion_window_belongs_to_its_first_observation(data) -> None:
    config = DiffusionConfig(device="cpu", horizon=4, n_action_steps=2, down_dims=(16, 32), drop_n_last_frames=1)
    batch = policy_windows(data, config).batch(np.array([4]))
    assert (255 * batch["observation.images.top"]).round()[0, :, 0, 0, 0].tolist() == [3, 4]
    assert batch["action"][0, :, 0].tolist() == [3, 4, 5, 6]


def test_red_is_the_first_channel_of_what_a_policy_sees(data) -> None:
    images = policy_windows(data, LatentConfig(device="cpu")).batch(np.array([4]))["observation.images.top"]
    assert images.shape == (1, 2, 3, SIZE, SIZE)
    assert images[:, :, 0].min() > 0
    assert images[:, :, 1:].max() == 0


def test_windows_start_only_where_a_policy_wants_them(data) -> None:
    short = DiffusionConfig(device="cpu", horizon=4, n_action_steps=2, down_dims=(16, 32), drop_n_last_frames=7)
    assert rows_to_start_from(data, short, np.array([1, 0])).tolist() == [0, 1, 2, 10, 11, 12]
    assert rows_to_start_from(data, LatentConfig(device="cpu"), np.array([1])).tolist() == list(range(10, 20))


@pytest.mark.parametrize(
    "config", [LatentConfig(device="cpu"), ACTConfig(device="cpu", chunk_size=3, n_action_steps=3)]
)
def test_frames_on_disk_give_the_same_batches(tmp_path, config) -> None:
    reader = open_dataset(write_store(tmp_path / "walks", [walk(0), walk(1)]))
    here, there = (policy_windows(read_table(reader, memory_bytes=limit), config) for limit in (None, 0))
    rows = np.array([3, 0, 23])
    left, right = here.batch(rows), there.batch(rows)
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left if name != "task")


@pytest.mark.parametrize("kind", ["act", "diffusion"])
def test_a_lerobot_policy_learns_from_a_torch_loader_of_windows(tmp_path, kind) -> None:
    data = read_table(open_dataset(write_store(tmp_path / "walks", [walk(0), walk(1)])), memory_bytes=0)
    policy, preprocessor, _ = new_policy(data, PolicyTrainingConfig(kind, settings=SETTINGS[kind]), None)
    (batch, *_) = DataLoader(policy_windows(data, policy.config), batch_size=4, shuffle=True)
    loss, _ = policy.forward(preprocessor(batch))
    assert torch.isfinite(loss)
