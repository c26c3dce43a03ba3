import hashlib
from pathlib import Path

import numpy as np
import pytest

from demoloom.storage import ConfigError, StoreError, ZarrStore, open_dataset
from demoloom.storage.curation import NAMES, count_failing, curate, judge, parse_keep
from demoloom.storage.lerobot_layout import read_codec
from demoloom.storage.quality import read_quality, score_dataset
from demoloom.storage.video import VideoCodec


@pytest.fixture
def store(tmp_path, spec, make_episode):
    """Four episodes of 3, 4, 5 and 6 rows; the last is a failure."""
    store = ZarrStore.create(tmp_path / "all", spec)
    for index in range(3):
        store.append(make_episode(index, 3 + index))
    store.append(make_episode(3, 6, outcome="failure", reason="not solved within 6 steps"))
    return store


def file_hashes(path: Path) -> dict[str, str]:
    files = [file for file in path.rglob("*") if file.is_file()]
    return {str(file): hashlib.sha256(file.read_bytes()).hexdigest() for file in files}


@pytest.mark.parametrize("form", ["zarr", "lerobot"])
def test_every_episode_is_kept_or_rejected_with_all_its_rows(tmp_path, store, same, form):
    curate(store, "length >= 5", tmp_path / "kept", tmp_path / "rejected", form)
    kept, rejected = open_dataset(tmp_path / "kept"), open_dataset(tmp_path / "rejected")
    assert kept.ids() == ["run-000002", "run-000003"]
    assert rejected.ids() == ["run-000000", "run-000001"]
    for dataset in (kept, rejected):
        for episode in dataset:
            before = store.read(episode.id)
            for name in ("state", "action", "score"):
                np.testing.assert_array_equal(getattr(episode, name), getattr(before, name))
            np.testing.assert_array_equal(episode.images["top"], before.images["top"])


def test_the_source_is_untouched(tmp_path, store):
    before = file_hashes(store.path)
    curate(store, "length >= 5", tmp_path / "kept", tmp_path / "rejected", "zarr")
    assert file_hashes(store.path) == before


def test_a_rejected_demonstration_says_why_and_counts_as_none(tmp_path, store):
    curate(store, "length >= 5 and duration_s < 0.55", tmp_path / "kept", tmp_path / "rejected", "zarr")
    rejected = {summary.id: summary for summary in open_dataset(tmp_path / "rejected").summaries()}
    short, failed = rejected["run-000000"], rejected["run-000003"]
    assert (short.outcome, short.is_demonstration) == ("rejected", False)
    assert short.reason == "rejected by curation: length >= 5 does not hold (length = 3)"
    assert failed.outcome == "failure"
    assert failed.reason == (
        "not solved within 6 steps; rejected by curation: duration_s < 0.55 does not hold (duration_s = 0.6)"
    )


def test_lineage_says_by_which_values_an_episode_was_judged(tmp_path, store):
    curate(store, "length >= 4", tmp_path / "kept", tmp_path / "rejected", "zarr")
    for folder, id, length in (("kept", "run-000001", 4), ("rejected", "run-000000", 3)):
        lineage = open_dataset(tmp_path / folder).summary(id).lineage
        assert lineage["edits"] == [{"edit": "curate", "keep": "length >= 4", "values": {"length": length}}]
        assert lineage["source"] == store.summary(id).lineage["source"]


def test_what_is_kept_is_scored_among_itself(tmp_path, store):
    curate(store, "length >= 5", tmp_path / "kept", tmp_path / "rejected", "zarr")
    table = read_quality(tmp_path / "kept")
    assert table == score_dataset(open_dataset(tmp_path / "kept"))
    assert list(table.episodes) == ["run-000002", "run-000003"]


def test_nothing_is_made_for_the_rejected_where_all_are_kept(tmp_path, store):
    curate(store, "length > 0", tmp_path / "kept", tmp_path / "rejected", "lerobot")
    assert len(open_dataset(tmp_path / "kept")) == 4
    assert not (tmp_path / "rejected").exists()


def test_lossy_video_is_not_encoded_anew(tmp_path, store, write_lerobot, spec):
    lossy = VideoCodec(pix_fmt="yuv420p", crf=35)
    write_lerobot(tmp_path / "lossy", spec, store, lossy)
    source = open_dataset(tmp_path / "lossy")
    curate(source, "length >= 5", tmp_path / "kept", tmp_path / "rejected", "lerobot")
    for folder in ("kept", "rejected"):
        for episode in open_dataset(tmp_path / folder):
            np.testing.assert_array_equal(episode.images["top"], source.read(episode.id).images["top"])
        assert read_codec(tmp_path / folder) == lossy


def test_where_nothing_would_be_kept_nothing_is_written(tmp_path, store):
    with pytest.raises(StoreError, match=r"none of 4 episodes meets 'length > 9' \(length > 9: 4\); ask for less"):
        curate(store, "length > 9", tmp_path / "kept", tmp_path / "rejected", "zarr")
    assert [path.name for path in tmp_path.iterdir()] == ["all"]


@pytest.mark.parametrize("name", ["kept", "rejected"])
def test_what_stands_in_the_way_is_named_and_nothing_is_written(tmp_path, store, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "mine").touch()
    with pytest.raises(StoreError, match=f"{name} exists already"):
        curate(store, "length > 3", tmp_path / "kept", tmp_path / "rejected", "zarr")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["all", name])


def test_where_the_kept_cannot_be_written_the_rejected_go_too(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "all", spec)
    store.append(make_episode(0, 3))
    store.append(make_episode(1, 5))
    chunk = next((store.path / "episodes" / "run-000001" / "observation.images.top" / "c").rglob("0"))
    torn = next(file for file in [chunk, *chunk.rglob("*")] if file.is_file())
    torn.write_bytes(torn.read_bytes()[:-9])
    with pytest.raises(StoreError, match="run-000001"):
        curate(store, "length > 3", tmp_path / "kept", tmp_path / "rejected", "zarr")
    assert [path.name for path in tmp_path.iterdir()] == ["all"]


def test_an_unknown_score_suggests_the_nearest():
    with pytest.raises(ConfigError, match="no 'jerk_men' to compare; did you mean 'jerk_mean'"):
        parse_keep("jerk_men < 3")


def test_copies_are_dropped_and_the_first_is_kept(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "copies", spec)
    for index, id in enumerate(["first", "copy", "other"]):
        shown = make_episode(50 if id == "other" else 0)
        store.append(make_episode(index, id=id, state=shown.state, action=shown.action))
    verdicts = judge(store, parse_keep("earlier_distance > 0.001"), score_dataset(store))
    assert [(verdict.id, verdict.is_kept) for verdict in verdicts] == [
        ("first", True), ("copy", False), ("other", True),
    ]  # fmt: skip


def test_each_clause_is_counted(store):
    verdicts = judge(store, parse_keep("length > 3 and outcome == 'success' and length != 6"), score_dataset(store))
    assert count_failing(verdicts) == {"length > 3": 1, "outcome == 'success'": 1, "length != 6": 1}


def test_scores_and_fields_of_the_summary_can_be_named():
    assert NAMES["jerk_mean"] == NAMES["trust_min"] == NAMES["seed"] == "number"
    assert NAMES["outcome"] == NAMES["task"] == "text"
    assert NAMES["success"] == "truth"
    assert "lineage" not in NAMES
