"""Trained worlds that come with demoloom, by name."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent


def bundled_worlds() -> list[str]:
    """The names of the worlds that come with demoloom."""
    return sorted(path.parent.name for path in _FOLDER.glob("*/config.json"))


def world_folder(world: Path | str) -> Path:
    """The folder of a world's checkpoint, absolute.

    Args:
        world: such a folder or, where there is none at this path, the name of a world that comes with demoloom.
    """
    path = Path(world).expanduser()
    if not (path / "config.json").is_file() and str(world) in bundled_worlds():
        return _FOLDER / str(world)
    return path.resolve()
