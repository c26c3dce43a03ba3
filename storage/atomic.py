"""Files and folders that are wholly there or not at all, whatever kills the writer."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from .errors import StoreError

TEMPORARY_PREFIX = ".tmp-"
#: Of folders under way; beside them lie things of others, which may be called `.tmp-` too.
PENDING_PREFIX = f"{TEMPORARY_PREFIX}demoloom-"

# A writer locks its folder just after making it; a folder younger than this may not be locked yet.
_SWEEP_AGE_S = 60.0

_FULL = (errno.ENOSPC, errno.EDQUOT)
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)


def write_json(path: Path | str, data: Any) -> None:
    """Replace the file at `path` with `data` as JSON; readers see the old content or the new, never a part.

    Raises:
        StoreError: the disk is full, or the folder cannot be written.
        ValueError: a number is NaN or infinite, which JSON cannot hold.
    """
    text = json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    with replace_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def save_array(path: Path, array: np.ndarray) -> None:
    """Write an array as `np.save` does, which says of a full disk only how many bytes it wrote."""
    buffer = io.BytesIO()
    np.save(buffer, array)
    path.write_bytes(buffer.getbuffer())


@contextmanager
def replace_file(path: Path | str) -> Iterator[Path]:
    """Give an empty file beside `path` to write; it takes the place of `path` when the block ends without an error.

    Raises:
        StoreError: a folder stands at `path`, the folder above it cannot be written, or the disk is full.
    """
    path = Path(path)
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file to write")
    make_folder(path.parent)
    with refusals_named(path):
        handle, name = tempfile.mkstemp(prefix=TEMPORARY_PREFIX, dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            temporary.chmod(0o644)  # mkstemp gives 0600, which another user on the robot could not read
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


def read_json(path: Path | str) -> dict[str, Any]:
    """The JSON object in a file.

    Raises:
        StoreError: the file is missing or damaged.
    """
    try:
        return dict(json.loads(Path(path).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(f"cannot read {path} ({error}); restore it from a copy") from error


class PendingFolder:
    """A folder under way: made in `parent` under a name which readers pass over, and locked so that no sweep takes it.

    Raises:
        StoreError: `parent` cannot be written, or the disk is full.
    """

    def __init__(self, parent: Path) -> None:
        make_folder(parent)
        with refusals_named(parent):
            self.path = Path(tempfile.mkdtemp(prefix=PENDING_PREFIX, dir=parent))
        self._lock = os.open(self.path, os.O_RDONLY)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        os.chmod(self.path, 0o755)

    def publish(self, path: Path) -> None:
        """Rename it to `path`; StoreError if something stands there."""
        _rename(self.path, path)

    def close(self) -> None:
        """Delete it, unless it was published."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1
            shutil.rmtree(self.path, ignore_errors=True)


@contextmanager
def publish_folder(path: Path | str) -> Iterator[Path]:
    """Give an empty folder beside `path` to fill; rename it to `path` when the block ends without an error.

    What killed writers left beside `path` is deleted.

    Raises:
        StoreError: something stands at `path` already, the folder above it cannot be written, or the disk is full.
            Nothing there is touched.
    """
    path = Path(path)
    _refuse_irreplaceable(path)
    sweep(path.parent, PENDING_PREFIX)
    pending = PendingFolder(path.parent)
    try:
        with refusals_named(path):
            yield pending.path
        pending.publish(path)
    finally:
        pending.close()


def _refuse_irreplaceable(path: Path) -> None:
    """Raise StoreError before hours of work if a folder could not be renamed to `path` after them."""
    if is_occupied(path) or path.is_symlink():
        raise StoreError(f"{path} exists already; choose another folder or move it away")
    if path.is_dir() and (not path.name or path.is_mount()):
        raise StoreError(
            f"{path} is {'a disk' if path.name else 'the current folder'}, which no new folder can replace; name one "
            f"in it, such as {path / 'dataset'}"
        )


@contextmanager
def locked_folder(path: Path) -> Iterator[None]:
    """Wait until no other process holds this lock on a folder, and hold it; nothing is written for it."""
    lock = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def share_files(folder: Path) -> None:
    """Let every user read the files in a folder: safetensors writes files which only their owner may read."""
    for file in folder.rglob("*"):
        if file.is_file():
            file.chmod(0o644)


def make_folder(path: Path) -> None:
    """Make a folder and those above it, where they are missing.

    Raises:
        StoreError: a file is in the way, the folder cannot be written, or the disk is full.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        named = StoreError(f"cannot make the folder {path} ({error.strerror}); choose another place")
        raise refusal(error, path) or named from error


def is_occupied(path: Path) -> bool:
    """Whether something other than an empty folder stands at `path`."""
    if path.is_dir():
        return any(not entry.name.startswith(TEMPORARY_PREFIX) for entry in path.iterdir())
    return path.exists() or path.is_symlink()


def remove_folder(path: Path) -> None:
    """Delete a folder so that it is never seen half deleted."""
    doomed = Path(tempfile.mkdtemp(prefix=TEMPORARY_PREFIX, dir=path.parent))
    os.rename(path, doomed / path.name)
    shutil.rmtree(doomed)


def sweep(folder: Path, prefix: str = TEMPORARY_PREFIX) -> None:
    """Delete what killed writers left in `folder`; a folder whose writer lives is locked by it and stays."""
    for entry in folder.glob(f"{prefix}*"):
        with suppress(OSError):
            if time.time() - entry.stat().st_mtime > _SWEEP_AGE_S:
                _delete_unless_locked(entry)


def _delete_unless_locked(entry: Path) -> None:
    lock = os.open(entry, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    finally:
        os.close(lock)


def _rename(temporary: Path, path: Path) -> None:
    try:
        os.rename(temporary, path)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
            raise
        raise StoreError(f"{path} was made by another writer meanwhile; choose another folder") from error


@contextmanager
def refusals_named(path: Path) -> Iterator[None]:
    """Say in a StoreError what to do about a full disk or a folder that cannot be written."""
    try:
        yield
    except OSError as error:
        if (named := refusal(error, path)) is None:
            raise
        raise named from error


def refusal(error: OSError, path: Path | str) -> StoreError | None:
    """What to tell a user whose disk is full or whose folder cannot be written; None for any other error."""
    if error.errno in _FULL:
        return StoreError(
            f"no space left on the disk for {path}; free some and run again, what was stored before is intact"
        )
    if error.errno in _UNWRITABLE:
        return StoreError(f"cannot write {path} ({error.strerror}); choose a folder that you may write to")
    return None
