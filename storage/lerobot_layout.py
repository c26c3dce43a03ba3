"""Where a LeRobot v3.0 dataset keeps what, and demoloom's sidecar in it.

meta/demoloom/spec.json          the EpisodeSpec with its bounds, which LeRobot does not store
meta/demoloom/codec.json         how frames are encoded
meta/demoloom/episodes.jsonl     the EpisodeSummary and the digest of each episode, in LeRobot's order
meta/demoloom/pixels-<rows>.npy  how often each level occurs in each channel of each camera, (cameras, 3, 256)
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from .atomic import read_json
from .columns import TRUTHS, image_key, names_of
from .errors import StoreError
from .spec import Camera, EpisodeSpec
from .video import Codec, ImageCodec, VideoCodec, video_info

VERSION = "v3.0"
INFO = "meta/info.json"
STATS = "meta/stats.json"
TASKS = "meta/tasks.parquet"
EPISODES = "meta/episodes/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
DATA = "data/chunk-{chunk_index:03d}/file-{file_index:03d}.parquet"
VIDEO = "videos/{video_key}/chunk-{chunk_index:03d}/file-{file_index:03d}.mp4"
SIDECAR_SPEC = "meta/demoloom/spec.json"
SIDECAR_CODEC = "meta/demoloom/codec.json"
SIDECAR_EPISODES = "meta/demoloom/episodes.jsonl"
SIDECAR_PIXELS = "meta/demoloom/pixels-{num_rows}.npy"

FILES_PER_CHUNK = 1000
DATA_FILE_MB = 100
VIDEO_FILE_MB = 200

#: Columns which LeRobot adds to those of the user.
BOOKKEEPING = {
    "timestamp": "float32",
    "frame_index": "int64",
    "episode_index": "int64",
    "index": "int64",
    "task_index": "int64",
}


def place(number: int) -> dict[str, int]:
    """Chunk and file of the file with this number."""
    chunk, file = divmod(number, FILES_PER_CHUNK)
    return {"chunk_index": chunk, "file_index": file}


def foreign_id(path: Path, number: int) -> str:
    """The id of an episode that has none: the name of its dataset's folder, as far as an id may hold it, and a number.

    So that a dataset in a folder such as `my data` can be converted, the rest becomes `-`.
    """
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", path.resolve().name)[:180].strip("-").lstrip(".-")
    return f"{name}-{number:06d}" if name else f"{number:06d}"


def features(spec: EpisodeSpec, codec: Codec) -> dict[str, dict[str, Any]]:
    """LeRobot's description of every column."""
    cameras = {image_key(camera.name): _camera_feature(camera, spec.fps, codec) for camera in spec.cameras}
    columns = {
        name: {
            "dtype": "bool" if name in TRUTHS else "float32",
            "shape": [len(dimensions)],
            "names": None if dimensions == (name,) else list(dimensions),
        }
        for name, dimensions in names_of(spec).items()
    }
    bookkeeping = {name: {"dtype": dtype, "shape": [1], "names": None} for name, dtype in BOOKKEEPING.items()}
    return {**cameras, **columns, **bookkeeping}


def info(spec: EpisodeSpec, codec: Codec, num_episodes: int, num_rows: int, num_tasks: int) -> dict[str, Any]:
    """The content of `meta/info.json`."""
    return {
        "codebase_version": VERSION,
        "fps": spec.fps,
        "features": features(spec, codec),
        "total_episodes": num_episodes,
        "total_frames": num_rows,
        "total_tasks": num_tasks,
        "chunks_size": FILES_PER_CHUNK,
        "data_files_size_in_mb": DATA_FILE_MB,
        "video_files_size_in_mb": VIDEO_FILE_MB,
        "data_path": DATA,
        "video_path": VIDEO,
        "robot_type": spec.robot_type,
        "splits": {"train": f"0:{num_episodes}"},
    }


def read_codec(path: Path) -> Codec:
    """How the frames of the dataset at `path` are encoded; StoreError if it does not say."""
    data = read_json(path / SIDECAR_CODEC)
    kind = data.pop("kind", None)
    try:
        return VideoCodec(**data) if kind == "video" else ImageCodec(**data)
    except TypeError as error:
        raise StoreError(f"{path / SIDECAR_CODEC} describes no codec ({error}); restore it from a copy") from error


def _camera_feature(camera: Camera, fps: int, codec: Codec) -> dict[str, Any]:
    shape = {"shape": [camera.height, camera.width, 3], "names": ["height", "width", "channels"]}
    if isinstance(codec, ImageCodec):
        return {"dtype": "image", **shape}
    return {"dtype": "video", **shape, "info": video_info(camera, fps, codec)}
