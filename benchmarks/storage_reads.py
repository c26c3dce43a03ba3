"""How fast training reads a dataset, with plain LeRobot beside; a part of `benchmarks/storage.py`.

LeRobot reads the very files that our loader reads, or for a Zarr store those with the same episodes, through PyAV.
Both are asked by torch's DataLoader in this process for the same windows in the same random order, images as uint8 as
`lerobot-train` wants them; frames stay on disk (in the system's cache of it) and no decoded one is kept, except in the
rows that say so: in memory is where our loader has frames by default, if they fit.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from demoloom.storage import Camera, EpisodeReader, EpisodeSpec, Vector, open_dataset
from demoloom.storage.create import new_dataset
from demoloom.storage.episode import Rows
from demoloom.storage.recorder import EpisodeStore
from demoloom.storage.video import VideoCodec

READS_AIM, SEQUENTIAL_AIM = 3.0, 0.9
#: The batch of `lerobot-train`.
_BATCH = 8
_TURNS = 3
#: LeRobot's own codec and distance of key frames for such cameras, which suits its reader best.
_CODEC = VideoCodec("yuv420p", crf=18, frames_per_key=2)
_T = np.array([[-1.5, -0.5], [1.5, -0.5], [1.5, 0.3], [0.4, 0.3], [0.4, 2], [-0.4, 2], [-0.4, 0.3], [-1.5, 0.3]])
_POINT = Vector(("x", "y"), (0.0, 0.0), (512.0, 512.0))


@dataclass(frozen=True)
class Recording:
    """What is recorded to be read again.

    Args:
        name: as the rows of the result call it.
        cameras: name -> height and width.
        num_episodes, length: how many, and rows of each.
        codec: of the LeRobot dataset.
    """

    name: str
    cameras: Mapping[str, tuple[int, int]]
    num_episodes: int
    length: int
    codec: VideoCodec

    @property
    def spec(self) -> EpisodeSpec:
        """Of its episodes."""
        cameras = tuple(Camera(name, *size) for name, size in self.cameras.items())
        return EpisodeSpec(10, cameras, _POINT, _POINT, {}, "moving-shapes")


def recordings(quick: bool) -> list[Recording]:
    """PushT's 96 px, and three cameras of 480 x 640 as real robots have."""
    large = dict.fromkeys(("front", "side", "wrist"), (480, 640))
    return [
        Recording("96 x 96", {"top": (96, 96)}, 10 if quick else 60, 200, _CODEC),
        Recording("3 x 480 x 640", large, 2 if quick else 6, 60 if quick else 200, _CODEC),
    ]


def measure_reads(quick: bool) -> list[dict[str, Any]]:
    """Rows for the result of the benchmark; the value of a row is ours, its rival LeRobot's or PyAV's."""
    import torch

    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("HF_HOME", str(Path(folder) / "cache"))
        for recording in recordings(quick):
            paths = {name: Path(folder) / recording.name / name for name in ("lerobot", "zarr")}
            for name, path in paths.items():
                write(recording, path, name)
            rows += window_rows(recording, paths, seconds=1.5 if quick else 9.0)
            rows.append(sequential_row(recording, paths["lerobot"]))
    return rows


def write(recording: Recording, path: Path, format: Any) -> None:
    """Record episodes of moving shapes, a block at a time."""
    codec = recording.codec if format == "lerobot" else None
    with new_dataset(path, format, recording.spec, codec=codec) as store:
        for index in range(recording.num_episodes):
            _write_episode(recording, store, index)


def _write_episode(recording: Recording, store: EpisodeStore, index: int) -> None:
    scenes = {name: Scene(size, seed=17 * index + n) for n, (name, size) in enumerate(recording.cameras.items())}
    with store.record(f"episode-{index:04d}", index=index, seed=index, task="push the block") as recorder:
        for start in range(0, recording.length, 20):
            steps = np.arange(start, min(start + 20, recording.length))
            zeros = np.zeros(len(steps), np.float32)
            points = np.stack([steps, steps], 1).astype(np.float32)
            recorder.write(
                Rows(
                    images={name: np.stack([scene.draw(step) for step in steps]) for name, scene in scenes.items()},
                    state=points, action=points, reward=zeros, success=zeros > 1, score=zeros, trust=zeros + 1,
                )
            )  # fmt: skip
        recorder.commit("success")


