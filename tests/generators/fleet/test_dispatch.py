"""Whom the driver hands what; that it mends what deaths break is tested with real workers."""

import pytest

from demoloom.generators.fleet import FleetConfig
from demoloom.generators.fleet.dispatch import Dispatch
from demoloom.generators.fleet.hands import Call, Hand
from demoloom.generators.fleet.supply import Fixed
from demoloom.storage.progress import silent


class NotedHands(list):
    """Workers without actors, whose calls are only noted."""

    def send(self, hand, batch):
        hand.calls.append(Call(batch, None))


@pytest.fixture
def handed(counting_plan, tmp_path, monkeypatch):
    """Gives 8 episodes to hands, of which some have started; the indices that each then has."""

    def give(*started):
        plan = counting_plan()
        supply = Fixed(plan, range(8), [])
        dispatch = Dispatch([plan], tmp_path / "store", supply, FleetConfig(num_workers=len(started)), silent)
        hands = NotedHands(Hand(None, worker, 0, ready) for worker, ready in enumerate(started))
        monkeypatch.setattr(dispatch, "_hands", hands)
        dispatch._hand_out()
        return [[call.batch.indices for call in hand.calls] for hand in hands]

    return give


def test_a_worker_that_is_first_leaves_the_others_their_part(handed):
    assert handed(True, False) == [[[0, 1]], []]


def test_all_workers_are_busy_before_one_gets_a_call_to_wait(handed):
    assert handed(True, True) == [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]


def test_a_worker_has_two_batches_of_its_slots_ahead(handed):
    assert handed(True) == [[[0, 1], [2, 3]]]
