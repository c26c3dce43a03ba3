"""Where this machine keeps what can be made again."""

from __future__ import annotations

import os
from pathlib import Path

from .atomic import make_folder
from .errors import StoreError


def cache_folder() -> Path:
    """What is not part of a run: `$XDG_CACHE_HOME/demoloom`, by default `~/.cache/demoloom`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "demoloom"


def make_cache(name: str) -> Path:
    """The folder of that name in the cache, made where it is missing.

    Raises:
        StoreError: it cannot be made.
    """
    path = cache_folder() / name
    try:
        make_folder(path)
    except StoreError as error:
        raise StoreError(
            f"the cache folder {path} cannot be made; set XDG_CACHE_HOME to a folder that can be written"
        ) from error
    return path
