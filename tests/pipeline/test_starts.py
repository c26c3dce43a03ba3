from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demoloom.pipeline.stages.starts import choose_starts
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import ConfigError

from .runs import dot_episode, write_store


def test_moments_come_from_failures_alone_from_their_start_to_their_middle(tmp_path: Path) -> None:
    late = dot_episode(1, length=13, outcome="failure", reason="not solved")
    write_store(tmp_path / "evaluation", [dot_episode(0), late])
    told = choose_starts(tmp_path / "evaluation", 4, tmp_path / "starts")
    assert told == {"num_episodes": 2, "num_failures": 1, "num_starts": 4}
    starts = open_dataset(tmp_path / "starts")
    assert starts.ids() == [f"dot-000001-row-{row:04d}" for row in (0, 2, 4, 6)]
    assert np.array_equal(starts.read(starts.ids()[2]).images["top"][0], late.images["top"][4])


def test_each_failure_gives_as_many_moments_and_at_least_its_start(tmp_path: Path) -> None:
    failed = [dot_episode(index, outcome="failure", reason="not solved") for index in range(3)]
    write_store(tmp_path / "evaluation", failed)
    choose_starts(tmp_path / "evaluation", 2, tmp_path / "starts")
    assert open_dataset(tmp_path / "starts").ids() == [f"dot-{index:06d}-row-0000" for index in range(3)]


def test_a_policy_that_failed_nowhere_is_sent_to_more_initial_states(tmp_path: Path) -> None:
    write_store(tmp_path / "evaluation", [dot_episode(0)])
    with pytest.raises(ConfigError, match=r"solved all 1 episodes of .*; evaluate it from more initial states"):
        choose_starts(tmp_path / "evaluation", 4, tmp_path / "starts")
