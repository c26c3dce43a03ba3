"""Datasets of robomimic and of tools that write the same: one HDF5 file, `data/demo_<i>` for each episode.

The layout is described at https://robomimic.github.io/docs/datasets/overview.html.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..lineage import hash_file
from .foreign import Foreign
from .frames import looks_like_frames
from .hdf5 import arrays_of, described, number_in, open_hdf5, safe_id
from .layout import ColumnRef, Layout
from .recording import Recording

#: What robomimic's own image policies take as proprioception, for each arm.
_PROPRIOCEPTION = ("eef_pos", "eef_quat", "gripper_qpos")
_CHECKED_ROWS = 1000


def is_robomimic(path: Path) -> bool:
    """Whether there is a robomimic dataset at `path`."""
    if path.suffix not in (".hdf5", ".h5"):
        return False
    with open_hdf5(path) as file:
        return "data" in file and any("actions" in demo for demo in file["data"].values())


@contextmanager
def open_robomimic(path: Path) -> Iterator[Foreign]:
    """What a robomimic file holds.

    The state is position, orientation and gripper of each arm (all vectors but `object` where there are none of these),
    `object` is a label, and every key with images is a camera. An episode is solved once its reward reaches 1.

    Raises:
        StoreError: it has no episodes, or observations and actions are a step apart.
    """
    hash = hash_file(path).hex()
    with open_hdf5(path) as file:
        demos = sorted(file["data"], key=number_in)
        recordings = [_recording(path, hash, name, file["data"][name]) for name in demos]
        if not recordings:
            raise StoreError(f"{path} has no episodes (data/demo_<i>); the tool that wrote it was stopped")
        for recording in recordings:
            _check_shift(recording)
        env = _described(file["data"], "env_args", path)
        settings = env.get("env_kwargs", {})
        robots = settings.get("robots", [])
        yield Foreign(
            path=path,
            recordings=recordings,
            layout=_layout(recordings[0]),
            fps=_whole(settings.get("control_freq")),
            task=str(env.get("env_name", "")),
            robot_type="-".join([robots] if isinstance(robots, str) else robots).lower() or "unknown",
            action_bounds=(-1.0, 1.0),
        )


def _recording(path: Path, hash: str, name: str, demo: Any) -> Recording:
    key = f"data/{name}"
    arrays = arrays_of(demo)
    if "actions" not in arrays:
        raise StoreError(f"{key} of {path.name} has no actions; leave it out")
    found = len(arrays["actions"])
    if (expected := int(demo.attrs.get("num_samples", found))) != found:
        raise StoreError(f"{key} of {path.name} has {found} actions and says {expected}; it was cut, leave it out")
    meta = _described(demo, "ep_meta", path)
    return Recording(
        key=key,
        id=safe_id(path.stem, name),
        number=number_in(name),
        arrays=arrays,
        source=described(path, "robomimic", key, hash),
        task=str(meta.get("lang", "")),
    )


def _described(group: Any, name: str, path: Path) -> dict[str, Any]:
    """An attribute that holds JSON; nothing if it is missing."""
    try:
        return dict(json.loads(group.attrs.get(name, "{}")))
    except (TypeError, ValueError) as error:
        raise StoreError(f"{name} of {group.name} in {path} is no JSON ({error}); the file is damaged") from error


def _whole(rate: float | None) -> int | None:
    """A rate in Hz if it is a whole number; another has to be said by the user."""
    return int(rate) if rate and float(rate).is_integer() else None


def _layout(recording: Recording) -> Layout:
    observed = {key: window for key, window in recording.arrays.items() if key.startswith("obs/")}
    cameras = {
        key.removeprefix("obs/").removesuffix("_image"): key
        for key, window in observed.items()
        if looks_like_frames(window)
    }
    vectors = [key for key, window in observed.items() if len(window.row_shape) <= 1 and key != "obs/object"]
    usual = [
        key for end in _PROPRIOCEPTION for key in vectors if key.startswith("obs/robot") and key.endswith(f"_{end}")
    ]
    return Layout(
        action=ColumnRef("actions"),
        state=tuple(map(ColumnRef, sorted(usual, key=lambda key: key.split("_")[0]) or vectors)),
        cameras=cameras,
        labels={"object": ColumnRef("obs/object")} if "obs/object" in observed else {},
        reward="rewards" if "rewards" in recording.arrays else "",
    )


def _check_shift(recording: Recording) -> None:
    """`next_obs` must be the observation one row later; a file in which it is that of the same row is a step off."""
    for key, window in recording.arrays.items():
        after = recording.arrays.get(f"next_{key}")
        if not key.startswith("obs/") or after is None or len(window.row_shape) > 1 or len(window) < 2:
            continue
        count = min(len(window), len(after), _CHECKED_ROWS)
        now, then = window.read(0, count), after.read(0, count)
        if np.abs(then - now).sum() < np.abs(then[:-1] - now[1:]).sum():
            raise StoreError(
                f"{recording.place}: next_{key} is the observation of the same row, not of "
                "the next; observations and actions are a step apart, make the file anew"
            )
