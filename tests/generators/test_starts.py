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
    frames, states = choose_starts(data, 25)
    assert len(frames) == len(states) == 25
    assert states[:5].tolist() == [[episode, 0] for episode in range(5)]
    assert len({tuple(state) for state in states.tolist()}) == 25
    steps = sorted(state[1] for state in states.tolist()[5:])
    assert steps[0] <= 2
    assert steps[-1] >= 17


def test_no_episode_starts_solved(data):
    _, states = choose_starts(data, 1000)
    solved = data.state[data.success]
    assert len(states) == len(data.state) - len(solved)
    assert not {tuple(state) for state in states.tolist()} & {tuple(state) for state in solved.tolist()}


def test_frames_belong_to_their_states(data):
    frames, states = choose_starts(data, 10)
    row = int(np.flatnonzero((data.state == states[7]).all(1))[0])
    np.testing.assert_array_equal(frames[7], data.frames[row])
