"""The scripted expert for PushT: it sees through a probe, plans by simulation and acts on what it sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...generators.stream import Observation
from ...storage.errors import ConfigError
from ...storage.spec import EpisodeSpec
from .belief import Belief
from .geometry import AGENT_RADIUS, WORKSPACE, nearest_on_tee, placement_of, to_frame, to_world
from .planner import Moves, plan
from .sight import read_pose
from .travel import CLEARANCE

#: Reads {"block_pose": (N, 4)} from frames (N, H, W, 3) uint8.
PoseReader = Callable[[np.ndarray], dict[str, np.ndarray]]
#: The probe's name that stands for reading by colour, which needs no training and works in reality only.
COLOURS = "colours"

IMAGE, STATE, LABEL = "observation.images.top", "observation.state", "block_pose"
#: How far ahead of the agent the commanded point lies. gym-pusht's controller lags 0.2 s behind it, so that a lead of
#: L is a speed of L / 2 units a step.
WALK_LEAD = 36.0
PUSH_LEAD = 22.0
#: The least lead of a push that is to move at all, so that one which fell short does not creep.
MIN_NUDGE = 1.5
#: The last leg of a walk aims so far beyond its end, to arrive at the pace of a push.
ARRIVAL_LEAD = 8.0
#: Share of the noise kept from one step to the next: pushes go astray for half a second, they do not shake.
NOISE_MEMORY = 0.8


class PushTExpert:
    """Pushes the T onto the goal, seeing the observation alone.

    What it does is a function of the agent's position and of the T's pose as read from the frames, in which readings
    of the same T are averaged; no plan is remembered.

    Args:
        spec: of the world to drive: a camera `top`, and the agent's x and y as state and as action.
        probe: folder of a trained probe, or "colours"; a test may hand in anything that reads poses from frames.
        action_noise: standard deviation of the noise on the actions, in units; seeded by slot.

    Raises:
        ConfigError: the spec is not PushT's or the noise is negative.
        CheckpointError: there is no probe in that folder.
    """

    def __init__(self, spec: EpisodeSpec, probe: str | PoseReader, action_noise: float = 0.0) -> None:
        check_spec(spec, "pusht-expert")
        if not 0.0 <= action_noise < WORKSPACE:
            raise ConfigError(f"action_noise of pusht-expert must lie in [0, {WORKSPACE:g}), got {action_noise}")
        self._read = _pose_reader(probe) if isinstance(probe, str) else probe
        self._noise = action_noise
        self._belief = Belief(0)
        self._rngs: list[np.random.Generator] = []
        self._drift: np.ndarray = np.zeros((0, 2))

    def reset(self, seeds: Sequence[int], mask: np.ndarray) -> None:
        """See ActionStream.reset."""
        if len(self._rngs) != len(mask):
            self._rngs = [np.random.default_rng(seed) for seed in seeds]
            self._drift = np.zeros((len(mask), 2))
            self._belief = Belief(len(mask))
        for slot in np.flatnonzero(mask):
            self._rngs[slot] = np.random.default_rng(seeds[slot])
            self._drift[slot] = 0.0
            self._belief.forget(slot)

    def act(self, observation: Observation) -> np.ndarray:
        """See ActionStream.act."""
        agent = observation[STATE][:, :2].astype(np.float64)
        reading = placement_of(self._read(observation[IMAGE])[LABEL].astype(np.float64))
        placement = self._belief.look(reading, agent)
        action = commands(plan(placement, agent), agent, placement) + self._drifted()
        return np.clip(action, 0.0, WORKSPACE).astype(np.float32)

    def finished(self) -> np.ndarray:
        """Never: it cannot know that the world counts the T as placed, and keeps still instead."""
        return np.zeros(len(self._rngs), bool)

    def _drifted(self) -> np.ndarray:
        if self._noise:
            fresh = np.stack([rng.normal(size=2) for rng in self._rngs]) * self._noise
            self._drift = NOISE_MEMORY * self._drift + np.sqrt(1 - NOISE_MEMORY**2) * fresh
        return self._drift


def commands(moves: Moves, agent: np.ndarray, placement: np.ndarray) -> np.ndarray:
    """The points (N, 2) to command now so that the agent (N, 2) makes these moves at its pace."""
    ahead = moves.target - agent
    distance = np.sqrt((ahead**2).sum(axis=-1, keepdims=True))
    walk_lead = np.where(moves.is_corner[:, None], WALK_LEAD, np.minimum(distance + ARRIVAL_LEAD, WALK_LEAD))
    lead = np.where(moves.is_push[:, None], np.clip(distance, MIN_NUDGE * (distance > 0), PUSH_LEAD), walk_lead)
    heading = ahead / np.maximum(distance, 1e-6)
    aside = np.where(moves.is_push[:, None], 0.0, _room_wanted(agent, placement))
    return agent + heading * lead + aside


def _room_wanted(agent: np.ndarray, placement: np.ndarray) -> np.ndarray:
    """What takes a walking agent out of the clearance round the T (N, 2)."""
    local = to_frame(agent, placement)
    outward = local - nearest_on_tee(local)
    distance = np.sqrt((outward**2).sum(axis=-1, keepdims=True))
    missing = np.clip(AGENT_RADIUS + CLEARANCE - distance, 0.0, CLEARANCE)
    return to_world(local + outward / np.maximum(distance, 1e-6) * missing, placement) - agent


def check_spec(spec: EpisodeSpec, stream: str) -> None:
    """Raise ConfigError unless `stream` can drive the robot described by `spec`."""
    cameras = [camera.name for camera in spec.cameras]
    if "top" not in cameras:
        raise ConfigError(f"{stream} looks through a camera named 'top', and this world has {cameras}; give it PushT")
    if spec.state.size < 2 or spec.action.size != 2:
        raise ConfigError(
            f"{stream} needs x and y of the agent as state and as action, and this world has "
            f"{list(spec.state.names)} and {list(spec.action.names)}; give it PushT"
        )


def _pose_reader(probe: str) -> PoseReader:
    if probe == COLOURS:
        return read_pose
    from ...generators.probe import Probe

    reader = Probe.from_pretrained(probe)
    if LABEL not in reader.labels:
        raise ConfigError(f"the probe in {probe} reads {sorted(reader.labels)} and not {LABEL!r}; train one on PushT")
    return reader
