"""A world of any LeRobot dataset: cameras, sizes, dimensions and tasks as they come."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.generators.learned.config import WorldConfig
from demoloom.generators.learned.presets import presets
from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.training_config import (
    DynamicsTrainingConfig,
    VectorTrainingConfig,
    WorldTrainingConfig,
)
from demoloom.generators.learned.world import LearnedWorld
from demoloom.generators.probe_config import ProbeTrainingConfig
from demoloom.generators.testing.contracts import WorldContract
from demoloom.storage.episode import Episode
from demoloom.storage.errors import SpecMismatch
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.storage.zarr_store import ZarrStore

_SMOKE = presets["smoke"]
#: The preset `smoke` with a tenth of its steps, as a dozen trainings are to take seconds.
QUICK = replace(
    _SMOKE,
    dynamics=DynamicsTrainingConfig(num_steps=12, batch_size=8, num_rollouts=2, rollout_length=4),
    probe=ProbeTrainingConfig(num_steps=4, batch_size=8, width=8, num_blocks=1),
    autoencoder_steps=12,
    autoencoder_batch=8,
    vectors=VectorTrainingConfig(num_steps=12, batch_size=32, plausibility_steps=6),
    decoder_steps=2,
    head_steps=4,
    inverse_steps=4,
    head_batch=4,
)


@dataclass(frozen=True)
class Case:
    """A dataset, and what its world is made of beside the preset.

    Args:
        sizes: height and width of each camera.
        dimensions: of state and action.
        tasks: texts, of the episodes in turn.
        labelled: whether there is a label.
    """

    sizes: tuple[tuple[int, int], ...] = ((64, 64),)
    dimensions: tuple[int, int] = (2, 2)
    tasks: tuple[str, ...] = ("Shine.",)
    labelled: bool = False
    model: WorldConfig = _SMOKE.model

    @property
    def spec(self) -> EpisodeSpec:
        return EpisodeSpec(
            fps=10,
            cameras=tuple(Camera(f"view{i}", *size) for i, size in enumerate(self.sizes)),
            state=_vector(self.dimensions[0]),
            action=_vector(self.dimensions[1]),
            labels={"glow": _vector(1)} if self.labelled else {},
            robot_type="lamp",
        )

    @property
    def training(self) -> WorldTrainingConfig:
        return replace(QUICK, model=self.model)


def _vector(size: int) -> Vector:
    return Vector(tuple(f"joint{i}" for i in range(size)), (0.0,) * size, (1.0,) * size)


CASES = {
    "two cameras of one size": Case(sizes=((64, 64), (64, 64))),
    "three cameras of different sizes, none a multiple of 8": Case(sizes=((60, 84), (50, 50), (64, 30))),
    "14 joints, and labels on frames of odd sizes": Case(sizes=((60, 84),), dimensions=(14, 14), labelled=True),
    "one joint, odd numbers": Case(dimensions=(1, 3)),
    "one action": Case(dimensions=(3, 1), labelled=True),
    "two tasks": Case(tasks=("Shine.", "Rest.")),
    "two tasks with labels": Case(tasks=("Shine.", "Rest."), labelled=True),
    "128 px in cells of 8": Case(sizes=((128, 96),), model=replace(_SMOKE.model, downscale=8)),
    "256 px in cells of 16": Case(sizes=((200, 256),), model=replace(_SMOKE.model, downscale=16)),
    "an anchor and no gate": Case(model=replace(_SMOKE.model, anchor=True, gate=False, history=3)),
    "samples in two steps": Case(model=replace(_SMOKE.model, prediction="consistency", sampling_steps=2)),
    "frames out of noise, of two cameras": Case(
        sizes=((64, 64), (50, 40)), model=replace(_SMOKE.model, decoder="consistency", decoding_steps=2)
    ),
    "frames out of noise with labels, actions read back": Case(
        labelled=True, model=replace(_SMOKE.model, decoder="consistency", inverse_dynamics="always")
    ),
    "samples with labels": Case(labelled=True, model=replace(_SMOKE.model, prediction="consistency")),
}


def lamp_episodes(case: Case, count: int = 4, length: int = 10) -> Iterator[Episode]:
    """Each camera sees a lamp whose brightness is the mean of the last action; the state is the last action too."""
    for index in range(count):
        rng = np.random.default_rng(index)
        state_size, action_size = case.dimensions
        actions = rng.uniform(0, 1, (length, action_size)).astype(np.float32)
        glow = np.concatenate([[0.5], actions.mean(1)]).astype(np.float32)
        yield Episode(
            id=f"lamp-{index:03d}",
            index=index,
            seed=index,
            task=case.tasks[index % len(case.tasks)],
            images={f"view{i}": _shine(glow[:-1], *size) for i, size in enumerate(case.sizes)},
            state=glow[:-1, None].repeat(state_size, 1),
            action=actions,
            reward=glow[1:],
            success=glow[1:] > 0.9,
            score=glow[1:],
            trust=np.ones(length, np.float32),
            labels={"glow": glow[:-1, None]} if case.labelled else {},
            outcome="failure",
            reason="nothing was asked for",
        )


def _shine(glow: np.ndarray, height: int, width: int) -> np.ndarray:
    frames = np.zeros((len(glow), height, width, 3), np.uint8)
    lamp = (255 * glow).astype(np.uint8)[:, None, None, None]
    frames[:, height // 4 : height // 2, width // 4 : width // 2] = lamp
    return frames


def write_lamps(path: Path, case: Case) -> Path:
    store = ZarrStore.create(path, case.spec)
    for episode in lamp_episodes(case):
        store.append(episode)
    return path


@pytest.fixture(scope="module")
def world_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The checkpoint of a case, trained when it is first asked for."""

    @functools.cache
    def train(name: str) -> Path:
        folder, case = tmp_path_factory.mktemp("lamps"), CASES[name]
        train_world(write_lamps(folder / "interaction", case), folder / "world", case.training)
        return folder / "world"

    return train


