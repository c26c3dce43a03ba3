"""`demoloom plugins`: what is installed, by kind and name."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import get_args

from ...storage.plugins import Kind
from ..choices import Given, refuse_preset


@dataclass(frozen=True)
class Options:
    """List the worlds, streams, policies and tasks that installed packages offer."""


def default_options(given: Given) -> Options:
    """This command has no presets."""
    refuse_preset("plugins", given)
    return Options()


def main(options: Options) -> None:
    """Print one line for each plug-in: kind, name, where it comes from."""
    for kind in get_args(Kind):
        for point in sorted(entry_points(group=f"demoloom.{kind}"), key=lambda point: point.name):
            distribution = point.dist.name if point.dist else "unknown"
            print(f"{kind:<9} {point.name:<16} {point.value}  ({distribution})")
