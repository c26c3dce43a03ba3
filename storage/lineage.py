"""What says how data was made: the version of the code and the hash of a folder."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

from .atomic import TEMPORARY_PREFIX
from .errors import StoreError


@cache
def code_version() -> str:
    """The version of this code: `0.1.0`, or from a checkout `0.1.0+g<commit>`, with `.dirty` if it was edited since."""
    root = Path(__file__).resolve().parents[1]
    commit = _git(root, "rev-parse", "--short=12", "HEAD") if (root / ".git").exists() else ""
    if not commit:
        return version("demoloom")
    edited = _git(root, "status", "--porcelain", "--untracked-files=no")
    return f"{version('demoloom')}+g{commit}{'.dirty' if edited else ''}"


def hash_folder(path: Path | str) -> str:
    """SHA-256 (64 hex digits) over the relative names and the bytes of all files in a folder.

    Raises:
        StoreError: there is no such folder.
    """
    path = Path(path)
    if not path.is_dir():
        raise StoreError(f"expected a folder to hash at {path}, there is none")
    digest = hashlib.sha256()
    for name in sorted(_files(path)):
        digest.update(name.encode() + b"\0")
        digest.update(hash_file(path / name))
    return digest.hexdigest()


def hash_file(path: Path) -> bytes:
    """SHA-256 over the bytes of a file, 32 bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _files(path: Path) -> list[str]:
    relative = (file.relative_to(path) for file in path.rglob("*") if file.is_file())
    return [name.as_posix() for name in relative if not any(part.startswith(TEMPORARY_PREFIX) for part in name.parts)]


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
