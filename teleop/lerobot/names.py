"""LeRobot's names of joints."""

from __future__ import annotations

from collections.abc import Iterable

SUFFIXES = (".pos", ".vel")


def joint_names(names: Iterable[str]) -> tuple[str, ...]:
    """The names of a vector's dimensions as a robot of LeRobot's has them: `target_x` -> `target_x.pos`.

    `lerobot-rollout` passes over what ends in neither `.pos` nor `.vel` (LeRobot 0.6.1, `rollout/context.py`).
    """
    return tuple(name if name.endswith(SUFFIXES) else f"{name}.pos" for name in names)


def bare(name: str) -> str:
    """A joint's name without what says that it is a position or a speed."""
    for suffix in SUFFIXES:
        name = name.removesuffix(suffix)
    return name
