"""`demoloom export`: a policy for a robot."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..choices import Given, refuse_preset
from .standalone import stage_work


@dataclass(frozen=True)
class Options:
    """Export a policy as a LeRobot folder and a program that needs no Python."""

    policy: Path = Path("policy")
    """LeRobot `pretrained_model` folder."""
    out: Path = Path("export")
    """Folder to write; must not exist."""


def default_options(given: Given) -> Options:
    """This command has no presets."""
    refuse_preset("export", given)
    return Options()


def main(options: Options) -> None:
    """Export."""
    from ...policies.export import export_policy

    with stage_work("export", options, options.out):
        export_policy(options.policy, options.out.resolve())