@pytest.mark.parametrize("name", CASES)
def test_a_world_shows_what_its_robot_would_see_and_goes_on_from_there(
    name: str, world_of: Callable[[str], Path]
) -> None:
    (episode, *_) = lamp_episodes(CASES[name])
    start = {f"observation.images.{camera}": frames[:1] for camera, frames in episode.images.items()}
    start["observation.state"] = episode.state[:1]
    world = LearnedWorld(str(world_of(name)), 1)
    shown, _ = world.reset(seed=0, options={"start": start})
    assert {key: value.shape for key, value in shown.items()} == {key: value.shape for key, value in start.items()}
    after, *_, info = world.step(np.ones((1, world.episode_spec.action.size), np.float32))
    assert world.observation_space.contains(after)
    assert 0 <= info["score"][0] <= 1
    assert 0 <= info["trust"][0] <= 1


class _KeepsTheContract(WorldContract):
    case: str

    @pytest.fixture(autouse=True)
    def _given(self, world_of: Callable[[str], Path]) -> None:
        self.path = world_of(self.case)

    def make(self, num_envs: int) -> LearnedWorld:
        return LearnedWorld(str(self.path), num_envs)


class TestAWorldOfThreeCamerasKeepsTheContract(_KeepsTheContract):
    case = "three cameras of different sizes, none a multiple of 8"


class TestAWorldOfSamplesKeepsTheContract(_KeepsTheContract):
    case = "samples in two steps"


class TestAWorldOfFramesOutOfNoiseKeepsTheContract(_KeepsTheContract):
    case = "frames out of noise, of two cameras"


class TestAWorldOfTwoTasksKeepsTheContract(_KeepsTheContract):
    case = "two tasks"


def test_a_world_of_several_tasks_is_of_the_first_unless_told(world_of: Callable[[str], Path]) -> None:
    path = str(world_of("two tasks"))
    assert LearnedWorld(path, 1).task == "Shine."
    assert LearnedWorld(path, 1, task="Rest.").task == "Rest."


def test_it_starts_from_starts_of_its_task(world_of: Callable[[str], Path]) -> None:
    checkpoint = from_pretrained(world_of("two tasks"))
    world = LearnedWorld(str(world_of("two tasks")), 8, task="Rest.")
    own = checkpoint.start_states[checkpoint.start_tasks == 1]
    drawn = world.reset(seed=0)[0]["observation.state"]
    assert len(own) < len(checkpoint.start_states)
    assert all(np.isclose(own, state).all(1).any() for state in drawn)


def test_an_unknown_task_is_refused_with_those_there_are(world_of: Callable[[str], Path]) -> None:
    with pytest.raises(SpecMismatch, match=r"not trained on the task 'Dance\.'; choose one of 'Shine\.', 'Rest\.'"):
        LearnedWorld(str(world_of("two tasks")), 1, task="Dance.")


def test_samples_differ_by_seed_where_all_else_is_equal(world_of: Callable[[str], Path]) -> None:
    world = LearnedWorld(str(world_of("samples in two steps")), 2)
    start = {key: np.concatenate([one[:1], one[:1]]) for key, one in world.reset(seed=0)[0].items()}
    world.reset(seed=[1, 2], options={"start": start})
    after = world.step(np.ones((2, 2), np.float32))[0]["observation.images.view0"]
    assert not np.array_equal(after[0], after[1])
