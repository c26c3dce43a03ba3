"""How long a learned PushT world stays a PushT world, and stays right; a part of `benchmarks/world.py`.

Physics is the judge: whatever the world says is where is drawn by gym-pusht, and compared with what the world shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from demoloom.generators.learned.checkpoint import Checkpoint, from_pretrained
from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.stream import ActionStream
from demoloom.teleop.play import Idle, RandomPushes

#: Steps between two looks.
_EVERY = 100
#: The board's side in its own units, and how far the agent may be from where its commands put it.
_BOARD, _LAG = 512.0, 10.0
#: Least share of agreement between the pixels that show something, in the world and drawn by physics.
_OVERLAP = 0.75
#: gym-pusht moves its agent by these, ten times a frame, whatever it pushes.
_K_P, _K_V, _DT, _SUBSTEPS = 100.0, 20.0, 0.01, 10


class Judge:
    """gym-pusht, told where everything is."""

    def __init__(self, size: int) -> None:
        self._reality = PushTReality(1, size)
        self._reality.reset(seed=[0])
        self.env = self._reality._envs[0]
        self._background = self.draw(np.array([-100.0, -100.0]), np.array([-200.0, -200.0, 1.0, 0.0])).astype(int)

    def place(self, agent: np.ndarray, pose: np.ndarray, velocity: np.ndarray | None = None) -> None:
        """Put agent and block there; the block does not move by itself."""
        block = self.env.block
        block.angle = float(np.arctan2(pose[3], pose[2]))
        block.position = tuple(map(float, pose[:2]))
        block.velocity, block.angular_velocity = (0.0, 0.0), 0.0
        self.env.agent.position = tuple(map(float, agent))
        self.env.agent.velocity = (0.0, 0.0) if velocity is None else tuple(map(float, velocity))
        self.env.space.reindex_shapes_for_body(block)
        self.env.space.reindex_shapes_for_body(self.env.agent)

    def draw(self, agent: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """The frame (H, W, 3) uint8 of that moment."""
        self.place(agent, pose)
        return np.asarray(self.env.get_obs()["pixels"])

    def roll(self, actions: np.ndarray) -> np.ndarray:
        """Poses of the block (T, 4) after each of the actions (T, 2)."""
        poses = []
        for action in actions:
            self.env.step(action)
            (x, y), angle = self.env.block.position, self.env.block.angle
            poses.append((x, y, np.cos(angle), np.sin(angle)))
        return np.array(poses)

    def overlap(self, shown: np.ndarray, drawn: np.ndarray) -> float:
        """Intersection over union of what differs from the empty board in both frames."""
        seen, true = (np.abs(frame.astype(int) - self._background).max(-1) > 40 for frame in (shown, drawn))
        return float((seen & true).sum() / max(1, (seen | true).sum()))


class Rollout:
    """Many episodes of a learned world; frames are drawn only when they are looked at, as they change nothing."""

    def __init__(self, checkpoint: Checkpoint, stream: ActionStream, num_slots: int, seed: int) -> None:
        self.model, self._stream = checkpoint.model, stream
        chosen = np.random.default_rng(seed).choice(len(checkpoint.start_frames), num_slots, replace=False)
        assert checkpoint.probe is not None
        frames = checkpoint.start_frames[chosen]
        vector = self.model.scale_vectors(checkpoint.start_states[chosen], checkpoint.probe(frames))
        self.vectors = vector[:, None].expand(-1, self.model.config.history, -1).clone()
        self.commands: list[np.ndarray] = []
        stream.reset(list(range(num_slots)), np.ones(num_slots, bool))

    @torch.inference_mode()
    def step(self) -> None:
        """One step of all."""
        self.commands.append(np.asarray(self._stream.act({"observation.state": self.state}), np.float32))
        vector = self.model.predict_vector(self.vectors, self._actions())
        self.vectors = torch.cat([self.vectors[:, 1:], vector[:, None]], 1)

    def _actions(self) -> Tensor:
        history = self.model.config.history
        last = [self.commands[max(0, len(self.commands) - 1 - back)] for back in reversed(range(history))]
        return self.model.scale_actions(torch.from_numpy(np.stack(last, 1)))

    @property
    def state(self) -> np.ndarray:
        """(N, 2) where the agents are."""
        return self.model.state_of(self.vectors[:, -1]).numpy().copy()

    @property
    def poses(self) -> np.ndarray:
        """(N, 4) where the blocks are: x, y, cosine, sine."""
        units = self.vectors[:, -1] * self.model.vector_scale + self.model.vector_centre
        return units[:, 2:6].numpy().copy()

    @torch.inference_mode()
    def frames(self) -> np.ndarray:
        """(N, H, W, 3) uint8 of this moment."""
        camera, channels = self.model.spec.cameras[0], self.model.config.latent_channels
        shape = (len(self.vectors), self.model.config.history, channels, camera.height // 4, camera.width // 4)
        return self.model.decode(self.model.draw(torch.zeros(shape), self.vectors[:, -1], self._actions()))


class Agents:
    """Where commands put the agents, as gym-pusht moves them."""

    def __init__(self, start: np.ndarray) -> None:
        self.position, self.velocity = start.astype(np.float64), np.zeros_like(start, np.float64)

    def step(self, commands: np.ndarray) -> None:
        for _ in range(_SUBSTEPS):
            self.velocity += (_K_P * (commands - self.position) - _K_V * self.velocity) * _DT
            self.position += self.velocity * _DT


def survival(world: Path, kind: str, num_seeds: int, num_steps: int) -> dict[str, Any]:
    """Drive a world for long with random play or idly.

    Returns:
        steps: when it was looked at. alive: the share of episodes in which at every look so far one agent and one T of
        the right shape were shown where the world said they are, on the board, the agent where its commands put it.
        creep: (idle only) 95th percentiles of how far blocks have moved and turned untouched.
    """
    checkpoint = from_pretrained(world)
    spec = checkpoint.model.spec
    stream: ActionStream = RandomPushes(spec) if kind == "random" else Idle(spec, park=0.0)
    judge, rollout = Judge(spec.cameras[0].height), Rollout(checkpoint, stream, num_seeds, seed=1)
    agents, start = Agents(rollout.state), rollout.poses
    alive, curve, steps = np.ones(num_seeds, bool), [], []
    for step in range(1, num_steps + 1):
        rollout.step()
        agents.step(rollout.commands[-1])
        if step % _EVERY == 0 or step == 1:
            alive &= _is_right(rollout, judge, agents)
            curve.append(float(alive.mean()))
            steps.append(step)
    return {"steps": steps, "alive": curve} | ({"creep": _creep(start, rollout.poses)} if kind == "idle" else {})


def _is_right(rollout: Rollout, judge: Judge, agents: Agents) -> np.ndarray:
    state, poses, frames = rollout.state, rollout.poses, rollout.frames()
    overlap = [judge.overlap(*pair) for pair in zip(frames, map(judge.draw, state, poses), strict=True)]
    on_board = ((poses[:, :2] > 0) & (poses[:, :2] < _BOARD)).all(1)
    follows = np.linalg.norm(state - agents.position, axis=1) < _LAG
    return (np.array(overlap) > _OVERLAP) & on_board & follows


def _creep(start: np.ndarray, end: np.ndarray) -> dict[str, float]:
    moved = np.linalg.norm((end - start)[:, :2], axis=1)
    return {
        "units of 512": float(np.quantile(moved, 0.95)),
        "degrees": float(np.quantile(angle_between(start, end), 0.95)),
    }


def angle_between(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Degrees between the directions of poses (N, 4)."""
    turned = np.arctan2(one[:, 3], one[:, 2]) - np.arctan2(other[:, 3], other[:, 2])
    return np.degrees(np.abs((turned + np.pi) % (2 * np.pi) - np.pi))


