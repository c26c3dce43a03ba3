"""Choosing a preset by name."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from ..storage.errors import ConfigError


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


def refuse_preset(command: str, name: str | None) -> None:
    """Refuse a preset where a command has none.

    Raises:
        ConfigError: a preset was named.
    """
    if name is not None:
        raise ConfigError(f"`demoloom {command}` has no presets, got --preset {name}")
