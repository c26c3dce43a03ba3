"""Checks shared by the configs of stages."""

from __future__ import annotations

from ..storage.errors import ConfigError


def require_at_least(least: float, **settings: float) -> None:
    """Refuse settings below `least`.

    Raises:
        ConfigError: names the first such setting and its value.
    """
    for name, value in settings.items():
        if not value >= least:  # NaN is neither
            raise ConfigError(f"{name} must be at least {least}, got {value}")


def require_between(low: float, high: float, **settings: float) -> None:
    """Refuse settings outside [low, high].

    Raises:
        ConfigError: names the first such setting and its value.
    """
    for name, value in settings.items():
        if not low <= value <= high:
            raise ConfigError(f"{name} must lie between {low} and {high}, got {value}")
