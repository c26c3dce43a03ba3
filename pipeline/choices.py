"""What decides the defaults of a command's other options: a preset by name, or the folder of a run."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from ..storage.errors import ConfigError


@dataclass(frozen=True)
class Given:
    """What is read from the command line before the other options can have defaults."""

    preset: str | None = None
    run_dir: Path | None = None


def choose_preset[T](presets: Mapping[str, T], name: str) -> T:
    """Return the preset of that name.

    Raises:
        ConfigError: there is none; the message suggests the nearest.
    """
    if name not in presets:
        near = difflib.get_close_matches(name, presets, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(presets)}"
        raise ConfigError(f"no preset {name!r}; {hint}")
    return presets[name]


def refuse_preset(command: str, given: Given) -> None:
    """Refuse a preset where a command has none.

    Raises:
        ConfigError: a preset was named.
    """
    if given.preset is not None:
        raise ConfigError(f"`demoloom {command}` has no presets, got --preset {given.preset}")
