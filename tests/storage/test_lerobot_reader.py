import json
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest

from demoloom.storage import EpisodeReader, StoreError, open_dataset
from demoloom.storage.audit import audit


@pytest.fixture
def dataset(tmp_path, spec, make_episode, write_lerobot):
    write_lerobot(tmp_path / "d", spec, [make_episode(0), make_episode(1, 3), make_episode(2, 5)])
    return tmp_path / "d"


def edit_json(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def make_foreign(dataset, *dropped):
    """Take away all that only demoloom writes, and the columns named."""
    shutil.rmtree(dataset / "meta" / "demoloom")
    file = dataset / "data/chunk-000/file-000.parquet"
    table = pq.ParquetFile(file).read().drop_columns(list(dropped))
    pq.write_table(table, file)
    info = json.loads((dataset / "meta/info.json").read_text())
    edit_json(dataset / "meta/info.json", features={k: v for k, v in info["features"].items() if k not in dropped})


def test_a_dataset_is_an_episode_reader(dataset):
    reader = open_dataset(dataset)
    assert isinstance(reader, EpisodeReader)
    assert len(reader) == 3
    assert reader.ids() == ["run-000000", "run-000001", "run-000002"]


def test_summaries_need_no_frames(dataset):
    shutil.rmtree(dataset / "videos")
    assert [summary.length for summary in open_dataset(dataset).summaries()] == [7, 3, 5]


def test_columns_need_no_frames(dataset):
    shutil.rmtree(dataset / "videos")
    columns = open_dataset(dataset).columns("run-000001")
    assert columns["action"].tolist() == [[t, 1] for t in range(3)]
    assert columns["next.success"].tolist() == [False, False, True]


def test_a_dataset_of_someone_else_gets_names_bounds_and_defaults(dataset, make_episode):
    make_foreign(dataset, "next.reward", "next.success", "next.score", "wm.trust", "label.pose")
    reader = open_dataset(dataset)
    assert reader.spec.action.names == ("x", "y")
    assert (reader.spec.action.low, reader.spec.action.high) == ((0.0, 0.0), (6.0, 2.0))
    assert reader.spec.labels == {}
    assert reader.ids() == ["d-000000", "d-000001", "d-000002"]
    episode = reader.read("d-000001")
    np.testing.assert_array_equal(episode.images["wrist"], make_episode(1, 3).images["wrist"])
    assert episode.task == "push the block"
    assert not episode.success.any()
    assert episode.score.tolist() == [0, 0, 0]
    assert episode.trust.tolist() == [1, 1, 1]
    assert (episode.outcome, episode.reason) == ("failure", "the dataset has no next.success")


def test_success_and_reward_of_someone_else_become_success_and_score(dataset):
    make_foreign(dataset, "next.score", "wm.trust", "label.pose")
    episode = open_dataset(dataset).read("d-000001")
    assert episode.success.tolist() == [False, False, True]
    assert episode.score.tolist() == [0, 1, 1]  # the rewards are 0, 1, 2
    assert episode.outcome == "success"


def test_columns_that_lerobot_carried_along_are_read_without_the_sidecar(dataset):
    make_foreign(dataset)
    episode = open_dataset(dataset).read("d-000000")
    assert episode.trust[0] == np.float32(0.9)
    assert episode.labels["pose"].tolist() == [[-0.5]] * 7


def test_columns_named_almost_like_ours_are_passed_over(dataset, make_episode):
    make_foreign(dataset)
    file = dataset / "data/chunk-000/file-000.parquet"
    table = pq.ParquetFile(file).read()
    info = json.loads((dataset / "meta/info.json").read_text())
    stats = json.loads((dataset / "meta/stats.json").read_text())
    for name, like in (("action_extra", "action"), ("observation.image_quality", "next.reward")):
        table = table.append_column(name, table[like])
        info["features"][name], stats[name] = info["features"][like], stats[like]
    pq.write_table(table, file)
    edit_json(dataset / "meta/info.json", features=info["features"])
    edit_json(dataset / "meta/stats.json", **stats)
    reader = open_dataset(dataset)
    assert [camera.name for camera in reader.spec.cameras] == ["top", "wrist"]
    np.testing.assert_array_equal(reader.read("d-000000").action, make_episode().action)
    assert audit(dataset).findings == ()


def test_names_grouped_under_a_key_are_read(dataset):
    make_foreign(dataset)
    features = json.loads((dataset / "meta/info.json").read_text())["features"]
    features["action"]["names"] = {"motors": ["pan", "lift"]}
    features["observation.state"]["names"] = None
    edit_json(dataset / "meta/info.json", features=features)
    spec = open_dataset(dataset).spec
    assert spec.action.names == ("pan", "lift")
    assert spec.state.names == ("observation.state_0", "observation.state_1")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codebase_version": "v2.1"}, "version v2.1, demoloom reads v3.x; convert it with"),
        ({"features": {"action": {}}}, "no column 'observation.state'"),
    ],
)
def test_a_dataset_that_cannot_be_read_is_refused_with_the_remedy(dataset, changes, message):
    make_foreign(dataset)
    edit_json(dataset / "meta/info.json", **changes)
    with pytest.raises(StoreError, match=message):
        open_dataset(dataset)


