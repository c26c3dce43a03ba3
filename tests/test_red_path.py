"""Red stays red on the whole way from a world's frame to what models are trained on.

`CountingWorld` shows (8 x count, 0, 0): blue or green anywhere means that channels were swapped.
"""

from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.interaction import read_interaction
from demoloom.generators.learned.model import to_float, to_uint8
from demoloom.generators.rollout import RolloutPlan, rollout
from demoloom.generators.testing.counting import CountingWorld, RandomCounts
from demoloom.policies.demonstrations import load_demonstrations
from demoloom.storage import ZarrStore, open_dataset
from demoloom.storage.convert import convert
from demoloom.storage.plugins import PluginRef


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A LeRobot dataset of two episodes, made by the rollout loop and converted from Zarr."""
    folder = tmp_path_factory.mktemp("red")
    world = CountingWorld(num_envs=2)
    plan = RolloutPlan(
        stage="test",
        world=PluginRef("worlds", "demoloom.generators.testing.counting:CountingWorld"),
        stream=PluginRef("streams", "demoloom.generators.testing.counting:RandomCounts"),
        run_seed=3,
        max_steps=12,
        num_slots=2,
        stop_on_success=False,
        success_score=0.0,  # any count will do: a policy is trained on demonstrations only
    )
    store = ZarrStore.create(folder / "zarr", world.episode_spec)
    for episode in rollout(world, RandomCounts(world.episode_spec), plan, range(2)):
        store.append(episode)
    convert(store, folder / "lerobot", "lerobot")
    return folder / "lerobot"


def is_red(frames: np.ndarray) -> bool:
    """Whether some of the frames (..., 3) are lit and none has any green or blue."""
    return frames[..., 0].max() > 0 and frames[..., 1:].max() == 0


def test_the_frames_of_a_dataset_are_red(dataset: Path) -> None:
    assert all(is_red(episode.images["top"]) for episode in open_dataset(dataset))


def test_what_a_world_model_trains_on_is_red_inside_and_out(dataset: Path) -> None:
    frames = read_interaction(dataset).frames[:]
    inside = to_float(frames)
    assert is_red(frames)
    assert inside.shape[1] == 3
    assert inside[:, 0].max() > 0
    assert inside[:, 1:].max() == 0
    assert np.array_equal(to_uint8(inside), frames)


def test_what_a_policy_trains_on_is_red(dataset: Path) -> None:
    assert is_red(load_demonstrations(dataset)["observation.images.top"][:])
