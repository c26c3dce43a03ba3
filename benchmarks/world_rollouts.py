"""Long rollouts of a learned PushT world and of gym-pusht from the same starts, under the same streams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from torch import Tensor
from world_physics import Physics

from demoloom.generators.learned.checkpoint import Checkpoint
from demoloom.generators.learned.model import WorldModel
from demoloom.generators.learned.world import LearnedWorld, Snapshot
from demoloom.storage.errors import SpecMismatch
from demoloom.storage.spec import EpisodeSpec
from demoloom.teleop.play import Idle, RandomPushes
from demoloom.teleop.pusht.expert import PushTExpert


class Driver(Protocol):
    """An ActionStream that says whether it will look at the next frame."""

    @property
    def looks(self) -> bool: ...

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None: ...

    def act(self, observation: Mapping[str, np.ndarray]) -> np.ndarray: ...


class Random(RandomPushes):
    """Random play over all of the board."""

    looks = False


class Still(Idle):
    """Nothing is done."""

    looks = False

    def __init__(self, spec: EpisodeSpec) -> None:
        super().__init__(spec, park=0.0)


class ExpertInTheLoop:
    """The scripted expert, which acts on the frames alone, disturbed by random play after each of its turns.

    Args:
        spec: PushT's.
        probe: folder of the probe it reads poses with.
        turns: steps of the expert and of random play.
    """

    def __init__(self, spec: EpisodeSpec, probe: str, turns: tuple[int, int] = (300, 100)) -> None:
        self._turns = ((PushTExpert(spec, probe), turns[0]), (RandomPushes(spec), turns[1]))
        self._seeds: list[int] = []
        self._turn, self._left = 1, 0

    @property
    def looks(self) -> bool:
        """Whether it is, or is about to be, the expert's turn."""
        return (self._turn == 0) == (self._left > 0)

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """All slots begin with the expert's turn."""
        self._seeds, self._turn, self._left = list(seeds), 1, 0

    def act(self, observation: Mapping[str, np.ndarray]) -> np.ndarray:
        """See ActionStream.act."""
        if not self._left:
            self._turn = 1 - self._turn
            self._left = self._turns[self._turn][1]
            self._seeds = [seed + 1_000_003 for seed in self._seeds]
            self._turns[self._turn][0].reset(self._seeds, np.ones(len(self._seeds), bool))
        self._left -= 1
        return self._turns[self._turn][0].act(observation)


def make_driver(kind: str, spec: EpisodeSpec, probe: str) -> Driver:
    """`random`, `idle` or `expert`."""
    if kind == "expert":
        return ExpertInTheLoop(spec, probe)
    return Random(spec) if kind == "random" else Still(spec)


@dataclass(frozen=True)
class Starts:
    """Where rollouts start: frames (N, H, W, 3) uint8, agents (N, 2) and blocks (N, 4) as the probe reads them."""

    frames: np.ndarray
    agents: np.ndarray
    poses: np.ndarray


def draw_starts(checkpoint: Checkpoint, num_slots: int, seed: int) -> Starts:
    """Different ones of a world's own starts.

    Raises:
        SpecMismatch: the world is not one of PushT with a label for the block's pose.
    """
    if checkpoint.probe is None or list(checkpoint.model.spec.labels) != ["block_pose"]:
        raise SpecMismatch("physics judges worlds of PushT with the label 'block_pose' alone; give it such a world")
    count = len(checkpoint.start_frames)
    chosen = np.random.default_rng(seed).choice(count, num_slots, replace=num_slots > count)
    frames = checkpoint.start_frames[chosen]
    return Starts(frames, checkpoint.start_states[chosen], checkpoint.probe(frames)["block_pose"])


