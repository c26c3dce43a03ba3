import threading

import pytest

from demoloom.generators.fleet.writer import EpisodeWriter
from demoloom.storage.episode import Episode, EpisodeSummary
from demoloom.storage.errors import InvalidEpisode, StoreError
from demoloom.storage.testing import numbered_episode, numbered_spec
from demoloom.storage.zarr_store import ZarrStore

SPEC = numbered_spec()


class SlowStore(ZarrStore):
    """Stores nothing before the gate is open."""

    gate = threading.Event()

    def append(self, episode):
        self.gate.wait(10)
        return super().append(episode)


def no_refusal(episode, error):
    raise AssertionError(error)


def test_leaving_waits_until_all_are_stored_in_order(tmp_path):
    done: list[EpisodeSummary] = []
    store = ZarrStore.create(tmp_path / "store", SPEC)
    with EpisodeWriter(store, done.append, no_refusal) as writer:
        for index in range(5):
            writer.put(numbered_episode(SPEC, index, 3))
    assert [summary.index for summary in done] == [0, 1, 2, 3, 4]
    assert store.summaries() == done


def test_a_third_episode_waits_for_the_first(tmp_path):
    store = SlowStore.create(tmp_path / "store", SPEC)
    done: list[EpisodeSummary] = []
    put: list[int] = []

    def produce():
        with EpisodeWriter(store, done.append, no_refusal) as writer:
            for index in range(4):
                writer.put(numbered_episode(SPEC, index, 3))
                put.append(index)

    producer = threading.Thread(target=produce)
    producer.start()
    producer.join(0.3)
    assert put == [0, 1]
    SlowStore.gate.set()
    producer.join()
    assert put == [0, 1, 2, 3]
    assert len(done) == 4


def test_an_episode_that_breaks_the_spec_is_told_apart_from_the_others(tmp_path):
    done: list[EpisodeSummary] = []
    refused: list[tuple[Episode, InvalidEpisode]] = []
    whole = numbered_episode(SPEC, 0, 3)
    broken = numbered_episode(SPEC, 1, 3, action=whole.action * float("nan"))
    with EpisodeWriter(
        ZarrStore.create(tmp_path / "store", SPEC), done.append, lambda episode, error: refused.append((episode, error))
    ) as writer:
        for episode in (whole, broken, numbered_episode(SPEC, 2, 3)):
            writer.put(episode)
    assert [summary.index for summary in done] == [0, 2]
    assert [episode.index for episode, _ in refused] == [1]
    assert isinstance(refused[0][1], InvalidEpisode)


def test_what_cannot_be_stored_is_raised_where_episodes_come_from(tmp_path):
    store = ZarrStore.create(tmp_path / "store", SPEC)
    store.append(numbered_episode(SPEC, 0, 3))
    with (
        pytest.raises(StoreError, match="other content"),
        EpisodeWriter(store, lambda summary: None, no_refusal) as writer,
    ):
        writer.put(numbered_episode(SPEC, 0, 5))
