"""Whether a worker sees the folder that the driver sees: episodes come back through it."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...storage.atomic import TEMPORARY_PREFIX, make_folder, refusals_named, sweep
from ...storage.errors import StoreError

_PREFIX = f"{TEMPORARY_PREFIX}shared-"


@contextmanager
def marked_folder(folder: Path) -> Iterator[Path]:
    """Put a file into `folder`, which is made if it is not there, for workers to look for; those of killed drivers go.

    Raises:
        StoreError: the folder cannot be written, or the disk is full.
    """
    make_folder(folder)
    sweep(folder, _PREFIX)
    with refusals_named(folder):
        handle, name = tempfile.mkstemp(prefix=_PREFIX, dir=folder)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def refuse_unshared(mark: Path) -> None:
    """Raise StoreError where a driver's mark is not to be seen."""
    if not mark.exists():
        raise StoreError(
            f"the machine {socket.gethostname()} does not see {mark.parent}, where the driver waits for episodes; "
            "write to a folder on storage that all nodes of the cluster share, under the same path"
        )
