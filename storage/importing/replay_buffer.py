"""diffusion_policy's replay buffers: a Zarr group with `data/<key>` for all episodes in a row and `meta/episode_ends`.

The layout is that of https://github.com/real-stanford/diffusion_policy (`common/replay_buffer.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..lineage import hash_file, hash_folder
from .foreign import Foreign
from .frames import looks_like_frames
from .hdf5 import described, safe_id
from .layout import ColumnRef, Layout
from .recording import Recording, Window


def is_replay_buffer(path: Path) -> bool:
    """Whether there is a replay buffer at `path`, a folder or a zip file."""
    if path.is_dir():
        return (path / "meta" / "episode_ends").is_dir()
    return path.name.endswith(".zarr.zip")


@contextmanager
def open_replay_buffer(path: Path) -> Iterator[Foreign]:
    """What a replay buffer holds.

    The state is `state`, or all of `robot_*` where there is none; every array of images is a camera. Nothing says the
    rate or whether the task was solved.

    Raises:
        StoreError: it is no replay buffer, or its episodes do not add up.
    """
    with _opened(path) as group:
        arrays = dict(group["data"].arrays())
        ends = np.asarray(group["meta/episode_ends"][:], np.int64)
        _check(path, arrays, ends)
        hash = hash_folder(path) if path.is_dir() else hash_file(path).hex()
        starts = [0, *ends[:-1].tolist()]
        recordings = [
            _recording(path, hash, number, arrays, start, stop)
            for number, (start, stop) in enumerate(zip(starts, ends.tolist(), strict=True))
        ]
        yield Foreign(path=path, recordings=recordings, layout=_layout(recordings[0]))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    import zarr

    store = zarr.storage.LocalStore(path, read_only=True) if path.is_dir() else zarr.storage.ZipStore(path, mode="r")
    try:
        group = zarr.open_group(store, mode="r")
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"cannot read {path} as a Zarr group ({error}); restore it from a copy") from error
    try:
        yield group
    finally:
        store.close()


def _check(path: Path, arrays: Mapping[str, Any], ends: np.ndarray) -> None:
    if "action" not in arrays:
        raise StoreError(f"{path} has no data/action, which every replay buffer needs; there are {', '.join(arrays)}")
    if len(ends) == 0 or ends[0] < 1 or (np.diff(ends) < 1).any():
        raise StoreError(f"{path}: meta/episode_ends must rise from 1 on and hold an episode, got {ends[:10].tolist()}")
    for name, array in arrays.items():
        # What lies beyond the last end is of an episode that was never finished.
        if array.shape[0] < ends[-1]:
            raise StoreError(f"{path}: data/{name} has {array.shape[0]} rows, the episodes have {ends[-1]}; it was cut")


def _recording(path: Path, hash: str, number: int, arrays: Mapping[str, Any], start: int, stop: int) -> Recording:
    return Recording(
        key=f"rows {start} .. {stop - 1}",
        id=safe_id(path.name.split(".")[0], f"{number:06d}"),
        number=number,
        arrays={name: Window(array, start, stop) for name, array in arrays.items()},
        source=described(path, "replay-buffer", f"rows {start} .. {stop - 1}", hash),
    )


def _layout(recording: Recording) -> Layout:
    vectors = [name for name, window in recording.arrays.items() if len(window.row_shape) <= 1 and name != "action"]
    state = [name for name in vectors if name == "state"] or sorted(
        name for name in vectors if name.startswith("robot")
    )
    return Layout(
        action=ColumnRef("action"),
        state=tuple(map(ColumnRef, state)),
        cameras={name: name for name, window in sorted(recording.arrays.items()) if looks_like_frames(window)},
    )
