"""An episode under way into a LeRobot dataset: its frames are encoded while its rows come."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from .atomic import PendingFolder, refusals_named
from .clips import Clip, ClipWriter
from .columns import columns_of
from .encoding import FrameWriter, ImageWriter, QueuedWriter, frame_writer
from .episode import EpisodeSummary, Rows
from .errors import StoreError
from .lerobot_commit import TakenEpisode
from .spec import Camera, EpisodeSpec
from .video import Codec


class LeRobotTake:
    """A `recorder.Take` in a folder of its own, with one encoder for each camera.

    Args:
        path: the dataset, on whose disk the folder is.
        commit: puts the episode into the dataset; false if the same one is there already.
        clips: camera name -> its frames as video, taken over instead of encoded.
    """

    def __init__(
        self,
        path: Path,
        spec: EpisodeSpec,
        codec: Codec,
        commit: Callable[[TakenEpisode], bool],
        clips: Mapping[str, Clip],
    ) -> None:
        self._path = path
        self._commit = commit
        self._pending = PendingFolder(path)
        self._blocks: list[dict[str, np.ndarray]] = []
        with refusals_named(path):
            self._writers: dict[str, FrameWriter] = {
                camera.name: _writer(self._pending.path / f"frames-{number}", camera, spec.fps, codec, clips)
                for number, camera in enumerate(spec.cameras)
            }
        self._queues = {name: QueuedWriter(writer) for name, writer in self._writers.items()}

    def write(self, rows: Rows) -> None:
        """Hand the frames to the encoders; wait where one has too many already."""
        with refusals_named(self._path):
            for name, queue in self._queues.items():
                queue.write(rows.images[name])
        self._blocks.append({name: values.copy() for name, values in columns_of(rows).items()})

    def publish(self, summary: EpisodeSummary, digest: str) -> bool:
        """Wait for the encoders and put the episode into the dataset."""
        with refusals_named(self._path):
            for queue in self._queues.values():
                queue.close()
        self._check_counts(summary)
        return self._commit(
            TakenEpisode(
                folder=self._pending.path,
                summary=summary,
                digest=digest,
                columns={name: np.concatenate([block[name] for block in self._blocks]) for name in self._blocks[0]},
                frames={name: self._frames(number, name) for number, name in enumerate(self._writers)},
                pixels=np.array([queue.histogram for queue in self._queues.values()], np.int64).reshape(-1, 3, 256),
            )
        )

    def close(self) -> None:
        """Stop the encoders and delete what was not published."""
        for queue in self._queues.values():
            queue.abandon()
        self._pending.close()

    def _frames(self, number: int, name: str) -> Path | ImageWriter:
        writer = self._writers[name]
        return writer if isinstance(writer, ImageWriter) else self._pending.path / f"frames-{number}"

    def _check_counts(self, summary: EpisodeSummary) -> None:
        for name, writer in self._writers.items():
            if writer.num_frames != summary.length:
                raise StoreError(
                    f"episode {summary.id!r} has {summary.length} rows, the encoder of camera {name!r} kept "
                    f"{writer.num_frames} frames; record the episode again"
                )


def _writer(path: Path, camera: Camera, fps: int, codec: Codec, clips: Mapping[str, Clip]) -> FrameWriter:
    clip = clips.get(camera.name)
    return frame_writer(path, camera, fps, codec) if clip is None else ClipWriter(path, clip, fps)
