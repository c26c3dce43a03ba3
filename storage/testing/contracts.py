# ruff: noqa: D102 - the name of a test is its claim
"""The test class of a store.

A store's own tests inherit the contract and supply what it asks for:

    class TestMyStore(StoreContract):
        def create(self, path, spec, exist_ok=False):
            return MyStore.create(path, spec, exist_ok=exist_ok)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ..dataset import EpisodeReader, open_dataset
from ..episode import Episode
from ..errors import ConfigError, InvalidEpisode, SpecMismatch, StoreError
from ..recorder import EpisodeStore, digest_of
from ..spec import Camera, EpisodeSpec
from .numbered import assert_same, numbered_episode, numbered_spec

SPEC = numbered_spec()


def _episode(index: int = 0, length: int = 7, **changes: object) -> Episode:
    return numbered_episode(SPEC, index, length, **changes)


class StoreContract(ABC):
    """What every store of episodes promises, as tests; it must keep frames bit for bit."""

    @abstractmethod
    def create(self, path: Path, spec: EpisodeSpec, exist_ok: bool = False) -> EpisodeStore:
        """A new store, or with `exist_ok` the one that is there."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> EpisodeStore:
        return self.create(tmp_path / "store", SPEC)

    def test_an_episode_comes_back_bit_for_bit(self, store: EpisodeStore) -> None:
        assert isinstance(store, EpisodeReader)
        assert store.append(_episode(3))
        assert_same(open_dataset(store.path).read("run-000003"), _episode(3))
        assert_same(store.read("run-000003"), _episode(3))

    @pytest.mark.parametrize("length", [1, 2, 33, 150])
    def test_every_length_round_trips(self, store: EpisodeStore, length: int) -> None:
        episode = _episode(0, length, action=np.zeros((length, 2), np.float32))
        store.append(episode)
        assert_same(store.read(episode.id), episode)

    def test_text_of_any_kind_round_trips(self, store: EpisodeStore) -> None:
        task = 'push "it"\nthen \\ stop 🤖\u2028'
        episode = _episode(task=task, outcome="failure", reason="naïve\u2028", lineage={"größe": [1, None, 0.1, "\n"]})
        store.append(episode)
        assert_same(store.read(episode.id), episode)

    def test_names_with_slashes_and_spaces_are_kept(self, tmp_path: Path) -> None:
        cameras = (Camera("left/wrist", 16, 24), Camera("50% of it", 16, 16))
        spec = replace(SPEC, cameras=cameras, labels={"block / pose": SPEC.labels["pose"]})
        episode = numbered_episode(spec, 0, 3, labels={"block / pose": np.zeros((3, 1), np.float32)})
        store = self.create(tmp_path / "names", spec)
        store.append(episode)
        reader = open_dataset(store.path)
        assert reader.spec == spec
        assert_same(reader.read(episode.id), episode)

    def test_a_red_frame_stays_red_and_other_layouts_are_refused(self, tmp_path: Path) -> None:
        spec = replace(SPEC, cameras=(Camera("top", 2, 3),))
        red = np.zeros((7, 2, 3, 3), np.uint8)
        red[..., 0] = 255
        store = self.create(tmp_path / "red", spec)
        store.append(_episode(images={"top": red}))
        assert store.read("run-000000").images["top"][3, 1, 2].tolist() == [255, 0, 0]
        first = red.transpose(0, 3, 1, 2)
        for frames, remedy in ((first.astype(np.float32) / 255, "channels first"), (red / 255.0, "scale floats")):
            with pytest.raises(InvalidEpisode, match=rf"shape \(7, 2, 3, 3\) \(rows, height, width.*{remedy}"):
                store.append(_episode(1, images={"top": frames}))

    def test_any_rows_can_be_read_alone(self, store: EpisodeStore) -> None:
        store.append(_episode(4, 40))
        rows = store.rows("run-000004", 30, 33)
        assert rows.state[:, 1].tolist() == [30.0, 31.0, 32.0]
        np.testing.assert_array_equal(rows.images["wrist"], _episode(4, 40).images["wrist"][30:33])
        with pytest.raises(StoreError, match=r"has rows 0 \.\. 39, not 39 \.\. 40"):
            store.rows("run-000004", 39, 41)

    def test_columns_are_all_but_the_frames(self, store: EpisodeStore) -> None:
        store.append(_episode(5))
        columns = store.columns("run-000005")
        assert columns["action"].tolist() == [[step, 5.0] for step in range(7)]
        assert columns["next.success"].tolist() == [False] * 6 + [True]

    def test_who_drove_comes_back_and_is_asked_for_by_the_spec_alone(self, tmp_path: Path, store: EpisodeStore) -> None:
        spec = replace(SPEC, intervention=True)
        drove = _episode(intervention=np.array([False] * 5 + [True] * 2))
        told = self.create(tmp_path / "told", spec)
        told.append(drove)
        reader = open_dataset(told.path)
        assert reader.spec == spec
        assert_same(reader.read(drove.id), drove)
        assert reader.rows(drove.id, 4, 6).intervention.tolist() == [False, True]  # type: ignore[union-attr]
        assert reader.columns(drove.id)["intervention"].tolist() == [False] * 5 + [True] * 2
        assert told.digest(drove.id) == digest_of(drove) != digest_of(_episode())
        with pytest.raises(InvalidEpisode, match="its rows do not say who drove; give `intervention`"):
            told.append(_episode(1))
        with pytest.raises(InvalidEpisode, match="say who drove, which this dataset does not keep"):
            store.append(drove)

    def test_the_summary_says_what_the_rows_say(self, store: EpisodeStore) -> None:
        store.append(_episode(4, score=np.array([0, 1, 0, 0, 0, 0, 0.25], np.float32)))
        (summary,) = store.summaries()
        assert summary == store.summary("run-000004")
        assert (summary.score_max, summary.score_last, summary.length, summary.seed) == (1.0, 0.25, 7, 1004)
        assert summary.success
        assert summary.is_demonstration
        assert summary.trust_min == np.float32(0.9)

    def test_the_digest_is_that_of_the_content(self, store: EpisodeStore) -> None:
        store.append(_episode())
        assert store.digest("run-000000") == digest_of(_episode())
        assert store.digest("run-000001") is None
        assert digest_of(_episode(task="another")) != digest_of(_episode())

    def test_the_same_episode_twice_is_stored_once(self, store: EpisodeStore) -> None:
        assert store.append(_episode())
        assert not store.append(_episode())
        assert not store.append(_episode(lineage={"code": "later"}))
        assert len(store) == 1

    def test_other_content_under_the_same_id_is_refused_by_name(self, store: EpisodeStore) -> None:
        store.append(_episode())
        with pytest.raises(StoreError, match=r"'run-000000' .* other content"):
            store.append(_episode(task="another"))
        assert_same(store.read("run-000000"), _episode())

    def test_an_episode_recorded_row_by_row_is_the_one_appended(self, store: EpisodeStore) -> None:
        _record(store, _episode(2, 5))
        assert_same(store.read("run-000002"), _episode(2, 5))
        assert store.digest("run-000002") == digest_of(_episode(2, 5))

    def test_an_episode_recorded_again_is_stored_once(self, store: EpisodeStore) -> None:
        assert _record(store, _episode())
        assert not _record(store, _episode())
        with pytest.raises(StoreError, match=r"'run-000000' .* other content"):
            _record(store, _episode(score=np.zeros(7, np.float32)))
        assert len(store) == 1

    def test_a_discarded_take_leaves_nothing_in_the_next(self, store: EpisodeStore) -> None:
        with store.record("take", index=0, seed=0, task="first try") as recorder:
            recorder.write(_episode(0, 20))
            recorder.discard()
        with store.record("take", index=0, seed=0, task="second try") as recorder:
            recorder.write(_episode(1, 10))
            recorder.commit("success")
        found = store.read("take")
        assert len(found) == 10
        np.testing.assert_array_equal(found.images["top"], _episode(1, 10).images["top"])
        assert _temporary(store.path) == []

    def test_an_episode_is_not_in_the_store_before_it_is_committed(self, store: EpisodeStore) -> None:
        with store.record("one", index=0, seed=0, task="") as recorder:
            recorder.write(_episode())
            assert len(store) == 0
            assert "one" not in store
        assert len(store) == 0
        with pytest.raises(StoreError, match="'one' was committed or discarded before"):
            recorder.write(_episode())

    def test_unfit_rows_are_refused_and_the_episode_goes_on(self, store: EpisodeStore) -> None:
        unfit = _episode(0, 3)
        unfit.action[1, 0] = np.nan
        with store.record("one", index=0, seed=0, task="") as recorder:
            recorder.write(_episode(0, 4))
            with pytest.raises(InvalidEpisode, match="'one': action 'x' is nan at step 5"):
                recorder.write(unfit)
            recorder.write(_episode(0, 2))
            recorder.commit("success")
        assert store.read("one").state[:, 1].tolist() == [0.0, 1.0, 2.0, 3.0, 0.0, 1.0]

    def test_one_buffer_for_every_step_gives_as_many_different_frames(self, store: EpisodeStore) -> None:
        episode, buffer = _episode(0, 100), _episode(0, 1)
        with store.record(episode.id, index=0, seed=episode.seed, task=episode.task) as recorder:
            for step in range(100):
                for name in episode.images:
                    buffer.images[name][:] = episode.images[name][step : step + 1]
                for name in ("state", "action", "reward", "success", "score"):
                    getattr(buffer, name)[:] = getattr(episode, name)[step : step + 1]
                recorder.write(buffer)
            recorder.commit("success", lineage=episode.lineage)
        assert_same(store.read(episode.id), episode)

    def test_buffers_used_again_after_append_do_not_change_what_is_stored(self, store: EpisodeStore) -> None:
        episode = _episode()
        store.append(episode)
        episode.images["top"][:] = 0
        episode.state[:] = 0
        assert_same(store.read(episode.id), _episode())

    def test_an_invalid_episode_is_refused_and_leaves_nothing(self, store: EpisodeStore) -> None:
        for unfit, problem in ((_episode(length=0), "no rows"), (_episode(outcome="failure"), "a reason is needed")):
            with pytest.raises(InvalidEpisode, match=problem):
                store.append(unfit)
        assert len(store) == 0
        assert _temporary(store.path) == []

    def test_creating_twice_needs_exist_ok(self, store: EpisodeStore) -> None:
        store.append(_episode())
        with pytest.raises(StoreError, match="holds a dataset already; add to it with `exist_ok=True`"):
            self.create(store.path, SPEC)
        assert len(self.create(store.path, SPEC, exist_ok=True)) == 1

    def test_a_folder_of_something_else_is_left_alone(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("chapter 1")
        with pytest.raises(StoreError, match="not empty and not a demoloom"):
            self.create(tmp_path, SPEC, exist_ok=True)
        assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]

    def test_resuming_with_another_spec_lists_the_differences(self, store: EpisodeStore) -> None:
        for other, message in (
            (replace(SPEC, fps=20), "fps is 10 here and 20 there"),
            (
                replace(SPEC, cameras=(Camera("side", 16, 16),)),
                "cameras are top 24x16, wrist 16x16 here and side 16x16 there",
            ),
            (replace(SPEC, action=replace(SPEC.action, names=("y", "x"))), "action is x, y here and y, x there"),
            (replace(SPEC, labels={}), r"labels are \['pose'\] here and \[\] there"),
            (replace(SPEC, intervention=True), "intervention does not say who drove here and says who drove there"),
        ):
            with pytest.raises(SpecMismatch, match=message):
                self.create(store.path, other, exist_ok=True)

    def test_an_impossible_spec_makes_no_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"29\.97"):
            self.create(tmp_path / "s", replace(SPEC, fps=29.97))  # type: ignore[arg-type]
        assert not (tmp_path / "s").exists()

    def test_an_empty_store_can_be_opened(self, store: EpisodeStore) -> None:
        reader = open_dataset(store.path)
        assert (len(reader), reader.ids(), list(reader)) == (0, [], [])


def _record(store: EpisodeStore, episode: Episode) -> bool:
    with store.record(episode.id, index=episode.index, seed=episode.seed, task=episode.task) as recorder:
        for step in range(len(episode)):
            recorder.write(episode.rows(step, step + 1))
        return recorder.commit(episode.outcome, episode.reason, episode.lineage)


def _temporary(path: Path) -> list[Path]:
    return list(path.rglob(".tmp-*"))
