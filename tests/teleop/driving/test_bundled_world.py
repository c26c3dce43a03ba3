"""The world that comes with demoloom, driven."""

from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.bundled import world_folder
from demoloom.generators.learned.world import LearnedWorld
from demoloom.generators.realities.pusht import PushTReality
from demoloom.teleop.driving import Drive, KeptTakes, checkpoint_starts, take_spec


@pytest.fixture
def drive(tmp_path: Path) -> Drive:
    world = LearnedWorld(str(world_folder("pusht")), 1)
    takes = KeptTakes(tmp_path / "takes", take_spec(world))
    starts = checkpoint_starts(world_folder("pusht"), world.episode_spec)
    return Drive(world, takes, starts, make_reality=lambda: PushTReality(1))


def circled(drive: Drive, steps: range) -> None:
    for step in steps:
        drive.tick(256 + 150 * np.array([np.sin(step / 9), np.cos(step / 9)]))


def test_after_an_undo_the_same_actions_give_the_same_bytes(drive: Drive) -> None:
    drive.start(index=5)
    drive.record()
    circled(drive, range(20))
    before = drive.look().frames["top"].copy()
    drive.undo(8)
    assert not np.array_equal(drive.look().frames["top"], before)
    circled(drive, range(12, 20))
    assert np.array_equal(drive.look().frames["top"], before)
    assert len(drive.keep()) == 20


def test_it_starts_from_the_frame_that_was_chosen(drive: Drive) -> None:
    shown = drive.start(index=7).frames["top"].astype(int)
    assert np.abs(shown - drive.starts.frame(7)).mean() < 2


def test_reality_beside_it_looks_alike_for_a_while(drive: Drive) -> None:
    drive.start(index=5)
    drive.show_reality(True)
    circled(drive, range(20))
    seen = drive.look()
    assert seen.reality is not None
    real = seen.reality["top"].astype(int)
    assert np.abs(seen.frames["top"] - real).mean() < 1.5
    # For comparison, where agent and block are elsewhere.
    assert np.abs(drive.start(index=9).frames["top"] - real).mean() > 3
