"""The page and its modules: a fixed list, read once, so that no path from outside ever reaches the file system."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent / "page"
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


@dataclass(frozen=True)
class PageFile:
    """What is served under one name."""

    content: bytes
    media_type: str


def read_page() -> Mapping[str, PageFile]:
    """All files of the page by name; `index.html` is the page itself."""
    files = sorted(path for path in _FOLDER.iterdir() if path.suffix in _KINDS and path.is_file())
    return {path.name: PageFile(path.read_bytes(), _KINDS[path.suffix]) for path in files}