def test_a_camera_of_another_dtype_is_refused_with_the_remedy(dataset):
    make_foreign(dataset)
    features = json.loads((dataset / "meta/info.json").read_text())["features"]
    features["observation.images.top"]["dtype"] = "float32"
    edit_json(dataset / "meta/info.json", features=features)
    with pytest.raises(StoreError, match="must be of dtype video or image"):
        open_dataset(dataset)


def test_a_dataset_whose_writer_was_killed_is_named(dataset):
    shutil.rmtree(dataset / "meta" / "episodes")
    with pytest.raises(StoreError, match="stopped before it finished"):
        open_dataset(dataset)


def test_a_torn_data_file_is_named(dataset):
    file = dataset / "data/chunk-000/file-000.parquet"
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StoreError, match=r"cannot read .*file-000\.parquet"):
        open_dataset(dataset).read("run-000000")


def test_rows_stamped_at_another_rate_are_named(dataset):
    make_foreign(dataset)
    edit_json(dataset / "meta/info.json", fps=15)
    with pytest.raises(StoreError, match=r"row 1 of episode 0 is stamped 0\.1000 s, at 15 fps it must be 0\.0667 s"):
        open_dataset(dataset).read("d-000000")


def test_a_sidecar_that_no_longer_fits_is_named(dataset):
    lines = (dataset / "meta/demoloom/episodes.jsonl").read_text().splitlines()
    (dataset / "meta/demoloom/episodes.jsonl").write_text(lines[0] + "\n")
    with pytest.raises(StoreError, match="does not fit the episodes"):
        open_dataset(dataset)


def test_an_unknown_id_is_named(dataset):
    with pytest.raises(StoreError, match="no episode 'nobody'"):
        open_dataset(dataset).read("nobody")


def cut(file):
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


@pytest.mark.parametrize("name", ["meta/episodes/chunk-000/file-000.parquet", "meta/demoloom/episodes.jsonl"])
def test_a_file_cut_short_is_named(dataset, name):
    cut(dataset / name)
    with pytest.raises(StoreError, match=f"cannot read .*{name}"):
        open_dataset(dataset)


def test_a_sidecar_without_its_episodes_is_named(dataset):
    (dataset / "meta/demoloom/episodes.jsonl").unlink()
    with pytest.raises(StoreError, match=r"episodes.jsonl.*or delete the folder .*meta/demoloom"):
        open_dataset(dataset)


def test_a_spec_that_describes_nothing_is_named(dataset):
    (dataset / "meta/demoloom/spec.json").write_text("{}")
    with pytest.raises(StoreError, match=r"spec.json describes no episodes .*fps.*restore"):
        open_dataset(dataset)


@pytest.mark.parametrize(
    ("name", "value", "fault"),
    [
        ("features", {}, "has no features"),
        ("fps", 0, "has no fps"),
        ("fps", "ten", "has fps 'ten'"),
        ("fps", 9.5, "has fps 9.5"),
    ],
)
def test_an_info_that_cannot_be_used_says_what_is_wrong(dataset, name, value, fault):
    edit_json(dataset / "meta/info.json", **{name: value})
    with pytest.raises(StoreError, match=f"info.json {fault}"):
        open_dataset(dataset)
