from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from world import write_untrained
from world_speed import Speed, flops_per_frame, interactive, measure

from demoloom.generators.learned.world import LearnedWorld


def test_frames_per_second_are_of_all_episodes_together() -> None:
    speed = Speed(np.array([0.1, 0.1, 0.1, 0.5]), num_envs=4)
    assert speed.frames_per_second == pytest.approx(20)
    assert speed.milliseconds(0.5) == pytest.approx(100)
    assert speed.milliseconds(1.0) == pytest.approx(500)


def test_the_operations_of_an_untrained_world_are_counted_and_its_steps_timed(tmp_path: Path) -> None:
    checkpoint = write_untrained(tmp_path / "world")
    # 18 convolutions of 3 x 3 in residual blocks alone, each 10.6 million operations; the rest is not as much again.
    blocks = 18 * 2 * 9 * 48 * 48 * 16 * 16
    assert blocks < flops_per_frame(checkpoint) < 2 * blocks
    speed = measure(LearnedWorld(str(checkpoint), 2), seconds=0.05)
    assert speed.num_envs == 2
    assert len(speed.seconds) >= 1


def test_one_episode_is_timed_by_the_number_of_threads(tmp_path: Path) -> None:
    checkpoint = write_untrained(tmp_path / "world")
    assert list(interactive(checkpoint, 0.01, 1, compiled=False)) == ["interactive, 1 thread"]
    assert list(interactive(checkpoint, 0.01, 2, compiled=False)) == ["interactive, 2 threads"]
