"""LeRobot datasets of version 2.1, through LeRobot's own converter."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ..atomic import PendingFolder, read_json
from ..dataset import EpisodeReader
from ..errors import StoreError
from ..lerobot_layout import INFO
from ..lerobot_reader import LeRobotReader

VERSION = "v2.1"


def is_lerobot_v21(path: Path) -> bool:
    """Whether a LeRobot dataset of version 2.1 stands at `path`."""
    return (path / INFO).is_file() and read_json(path / INFO).get("codebase_version") == VERSION


@contextmanager
def open_lerobot_v21(path: Path, scratch: Path) -> Iterator[EpisodeReader]:
    """Read a dataset of version 2.1 as the version 3.0 that LeRobot's converter makes of it, in a folder in `scratch`.

    The dataset itself is only read: the converter works in place, and is given links.

    Raises:
        StoreError: the converter refuses the dataset.
    """
    # Locked while this lives, so that what a killed import leaves goes when the next dataset is written there.
    with closing(PendingFolder(scratch)) as pending:
        # The folder's name becomes part of the ids.
        root = pending.path / path.resolve().name
        root.mkdir()
        for entry in path.resolve().iterdir():
            if entry.name == "meta":
                _copy(entry, root / "meta")
            else:
                (root / entry.name).symlink_to(entry)
        _convert(root, path)
        yield LeRobotReader(root)


def _copy(folder: Path, target: Path) -> None:
    try:
        shutil.copytree(folder, target)
    except shutil.Error as error:
        reasons = "; ".join(sorted({str(reason) for _, _, reason in error.args[0]}))
        raise StoreError(
            f"cannot copy {folder} to {target} ({reasons}); make space or choose another folder"
        ) from error


def _convert(root: Path, path: Path) -> None:
    from lerobot.scripts.convert_dataset_v21_to_v30 import convert_dataset

    try:
        convert_dataset(repo_id=root.name, root=root, push_to_hub=False)
    except Exception as error:
        raise StoreError(
            f"LeRobot cannot convert {path} from {VERSION} ({type(error).__name__}: {error}); "
            "load it with the version of LeRobot that wrote it to see what it lacks"
        ) from error
