from dataclasses import replace

import numpy as np
import pytest

from demoloom.generators.learned.interaction import collect_rows
from demoloom.generators.learned.starts import choose_starts
from demoloom.storage.testing import numbered_episode, numbered_spec


@pytest.fixture(scope="module")
def data():
    spec = numbered_spec()
    spec = replace(spec, cameras=spec.cameras[1:])
    return collect_rows(spec, [numbered_episode(spec, index, 20) for index in range(5)])


def test_starts_are_the_first_frames_of_episodes_and_then_others_all_different(data):
    rows = choose_starts(data, 25)
    assert rows[:5].tolist() == [0, 20, 40, 60, 80]
    assert len(set(rows.tolist())) == 25
    steps = sorted(rows[5:] % 20)
    assert steps[0] <= 2
    assert steps[-1] >= 17


def test_no_episode_starts_solved(data):
    rows = choose_starts(data, 1000)
    assert sorted(rows.tolist()) == np.flatnonzero(~data.success).tolist()