class Rollout:
    """Many episodes of a learned world; frames are drawn only when they are looked at, as they change nothing."""

    def __init__(self, model: WorldModel, driver: Driver, starts: Starts) -> None:
        self.model, self._driver, self._starts = model, driver, starts
        self.commands: list[np.ndarray] = []
        vector = model.scale_vectors(starts.agents, {"block_pose": starts.poses})
        self._vectors = vector[:, None].expand(-1, model.config.history, -1).clone()
        self._encoded = model.encode(starts.frames)
        driver.reset(list(range(len(vector))), np.ones(len(vector), bool))

    @torch.inference_mode()
    def step(self) -> None:
        """One step of all."""
        seen = {"observation.state": self.agents}
        if self._driver.looks:
            seen["observation.images.top"] = self.frames()
        self.commands.append(np.asarray(self._driver.act(seen), np.float32))
        vector, _ = self.model.predict_vector(self._vectors, self._actions())
        self._vectors = torch.cat([self._vectors[:, 1:], vector[:, None]], 1)

    def put(self, agents: np.ndarray, poses: np.ndarray) -> None:
        """Go on as if the last moments had been these: agents (N, history, 2), blocks (N, history, 4)."""
        moments = [
            self.model.scale_vectors(agents[:, at], {"block_pose": poses[:, at]}) for at in range(agents.shape[1])
        ]
        self._vectors = torch.stack(moments, 1)

    @property
    def agents(self) -> np.ndarray:
        """(N, 2) where the agents are."""
        return self.model.state_of(self._vectors[:, -1]).numpy().copy()

    @property
    def agents_before(self) -> np.ndarray:
        """(N, 2) where they were a step ago."""
        return self.model.state_of(self._vectors[:, -2]).numpy().copy()

    @property
    def poses(self) -> np.ndarray:
        """(N, 4) where the blocks are: x, y, cosine, sine."""
        units = self._vectors[:, -1] * self.model.vector_scale + self.model.vector_centre
        return units[:, 2:6].numpy().copy()

    @torch.inference_mode()
    def frames(self) -> np.ndarray:
        """(N, H, W, 3) uint8 of this moment; the starts as the autoencoder shows them."""
        if not self.commands:
            return self.model.decode(self._encoded)
        return self.model.decode(self.model.draw(self._no_latents(), self._vectors[:, -1], self._actions()))

    def snapshot(self, world: LearnedWorld) -> Snapshot:
        """This moment as `world`, which has been reset, can go on from it."""
        return replace(
            world.snapshot(),
            vectors=self._vectors.clone(),
            actions=self._actions(),
            ages=torch.full((len(self._vectors),), len(self.commands)),
        )

    def _no_latents(self) -> Tensor:
        """A world with labels draws what its vector says, on nothing."""
        return torch.zeros_like(self._encoded)[:, None].expand(-1, self.model.config.num_latents, -1, -1, -1)

    def _actions(self) -> Tensor:
        """(N, history, 2) scaled, the last command last; before the first stand copies of it."""
        history = self.model.config.history
        last = [self.commands[max(0, len(self.commands) - 1 - back)] for back in reversed(range(history))]
        return self.model.scale_actions(torch.from_numpy(np.stack(last, 1)))


class RealRollout:
    """As many episodes of gym-pusht, from the same starts."""

    def __init__(self, driver: Driver, starts: Starts) -> None:
        self._driver = driver
        self.commands: list[np.ndarray] = []
        self._slots = [Physics(starts.frames.shape[1]) for _ in starts.agents]
        for slot, agent, pose in zip(self._slots, starts.agents, starts.poses, strict=True):
            slot.place(agent, pose)
        driver.reset(list(range(len(self._slots))), np.ones(len(self._slots), bool))

    def step(self) -> None:
        """One step of all."""
        seen = {"observation.state": self.agents.astype(np.float32)}
        if self._driver.looks:
            seen["observation.images.top"] = np.stack([slot.draw() for slot in self._slots])
        self.obey(np.asarray(self._driver.act(seen), np.float32))

    def obey(self, commands: np.ndarray) -> None:
        """One step of all under these commands (N, 2)."""
        self.commands.append(commands)
        for slot, command in zip(self._slots, commands, strict=True):
            slot.step(command)

    @property
    def agents(self) -> np.ndarray:
        """(N, 2) where the agents are."""
        return np.stack([slot.agent for slot in self._slots])

    @property
    def poses(self) -> np.ndarray:
        """(N, 4) where the blocks are."""
        return np.stack([slot.pose for slot in self._slots])