def fidelity(world: Path, num_seeds: int, moments: tuple[int, ...], num_steps: int = 32) -> list[Mapping[str, float]]:
    """How right a world still is late in an episode: physics is put where the world is, and both go on alike.

    Returns:
        for each of the moments the median error of the blocks that physics moved within `num_steps`, in units and
        degrees, and how far they moved.
    """
    checkpoint = from_pretrained(world)
    spec = checkpoint.model.spec
    judge, rollout = Judge(spec.cameras[0].height), Rollout(checkpoint, RandomPushes(spec), num_seeds, seed=2)
    found = []
    while len(rollout.commands) < max(moments) + num_steps:
        if len(rollout.commands) in moments:
            found.append(_fidelity_from_here(rollout, judge, num_steps))
        else:
            rollout.step()
    return found


def _fidelity_from_here(rollout: Rollout, judge: Judge, num_steps: int) -> Mapping[str, float]:
    at, agents, start = len(rollout.commands), rollout.state, rollout.poses
    before = rollout.model.state_of(rollout.vectors[:, -2]).numpy()
    for _ in range(num_steps):
        rollout.step()
    commands, ends = np.stack(rollout.commands[at:], 1), []
    for slot in range(len(agents)):
        # Of a critically damped motion the speed now follows from where the agent was a frame ago and is now.
        velocity = _velocity(before[slot], agents[slot], rollout.commands[at - 1][slot])
        judge.place(agents[slot], start[slot], velocity)
        ends.append(judge.roll(commands[slot])[-1])
    true = np.array(ends)
    moved = np.linalg.norm((true - start)[:, :2], axis=1)
    error = np.linalg.norm((true - rollout.poses)[:, :2], axis=1)
    touched = moved > 1
    return {
        "step": at,
        "units": float(np.median(error[touched])),
        "units_if_still": float(np.median(moved[touched])),
        "degrees": float(np.median(angle_between(true, rollout.poses)[touched])),
    }


def _velocity(before: np.ndarray, now: np.ndarray, command: np.ndarray) -> np.ndarray:
    """The speed at the end of a frame, from both of its ends: linear in the speed at its beginning."""
    ends = []
    for speed in (0.0, 1.0):
        agents = Agents(before)
        agents.velocity += speed
        agents.step(command)
        ends.append((agents.position, agents.velocity))
    (rest, rest_speed), (moved, moved_speed) = ends
    initial = (now - rest) / (moved - rest)
    return rest_speed + initial * (moved_speed - rest_speed)
