"""A small robot and episodes of it, told apart by their numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..episode import ROW_ARRAYS, Episode
from ..spec import Camera, EpisodeSpec, Vector


def numbered_spec() -> EpisodeSpec:
    """Two cameras, two dimensions each of state and action, a label of one."""
    return EpisodeSpec(
        fps=10,
        cameras=(Camera("top", 16, 24), Camera("wrist", 16, 16)),
        state=Vector(("x/mm", "y axis"), (0.0, 0.0), (100.0, 100.0)),
        action=Vector(("x", "y"), (0.0, 0.0), (100.0, 100.0)),
        labels={"pose": Vector(("angle",), (-1.0,), (1.0,))},
        robot_type="stand-in",
    )


def numbered_episode(spec: EpisodeSpec, index: int, length: int, **changes: Any) -> Episode:
    """Row t of episode i has state (i, t), action (t, i) and frames of noise of its own."""
    rng = np.random.default_rng([index, length])
    step = np.arange(length, dtype=np.float32)
    number = np.full(length, index, np.float32)
    episode = Episode(
        id=f"run-{index:06d}",
        index=index,
        seed=1000 + index,
        task="push the block",
        images={
            camera.name: rng.integers(0, 256, (length, camera.height, camera.width, 3), np.uint8)
            for camera in spec.cameras
        },
        state=np.stack([number, step], 1),
        action=np.stack([step, number], 1),
        reward=step,
        success=step == length - 1,
        score=(step + 1) / length,
        trust=np.full(length, 0.9, np.float32),
        outcome="success",
        labels={"pose": np.full((length, 1), -0.5, np.float32)},
        lineage={"stage": "generate", "source": {"ids": ["a", "b"], "noise": 0.1}},
    )
    return replace(episode, **changes)


def assert_same(left: Episode, right: Episode) -> None:
    """Equal in everything, the frames bit for bit."""
    plain = ("id", "index", "seed", "task", "outcome", "reason", "lineage")
    assert {name: getattr(left, name) for name in plain} == {name: getattr(right, name) for name in plain}
    for name in ROW_ARRAYS:
        _assert_same_array(name, getattr(left, name), getattr(right, name))
    assert (left.intervention is None) == (right.intervention is None)
    if left.intervention is not None and right.intervention is not None:
        _assert_same_array("intervention", left.intervention, right.intervention)
    for group in ("images", "labels"):
        assert getattr(left, group).keys() == getattr(right, group).keys()
        for name in getattr(left, group):
            _assert_same_array(name, getattr(left, group)[name], getattr(right, group)[name])


def _assert_same_array(name: str, left: np.ndarray, right: np.ndarray) -> None:
    assert left.dtype == right.dtype, name
    np.testing.assert_array_equal(left, right, err_msg=name)
