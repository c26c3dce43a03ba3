import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.storage import ConfigError, ZarrStore, open_dataset
from demoloom.storage.lerobot_layout import read_codec
from demoloom.storage.testing import numbered_spec
from demoloom.storage.trim import Cut, TrimSettings, busy_rows, find_cuts, trim
from demoloom.storage.video import LOSSLESS, VideoCodec

LOSSY = VideoCodec(pix_fmt="yuv420p", crf=35)
NONE_KEPT = TrimSettings(keep=0)


def column(*values: float) -> np.ndarray:
    """(T, 2) float32: the values in the first of two dimensions of 0 .. 100."""
    return np.stack([values, np.zeros(len(values))], 1).astype(np.float32)


@pytest.fixture
def put(tmp_path, spec, make_episode):
    """Store one episode of given states, in which nothing else changes, and open it."""
    store = ZarrStore.create(tmp_path / "zarr", spec)

    def put(state: np.ndarray, **changes: np.ndarray) -> ZarrStore:
        length = len(state)
        still = {
            "action": np.zeros((length, 2), np.float32),
            "score": np.zeros(length, np.float32),
            "success": np.zeros(length, bool),
        }
        store.append(make_episode(0, length, state=state, **(still | changes)))
        return store

    return put


def test_idle_ends_go_and_the_rows_of_every_move_stay(put):
    # It moves from row 2 to row 3 and from row 3 to row 4.
    store = put(column(5, 5, 5, 20, 40, 40, 40, 40))
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 2, 5, 8)]


def test_so_many_idle_steps_stay_at_each_end(put):
    store = put(column(5, 5, 5, 20, 40, 40, 40, 40))
    assert list(find_cuts(store, TrimSettings(keep=1))) == [Cut("run-000000", 1, 6, 8)]
    assert list(find_cuts(store, TrimSettings(keep=9))) == [Cut("run-000000", 0, 8, 8)]


def test_idle_steps_in_the_middle_stay(put):
    store = put(column(5, 20, 20, 20, 20, 40))
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 0, 6, 6)]


def test_a_step_is_idle_below_the_threshold_in_ranges_a_second(put):
    # 0.05 of 100 a step at 10 Hz is 0.005 ranges a second, 0.5 a step ten times that.
    store = put(column(0, 0.05, 0.1, 0.6, 1.1, 1.1))
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 2, 5, 6)]
    assert list(find_cuts(store, TrimSettings(idle_speed=0.001, keep=0))) == [Cut("run-000000", 0, 5, 6)]


def test_a_command_that_changes_is_no_idle_step(put):
    store = put(column(5, 5, 5, 5, 5, 5), action=column(0, 0, 9, 9, 9, 9))
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 1, 3, 6)]


def test_the_step_that_solves_the_task_stays_though_nothing_moves(put):
    solved = np.array([False, False, False, False, True, True])
    store = put(column(5, 20, 20, 20, 20, 20), success=solved)
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 0, 5, 6)]


def test_a_score_that_still_changes_stays(put):
    store = put(column(5, 20, 20, 20, 20, 20), score=np.array([0, 0, 0, 0.5, 0.5, 0.5], np.float32))
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 0, 4, 6)]


@pytest.mark.parametrize("length", [1, 2, 5])
def test_an_episode_that_is_idle_from_end_to_end_stays_whole(put, length):
    store = put(column(*[5] * length))
    assert list(find_cuts(store, NONE_KEPT)) == [Cut("run-000000", 0, length, length)]


@pytest.mark.parametrize("form", ["zarr", "lerobot"])
def test_a_trimmed_copy_has_the_rows_that_stay_and_says_what_was_cut(tmp_path, put, form):
    source = put(column(5, 5, 5, 20, 40, 40, 40, 40))
    cuts = trim(source, tmp_path / "out", form, TrimSettings(keep=1))
    (before,), (after,) = source, open_dataset(tmp_path / "out")
    assert [cut.num_cut for cut in cuts] == [3]
    assert after.state[:, 0].tolist() == [5, 5, 20, 40, 40]
    np.testing.assert_array_equal(after.images["top"], before.images["top"][1:6])
    assert after.lineage["edits"] == [
        {"edit": "trim", "idle_speed": 0.01, "keep": 1, "rows": {"start": 1, "stop": 6, "length": 8}}
    ]
    assert len(source.read("run-000000")) == 8


@pytest.mark.parametrize(("state", "codec"), [(column(5, 20, 40), LOSSY), (column(5, 5, 5, 5, 20), LOSSLESS)])
def test_lossy_video_is_copied_where_nothing_is_cut_and_else_kept_exactly(tmp_path, put, write_lerobot, state, codec):
    episodes = put(state)
    write_lerobot(tmp_path / "lossy", episodes.spec, episodes, LOSSY)
    source = open_dataset(tmp_path / "lossy")
    (cut,) = trim(source, tmp_path / "out", "lerobot", TrimSettings(keep=0))
    (before,), (after,) = source, open_dataset(tmp_path / "out")
    np.testing.assert_array_equal(after.images["top"], before.images["top"][cut.start : cut.stop])
    assert read_codec(tmp_path / "out") == codec


@given(st.lists(st.sampled_from([0.0, 0.0, 0.05, 5.0]), max_size=12), st.integers(0, 4))
def test_no_move_is_ever_cut_and_no_more_than_the_ends(moves, keep):
    # At 10 Hz and a range of 100, a move of 0.05 is idle and one of 5 is not.
    length = len(moves) + 1
    columns = {
        "observation.state": column(*np.cumsum([0.0, *moves])),
        "action": np.zeros((length, 2), np.float32),
        "next.score": np.zeros(length, np.float32),
        "next.success": np.zeros(length, bool),
    }
    start, stop = busy_rows(columns, numbered_spec(), TrimSettings(keep=keep))
    busy = [step for step, move in enumerate(moves) if move == 5.0]
    if busy:
        assert (start, stop) == (max(0, busy[0] - keep), min(length, busy[-1] + 2 + keep))
    else:
        assert (start, stop) == (0, length)


def test_an_episode_without_idle_ends_keeps_its_lineage(tmp_path, put, same):
    source = put(column(5, 20, 40))
    trim(source, tmp_path / "out", "zarr", TrimSettings())
    same(open_dataset(tmp_path / "out").read("run-000000"), source.read("run-000000"))


@pytest.mark.parametrize(("name", "value"), [("idle_speed", -0.1), ("keep", -1)])
def test_settings_out_of_range_are_named(name, value):
    with pytest.raises(ConfigError, match=f"{name} must be at least 0, got {value}"):
        TrimSettings(**{name: value})
