"""How fast episodes are recorded, with plain LeRobot beside, and what converting costs.

A part of `benchmarks/storage.py`. Both record the same frames a row at a time with the same codec, quality, preset and
distance of key frames; what each stored is decoded again and compared with what was given to it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from storage_reads import Scene, result_row

from demoloom.storage import Camera, EpisodeSpec, Vector, open_dataset
from demoloom.storage.convert import convert
from demoloom.storage.create import Format, new_dataset
from demoloom.storage.episode import Rows
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.recorder import EpisodeStore
from demoloom.storage.video import VideoCodec
from demoloom.storage.zarr_store import ZarrStore

LENGTH = 200
_POINT = Vector(("x", "y"), (0.0, 0.0), (512.0, 512.0))
#: LeRobot's own distance of key frames; its default codec, AV1, leaves stale blocks in small frames.
_CODEC = VideoCodec("yuv420p", crf=18, frames_per_key=2)


@dataclass(frozen=True)
class Take:
    """One episode to be recorded again and again: camera name -> (T, H, W, 3) uint8 frames."""

    name: str
    frames: Mapping[str, np.ndarray]
    num_episodes: int
    aim: float

    @property
    def spec(self) -> EpisodeSpec:
        """Of such episodes."""
        cameras = tuple(Camera(name, *frames.shape[1:3]) for name, frames in self.frames.items())
        return EpisodeSpec(10, cameras, _POINT, _POINT, {}, "moving-shapes")

    def rows(self, start: int, stop: int) -> Rows:
        """Some of its rows."""
        steps = np.arange(start, stop, dtype=np.float32)
        points, zeros = np.stack([steps, steps], 1), np.zeros(len(steps), np.float32)
        images = {name: frames[start:stop] for name, frames in self.frames.items()}
        return Rows(
            images=images, state=points, action=points, reward=zeros, success=zeros > 1, score=zeros, trust=zeros + 1
        )


def takes(quick: bool) -> list[Take]:
    """PushT's 96 px, and three cameras of 480 x 640 as real robots have."""
    small = {"top": draw((96, 96), LENGTH, 0)}
    length = 40 if quick else LENGTH
    large = {name: draw((480, 640), length, seed) for seed, name in enumerate(("front", "side", "wrist"))}
    return [Take("96 x 96", small, 5 if quick else 20, 5.0), Take("3 x 480 x 640", large, 1 if quick else 2, 1.5)]


def draw(size: tuple[int, int], length: int, seed: int) -> np.ndarray:
    """(T, H, W, 3) uint8: moving shapes, on large frames with a camera's noise."""
    scene, rng = Scene(size, seed), np.random.default_rng(seed)
    frames = np.stack([scene.draw(step) for step in range(length)])
    if size[0] < 200:
        return frames
    for frame in frames:
        frame[:] = np.clip(frame + rng.normal(0, 1.5, frame.shape), 0, 255)
    return frames


def measure_writes(quick: bool) -> list[dict[str, Any]]:
    """Rows for the result of the benchmark."""
    rows = []
    for take in takes(quick):
        rows += write_rows(take, rounds=1 if quick else 3)
    rows += memory_rows(quick)
    return rows + convert_rows(10 if quick else 100)


def write_rows(take: Take, rounds: int) -> list[dict[str, Any]]:
    """Frames of cameras a second, best of some rounds in turn, and how true what was stored is."""
    count = take.num_episodes * len(take.frames) * len(next(iter(take.frames.values())))
    recorders: dict[str, Callable[[Take, Path], None]] = {
        "ours": record_ours,
        "default": lambda take, path: record_lerobot(take, path, streaming=False),
        "streaming": lambda take, path: record_lerobot(take, path, streaming=True),
    }
    best, psnr = dict.fromkeys(recorders, 0.0), {}
    for _ in range(rounds):
        for name, record in recorders.items():
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "d"
                best[name] = max(best[name], count / seconds(lambda record=record, path=path: record(take, path)))
                psnr[name] = decoded_psnr(take, path)
    rows = []
    for name in ("default", "streaming"):
        what = f"{take.name}, LeRobot's {name} mode beside"
        rows.append(result_row(f"record {what}", best["ours"], "frames/s", best[name], take.aim))
        rows.append(result_row(f"decoded PSNR, {what}", psnr["ours"], "dB", psnr[name], None))
    return rows


def record_ours(take: Take, path: Path) -> None:
    """A row at a time, as a robot does."""
    with LeRobotStore.create(path, take.spec, codec=_CODEC) as store:
        for index in range(take.num_episodes):
            with store.record(f"episode-{index:04d}", index=index, seed=index, task="push the block") as recorder:
                for step in range(len(next(iter(take.frames.values())))):
                    recorder.write(take.rows(step, step + 1))
                recorder.commit("success")


