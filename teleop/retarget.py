"""Demonstrations carried over to new starts by the pose of the object that they are about.

The idea is that of Mandlekar et al. 2023 (MimicGen: a data generation system for scalable robot learning using human
demonstrations): a demonstration is replayed in the frame of the object, and the attempts that succeed are kept. Here it
is one object that lies in a plane, whose pose a probe reads from the first frame of the recording and of the episode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from ..generators.learned.canvas import lay_out
from ..storage.columns import image_key
from ..storage.errors import ConfigError, StoreError
from ..storage.spec import EpisodeSpec
from .recorded import Recorded, Recordings
from .slotwise import Behaviour, Last, Row, Slotwise, commands_positions

STATE = "observation.state"
#: Reads label name -> (N, L) from frames (N, H, W, 3V), several cameras side by side in the channels.
PoseReader = Callable[[np.ndarray], Mapping[str, np.ndarray]]
#: Where demonstrations end: at the same place whatever moved, or relative to the object, wherever it was.
Ends = Literal["world", "object"]


@dataclass(frozen=True)
class Source:
    """A demonstration, and where the object lay at its start: x, y, cos and sin of its angle, (4,) float64."""

    recorded: Recorded
    pose: np.ndarray


class Retarget(Slotwise):
    """Plays a demonstration from a similar start, moved and turned as the object lies otherwise now.

    For robots whose actions are positions of which two say where in the plane of the object. The robot goes straight to
    where the moved demonstration begins. Where these end at a fixed place (`ends="world"`), the difference between then
    and now fades out in equal steps to the end of the demonstration.

    Args:
        spec: of the world to drive.
        dataset: folder with the demonstrations.
        probe: folder of a trained probe; a test may hand in anything that reads poses from frames.
        label: label of the object's pose, whose dimensions are x, y, cos and sin, in the unit of the actions.
        point: names of the action's dimensions that say x and y.
        ends: see `Ends`.
        among: a demonstration is drawn from so many with the most similar starts.
        pace: share of the actions' range that the robot goes in a second, on its way to where it begins.

    Raises:
        ConfigError: a number is out of its range, the actions are no positions, or the label is no pose.
        CheckpointError: there is no probe in that folder.
        StoreError: there is no dataset, or it has no demonstration.
        SpecMismatch: the dataset is of another robot or rate.
    """

    def __init__(
        self,
        spec: EpisodeSpec,
        dataset: str,
        probe: str | PoseReader,
        label: str,
        point: Sequence[str],
        ends: Ends = "world",
        among: int = 3,
        pace: float = 0.3,
    ) -> None:
        super().__init__(spec)
        _check(spec, point, ends, among, pace)
        self._spec, self._label, self._ends, self._among = spec, label, ends, among
        self._dims = [spec.action.names.index(name) for name in point]
        self._stride = pace / spec.fps * (self.high - self.low)
        self._read, self._canvas = _reader(probe, label, spec)
        self._sources = self._read_sources(Recordings("retarget", dataset, spec), dataset)

    def behave(self, row: Row, rng: np.random.Generator) -> Behaviour:
        """Go to where the chosen demonstration begins, and play it."""
        pose, here = self._poses({name: values[None] for name, values in row.items()})[0], row[STATE].astype(np.float64)
        source = self._similar(pose, here, rng)
        states, actions = (
            carried(path, source.pose, pose, self._dims, self._ends)
            for path in (source.recorded.state, source.recorded.action)
        )
        num_steps = int(np.ceil((np.abs(states[0] - here) / self._stride).max()))
        for step in range(1, num_steps):
            yield here + (states[0] - here) * (step / num_steps)
        for action in actions[:-1]:  # noqa: UP028 - an array cannot be sent what is seen
            yield action
        yield Last(actions[-1])

    def _similar(self, pose: np.ndarray, state: np.ndarray, rng: np.random.Generator) -> Source:
        """One of the sources that start the most like this."""
        span = self.high - self.low
        distances = [
            float(
                np.abs((source.pose[:2] - pose[:2]) / span[self._dims]).sum()
                + abs(_angle(source.pose, pose)) / np.pi
                + np.abs((source.recorded.state[0] - state) / span).mean()
            )
            for source in self._sources
        ]
        nearest = np.argsort(distances, kind="stable")[: self._among]
        return self._sources[int(rng.choice(nearest))]

    def _read_sources(self, recordings: Recordings, dataset: str) -> list[Source]:
        ids = [summary.id for summary in recordings.reader.summaries() if summary.is_demonstration]
        if not ids:
            raise StoreError(f"the dataset at {dataset} has no successful episode to carry over; name another")
        return [Source(recordings.read(id), self._first_pose(recordings, id)) for id in ids]

    def _first_pose(self, recordings: Recordings, id: str) -> np.ndarray:
        first = recordings.reader.rows(id, 0, 1)
        return self._poses({image_key(name): frames for name, frames in first.images.items()})[0]

    def _poses(self, frames: Mapping[str, np.ndarray]) -> np.ndarray:
        """(N, 4) float64: x, y, cos and sin, the latter two of length 1."""
        cameras = [frames[image_key(camera.name)] for camera in self._spec.cameras]
        poses = np.asarray(self._read(lay_out(cameras, *self._canvas))[self._label], np.float64)
        length = np.maximum(np.hypot(poses[:, 2], poses[:, 3]), 1e-6)
        return np.column_stack([poses[:, :2], poses[:, 2:] / length[:, None]])


def carried(
    path: np.ndarray, then: np.ndarray, now: np.ndarray, dims: Sequence[int], ends: Ends = "world"
) -> np.ndarray:
    """A path relative to the object's pose `then` as the same path relative to its pose `now`.

    Args:
        path: (T, D) float64, positions.
        then, now: (4,) x, y, cos and sin.
        dims: which two of the D are x and y in the object's plane; the others stay.
        ends: with "world" the difference fades out in equal steps, and the path ends where it did.
    """
    cos = then[2] * now[2] + then[3] * now[3]
    sin = then[2] * now[3] - then[3] * now[2]
    turn = np.array([[cos, -sin], [sin, cos]])
    points = path[:, dims]
    moved = (points - then[:2]) @ turn.T + now[:2]
    kept = np.linspace(1, 0, len(path))[:, None] if ends == "world" else 1.0
    result = path.copy()
    result[:, dims] = points + kept * (moved - points)
    return result


def _angle(one: np.ndarray, other: np.ndarray) -> float:
    """From one pose to another, in radians, -pi .. pi."""
    return float(np.arctan2(one[2] * other[3] - one[3] * other[2], one[2] * other[2] + one[3] * other[3]))


def _check(spec: EpisodeSpec, point: Sequence[str], ends: str, among: int, pace: float) -> None:
    if len(point) != 2 or not set(point) <= set(spec.action.names):
        raise ConfigError(f"point of retarget names two of the actions {', '.join(spec.action.names)}, got {point}")
    if not commands_positions(spec):
        raise ConfigError(
            "retarget moves positions, and the actions of this world are not of the same kind as its state; use replay"
        )
    if ends not in get_args(Ends):
        raise ConfigError(f"ends of retarget is one of {', '.join(get_args(Ends))}, got {ends!r}")
    if among < 1:
        raise ConfigError(f"among of retarget must be at least 1 demonstration, got {among}")
    if not 0 < pace <= 10:
        raise ConfigError(f"pace of retarget must lie in (0, 10] ranges a second, got {pace}")


def _reader(probe: str | PoseReader, label: str, spec: EpisodeSpec) -> tuple[PoseReader, tuple[int, int]]:
    """What reads poses, and the height and width of the frames that it wants."""
    if not isinstance(probe, str):
        heights, widths = ([getattr(camera, side) for camera in spec.cameras] for side in ("height", "width"))
        return probe, (max(heights), max(widths))
    from ..generators.probe import Probe

    loaded = Probe.from_pretrained(probe)
    if len(loaded.labels.get(label, ())) != 4:
        raise ConfigError(
            f"the probe in {probe} reads {sorted(loaded.labels)}, and no pose {label!r} with x, y, cos and sin; "
            "name one that it reads"
        )
    return loaded, loaded.size[:2]
