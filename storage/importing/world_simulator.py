"""Episodes of the Interactive World Simulator: an HDF5 file for each, recorded on robots, in MuJoCo or in its world.

Its layout is that of https://github.com/WangYixuan12/interactive_world_sim.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from ..errors import StoreError
from ..lineage import hash_file
from .foreign import Foreign
from .frames import looks_like_frames
from .hdf5 import described, file_arrays, number_in, open_hdf5, safe_id
from .layout import ColumnRef, Layout
from .recording import Recording

#: Its robots, its simulation and its world all run at this rate.
_FPS = 10
#: How far a recorded clock may be from that rate.
_CLOCK_TOLERANCE = 0.1
_CAMERAS = "obs/images/"


def is_world_simulator(path: Path) -> bool:
    """Whether there are episodes of the Interactive World Simulator at `path`."""
    files = _files(path)
    if not files:
        return False
    with open_hdf5(files[0]) as file:
        return "action" in file and _CAMERAS.rstrip("/") in file


@contextmanager
def open_world_simulator(path: Path) -> Iterator[Foreign]:
    """What a folder of `episode_<N>.hdf5`, or one such file, holds.

    The state is `obs/joint_pos`, a label is the `env_state` of MuJoCo, and all colour images under `obs/images` are
    cameras. Files which the simulator's own world recorded have no state.

    Raises:
        StoreError: there are no episodes, or the clock of one is not at 10 Hz.
    """
    recordings = [_recording(file) for file in _files(path)]
    if not recordings:
        raise StoreError(f"there is no episode_<N>.hdf5 in {path}; check the path")
    for recording in recordings:
        _check_clock(recording)
    yield Foreign(path=path, recordings=recordings, layout=_layout(recordings[0]), fps=_FPS, robot_type="aloha")


def _files(path: Path) -> list[Path]:
    files = [path] if path.is_file() else path.glob("*.hdf5")
    return sorted(
        (file for file in files if file.suffix == ".hdf5"), key=lambda file: (number_in(file.stem), file.name)
    )


def _recording(path: Path) -> Recording:
    return Recording(
        key="/",
        id=safe_id(path.parent.name, path.stem),
        number=number_in(path.stem),
        arrays=file_arrays(path),
        source=described(path, "interactive-world-simulator", "/", hash_file(path).hex()),
    )


def _layout(recording: Recording) -> Layout:
    return Layout(
        action=ColumnRef("action"),
        state=(ColumnRef("obs/joint_pos"),) if "obs/joint_pos" in recording.arrays else (),
        cameras={
            key.removeprefix(_CAMERAS).removesuffix("_color"): key
            for key, window in recording.arrays.items()
            if key.startswith(_CAMERAS) and looks_like_frames(window) and window.dtype == np.uint8
        },
        labels={"env_state": ColumnRef("env_state")} if "env_state" in recording.arrays else {},
    )


def _check_clock(recording: Recording) -> None:
    clock = recording.arrays.get("timestamp")
    if clock is None or len(clock) < 2:
        return
    times = clock.read(0, len(clock)).reshape(-1)
    rate = (len(times) - 1) / max(times[-1] - times[0], 1e-9)
    if not abs(rate / _FPS - 1) <= _CLOCK_TOLERANCE:
        raise StoreError(
            f"{recording.place} was recorded at {rate:.2f} rows a second by its clock, expected {_FPS}; "
            "leave it out, or mend its timestamps"
        )