def record_lerobot(take: Take, path: Path, streaming: bool) -> None:
    """The same through LeRobot's own writer."""
    from lerobot.configs import RGBEncoderConfig
    from lerobot.datasets import LeRobotDataset

    names = ["height", "width", "channels"]
    features: dict[str, Any] = {
        f"observation.images.{name}": {"dtype": "video", "shape": frames.shape[1:], "names": names}
        for name, frames in take.frames.items()
    }
    features |= {
        key: {"dtype": "float32", "shape": (2,), "names": ["x", "y"]} for key in ("observation.state", "action")
    }
    scalars = ("next.reward", "next.score", "wm.trust")
    features |= {key: {"dtype": "float32", "shape": (1,), "names": None} for key in scalars}
    length = len(next(iter(take.frames.values())))
    dataset = LeRobotDataset.create(
        "local/writes", 10, features, root=path, streaming_encoding=streaming,
        rgb_encoder=RGBEncoderConfig(
            vcodec="h264", crf=_CODEC.crf, preset=_CODEC.preset, g=_CODEC.frames_per_key, pix_fmt=_CODEC.pix_fmt
        ),
        encoder_queue_maxsize=length + 1,  # a shorter queue drops frames
    )  # fmt: skip
    for _ in range(take.num_episodes):
        for step in range(length):
            rows = take.rows(step, step + 1)
            frame = {f"observation.images.{name}": frames[0] for name, frames in rows.images.items()}
            frame |= {"observation.state": rows.state[0], "action": rows.action[0], "task": "push the block"}
            dataset.add_frame(frame | dict(zip(scalars, (rows.reward, rows.score, rows.trust), strict=True)))
        dataset.save_episode()
    dataset.finalize()


def decoded_psnr(take: Take, path: Path) -> float:
    """dB over the first episode of the first camera."""
    import av

    name, frames = next(iter(take.frames.items()))
    file = next(iter(sorted((path / "videos" / f"observation.images.{name}").glob("*/*.mp4"))))
    with av.open(str(file)) as container:
        decoded = (frame.to_ndarray(format="rgb24").astype(float) for frame in container.decode(video=0))
        errors = [((one - other) ** 2).mean() for one, other in zip(decoded, frames, strict=False)]
    return float(10 * np.log10(255**2 / np.mean(errors)))


def memory_rows(quick: bool) -> list[dict[str, Any]]:
    """Peak memory of a process that records and reads one episode, by its length."""
    rows = []
    for format in ("zarr", "lerobot"):
        peaks = {length: peak_mib(format, length) for length in ((100, 1000) if quick else (100, 1000, 10_000))}
        shortest = min(peaks)
        for length, peak in peaks.items():
            name = f"peak memory, one episode of {length} rows, 3 x 64 x 64, {format}"
            rows.append(result_row(name, peak, "MiB", peaks[shortest], None))
    return rows


def peak_mib(format: str, length: int) -> float:
    """Of a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, format, str(Path(folder) / "d"), str(length)]
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def record_and_read(format: str, path: str, length: int) -> None:
    """What is measured, in a process of its own; it prints its peak."""
    take = Take("", {name: draw((64, 64), 100, seed) for seed, name in enumerate(("a", "b", "c"))}, 1, 0)
    store: EpisodeStore = (ZarrStore if format == "zarr" else LeRobotStore).create(path, take.spec)
    with store.record("long", index=0, seed=0, task="") as recorder:
        for _ in range(length // 100):
            recorder.write(take.rows(0, 100))
        recorder.commit("success")
    reader = open_dataset(path)
    for start in range(0, length, 100):
        reader.rows("long", start, start + 100)
    # Not getrusage's: it counts what this process was before it became itself, a copy of the one that started it.
    status = Path("/proc/self/status").read_text().split()
    print(int(status[status.index("VmHWM:") + 1]) / 1024)


def convert_rows(num_episodes: int) -> list[dict[str, Any]]:
    """Episodes a second each way, beside the slower of reading the source and writing the target alone."""
    rows = []
    take = takes(quick=True)[0]
    formats: list[Format] = ["zarr", "lerobot"]
    with tempfile.TemporaryDirectory() as folder:
        paths = {format: Path(folder) / format for format in formats}
        writing = {f: seconds(lambda f=f: fill(take, paths[f], f, num_episodes)) for f in formats}
        reading = {f: seconds(lambda f=f: read_all(paths[f])) for f in formats}
        for source, target in zip(formats, reversed(formats), strict=True):
            copy = Path(folder) / f"{source}-to-{target}"
            taken = seconds(lambda s=source, t=target, c=copy: convert(open_dataset(paths[s]), c, t))
            slower = max(reading[source], writing[target])
            name = f"convert {num_episodes} episodes, {source} to {target}; the slower of reading and writing beside"
            rows.append(result_row(name, num_episodes / taken, "episodes/s", num_episodes / slower, 0.8))
            shutil.rmtree(copy)
    return rows


def fill(take: Take, path: Path, format: Format, num_episodes: int) -> None:
    """A dataset of that many episodes, each handed over in blocks."""
    with new_dataset(path, format, take.spec) as store:
        for index in range(num_episodes):
            with store.record(f"episode-{index:04d}", index=index, seed=index, task="push the block") as recorder:
                for start in range(0, LENGTH, 50):
                    recorder.write(take.rows(start, start + 50))
                recorder.commit("success")


def read_all(path: Path) -> None:
    """Every row of a dataset, in blocks."""
    reader = open_dataset(path)
    for id in reader.ids():
        for start in range(0, LENGTH, 50):
            reader.rows(id, start, start + 50)


def seconds(act: Callable[[], object]) -> float:
    """How long it takes."""
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


if __name__ == "__main__":
    record_and_read(sys.argv[1], sys.argv[2], int(sys.argv[3]))
