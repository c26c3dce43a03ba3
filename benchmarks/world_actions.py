"""Whether a learned PushT world does what it is told, judged by where its frames show the agent."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from world_physics import see_agents

from demoloom.generators.learned.world import LearnedWorld
from demoloom.generators.realities.pusht import BOARD, PushTReality
from demoloom.generators.world import World
from demoloom.teleop.play import RandomPushes

_IMAGE = "observation.images.top"
#: The agent waits, then is told to go so far, in units, for so many frames.
_WAIT, _JUMP, _GO = 5, 100.0, 12
#: A response has begun once it is this share of the way.
_BEGUN = 0.05
_PLAY = 60


def follow_actions(checkpoint: Path, num_seeds: int) -> dict[str, float]:
    """The same commands from the same starts in a learned world and in gym-pusht, seen in their frames.

    Returns:
        lag, lag_real: frames from a jump of the command to the first frame in which the agent has set out, median.
        off: how far the agent is from the real one in the frames after it, mean in units of 512.
        inverse, inverse_real: median error of actions, in units, read from three frames by a linear regression that
        was fitted on real video (gym-pusht's agent is a linear system): of the world's video and of real video.
    """
    reality, learned = PushTReality(num_seeds), LearnedWorld(str(checkpoint), num_seeds)
    observation, _ = reality.reset(seed=0)
    learned.reset(seed=0, options={"start": observation})
    agents = observation["observation.state"]
    jump = [agents] * _WAIT + [_jumped(agents)] * _GO
    found = _response(_seen(learned, jump), _seen(reality, jump))
    observation, _ = reality.reset(seed=num_seeds)
    learned.reset(seed=0, options={"start": observation})
    stream = RandomPushes(reality.episode_spec)
    stream.reset(list(range(num_seeds)), np.ones(num_seeds, bool))
    play = [stream.act(observation) for _ in range(_PLAY)]
    return found | _inverse(_seen(learned, play), _seen(reality, play), np.stack(play))


def _jumped(agents: np.ndarray) -> np.ndarray:
    """Towards the middle of the board, along the longer way to it."""
    ahead = BOARD / 2 - agents
    longer = np.eye(2)[np.abs(ahead).argmax(1)]
    return (agents + _JUMP * longer * np.where(ahead < 0, -1.0, 1.0)).astype(np.float32)


def _seen(world: World, commands: Sequence[np.ndarray]) -> np.ndarray:
    """(T, N, 2) the agents after each command."""
    return np.stack([see_agents(world.step(command)[0][_IMAGE])[0] for command in commands])


def _response(shown: np.ndarray, real: np.ndarray) -> dict[str, float]:
    lags = []
    for video in (shown, real):
        way = np.linalg.norm(video[_WAIT:] - video[_WAIT - 1], axis=-1)
        lags.append(float(np.median((way > _BEGUN * _JUMP).argmax(0) + 1)))
    off = np.linalg.norm(shown[_WAIT:] - real[_WAIT:], axis=-1)
    return {"lag": lags[0], "lag_real": lags[1], "off": float(off.mean())}


def _inverse(shown: np.ndarray, real: np.ndarray, commands: np.ndarray) -> dict[str, float]:
    """Fitted on the first half of the real videos, tried on the other half and on the world's of the same commands."""
    half = real.shape[1] // 2
    inputs, targets = _transitions(real[:, :half]), _flat(commands[2:, :half])
    weights = np.linalg.lstsq(inputs, targets, rcond=None)[0]
    errors = [
        np.linalg.norm(_transitions(video[:, half:]) @ weights - _flat(commands[2:, half:]), axis=1)
        for video in (shown, real)
    ]
    return {"inverse": float(np.median(errors[0])), "inverse_real": float(np.median(errors[1]))}


def _transitions(places: np.ndarray) -> np.ndarray:
    """(T, N, 2) -> (T - 2) N rows: where the agent was, is, and comes to, and a constant."""
    rows = np.concatenate([places[:-2], places[1:-1], places[2:]], -1)
    return np.concatenate([_flat(rows), np.ones((rows.shape[0] * rows.shape[1], 1))], 1)


def _flat(values: np.ndarray) -> np.ndarray:
    return values.reshape(-1, values.shape[-1])
