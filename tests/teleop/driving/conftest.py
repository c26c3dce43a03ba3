from pathlib import Path

import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.teleop.driving import Drive, DriveSettings, KeptTakes, no_starts, take_spec


@pytest.fixture
def takes(tmp_path: Path) -> KeptTakes:
    return KeptTakes(tmp_path / "takes", take_spec(CountingWorld(1)))


@pytest.fixture
def make_drive(takes: KeptTakes):
    """Makes a drive of a counting world (from 0 up to 8) which starts where the count is 0."""

    def make(world=None, **settings) -> Drive:
        drive = Drive(world or CountingWorld(1), takes, no_starts(), DriveSettings(**settings))
        drive.start(seed=0)
        return drive

    return make
