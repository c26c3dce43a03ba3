"""Hears of what LeRobot records, and when an episode of it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from lerobot.datasets import LeRobotDataset


@contextmanager
def watch_recording(
    before_frame: Callable[[LeRobotDataset], None],
    after_save: Callable[[LeRobotDataset], None],
    after_clear: Callable[[LeRobotDataset], None],
) -> Iterator[None]:
    """While the block runs, call back whenever this process records with LeRobot.

    LeRobot tells a robot nothing of episodes (0.6.1: `lerobot-record`, `lerobot-rollout`), as nobody can take a real
    one back to a start by itself. Their ends show in the dataset alone, whether time was up or a key was pressed.

    Args:
        before_frame: a frame is about to be added; what it raises stops the recording.
        after_save: the episode was kept.
        after_clear: the episode was thrown away, to be recorded again.
    """
    calls = {
        "add_frame": (before_frame, None),
        "save_episode": (None, after_save),
        "clear_episode_buffer": (None, after_clear),
    }
    originals = {name: getattr(LeRobotDataset, name) for name in calls}
    for name, (before, after) in calls.items():
        setattr(LeRobotDataset, name, _surrounded(originals[name], before, after))
    try:
        yield
    finally:
        for name, original in originals.items():
            setattr(LeRobotDataset, name, original)


def _surrounded(
    method: Callable[..., None],
    before: Callable[[LeRobotDataset], None] | None,
    after: Callable[[LeRobotDataset], None] | None,
) -> Callable[..., None]:
    @wraps(method)
    def surrounded(dataset: LeRobotDataset, *args: Any, **kwargs: Any) -> None:
        if before:
            before(dataset)
        method(dataset, *args, **kwargs)
        if after:
            after(dataset)

    return surrounded