class Scene:
    """A textured table on which a T and a round tool move, smoothly and with soft edges."""

    def __init__(self, size: tuple[int, int], seed: int) -> None:
        import cv2

        rng = np.random.default_rng(seed)
        height, width = size
        coarse = rng.normal(0, 1, (height // 8 + 1, width // 8 + 1, 3)).astype(np.float32)
        self._table = np.clip(190 + 12 * cv2.resize(coarse, (width, height)), 0, 255).astype(np.uint8)
        self._phase, self._speed = rng.uniform(0, 2 * np.pi, 4), rng.uniform(0.02, 0.08, 4)

    def draw(self, step: int) -> np.ndarray:
        """The frame of a step, (H, W, 3) uint8 RGB."""
        import cv2

        frame = self._table.copy()
        height, width = frame.shape[:2]
        side = height / 8
        x, y, turn, along = self._phase + self._speed * step
        middle = np.array([width, height]) * (0.5 + 0.3 * np.sin([x, y]))
        rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        corners = np.round(16 * (middle + side * _T @ rotation.T)).astype(np.int32)
        cv2.fillPoly(frame, [corners], (119, 136, 153), cv2.LINE_AA, shift=4)
        tool = middle + 2.5 * side * np.array([np.cos(along), np.sin(along)])
        cv2.circle(frame, np.round(16 * tool).astype(int).tolist(), round(8 * side), (65, 105, 225), -1, cv2.LINE_AA, 4)
        return frame


def window_rows(recording: Recording, paths: Mapping[str, Path], seconds: float) -> list[dict[str, Any]]:
    """Windows a second of both stores, for policies that see one frame and for those that see two."""
    rows = []
    for num_frames in (1, 2):
        deltas = {f"observation.images.{name}": range(1 - num_frames, 1) for name in recording.cameras}
        deltas |= {"observation.state": range(1 - num_frames, 1), "action": range(16)}
        order = np.random.default_rng(0).permutation(recording.num_episodes * recording.length).tolist()
        loaders = {format: _our_loader(path, deltas, order, memory_bytes=0) for format, path in paths.items()}
        loaders["frames in memory"] = _our_loader(paths["zarr"], deltas, order, memory_bytes=None)
        found = rates({**loaders, "plain": _plain_loader(paths["lerobot"], deltas, order)}, seconds)
        for kind in loaders:
            name = f"random windows, {num_frames} x {recording.name} and 16 actions, {kind}"
            rows.append(result_row(name, found[kind], "windows/s", found["plain"], READS_AIM))
    return rows


def _our_loader(
    path: Path, deltas: Mapping[str, Sequence[int]], order: list[int], memory_bytes: int | None
) -> Iterable[Any]:
    from torch.utils.data import BatchSampler, DataLoader

    from demoloom.storage.row_table import read_table
    from demoloom.storage.windows import WindowDataset

    windows = WindowDataset(read_table(open_dataset(path), memory_bytes=memory_bytes), deltas, as_float=False)
    return DataLoader(windows, batch_size=None, sampler=BatchSampler(order, _BATCH, drop_last=True))


def _plain_loader(path: Path, deltas: Mapping[str, Sequence[int]], order: list[int]) -> Iterable[Any]:
    from lerobot.datasets import LeRobotDataset
    from torch.utils.data import DataLoader

    stamps = {name: [delta / 10 for delta in of] for name, of in deltas.items()}
    plain = LeRobotDataset("local/reads", root=path, delta_timestamps=stamps, video_backend="pyav", return_uint8=True)
    return DataLoader(plain, batch_size=_BATCH, sampler=order, drop_last=True)


def rates(loaders: Mapping[str, Iterable[Any]], seconds: float) -> dict[str, float]:
    """Windows a second of each loader: the best of a few turns, so that all meet the machine in the same moods."""
    batches = {name: iter(loader) for name, loader in loaders.items()}
    for of in batches.values():
        next(of)
    best = dict.fromkeys(loaders, 0.0)
    for name in [*loaders] * _TURNS:
        best[name] = max(best[name], _rate(batches[name], seconds / _TURNS))
    return best


def _rate(batches: Iterator[Any], seconds: float) -> float:
    began, count = time.perf_counter(), 0
    for _ in batches:
        count += _BATCH
        if time.perf_counter() - began > seconds:
            break
    return count / (time.perf_counter() - began)


def sequential_row(recording: Recording, path: Path) -> dict[str, Any]:
    """Frames a second of whole episodes in order, with a bare loop of PyAV over the same files beside."""
    reader = open_dataset(path)
    count = len(recording.cameras) * recording.num_episodes * recording.length
    turns = [(_seconds(lambda: _read_all(reader)), _seconds(lambda: _decode_all(path))) for _ in range(_TURNS)]
    ours, bare = (min(seconds) for seconds in zip(*turns, strict=True))
    name = f"whole episodes in order, {recording.name}, lerobot"
    return result_row(name, count / ours, "frames/s", count / bare, SEQUENTIAL_AIM)


def _seconds(read: Callable[[], object]) -> float:
    began = time.perf_counter()
    read()
    return time.perf_counter() - began


def _read_all(reader: EpisodeReader) -> None:
    for _ in _blocks(reader):
        pass


def _blocks(reader: EpisodeReader) -> Iterator[Rows]:
    from demoloom.storage.drafts import read_blocks

    for summary in reader.summaries():
        yield from read_blocks(reader, summary.id, 0, summary.length)


def _decode_all(path: Path) -> None:
    import av

    for file in sorted(path.glob("videos/*/*/*.mp4")):
        with av.open(str(file)) as container:
            for frame in container.decode(video=0):
                frame.to_ndarray(format="rgb24")


def result_row(name: str, value: float, unit: str, rival: float, aim: float | None) -> dict[str, Any]:
    """An aim is one for the ratio."""
    ratio = value / rival
    return {
        "name": name,
        "value": round(value, 1),
        "unit": unit,
        "rival": round(rival, 1),
        "ratio": round(ratio, 2),
        "aim": aim,
        "met": None if aim is None else ratio >= aim,
    }
