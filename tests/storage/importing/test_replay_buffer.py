import shutil

import numpy as np
import pytest
import zarr

from demoloom.storage import ConfigError, StoreError, hash_folder, open_dataset
from demoloom.storage.importing.foreign import ImportSettings
from demoloom.storage.importing.run import find_kind, import_dataset

FPS = ImportSettings(fps=10)


@pytest.fixture
def buffer(tmp_path, numbered, frames):
    """Two episodes of 3 and 5 rows as in diffusion_policy's PushT: zarr version 2, frames as floats of 0 .. 255."""

    def buffer(dtype=np.float32, scale=1, ends=(3, 8), beyond=0, without=()):
        path = tmp_path / "pusht.zarr"
        group = zarr.open_group(path, mode="w", zarr_format=2)
        arrays = {
            "img": (np.concatenate([frames(0, 3), frames(1, 5 + beyond)]) * scale).astype(dtype),
            "state": np.concatenate([numbered(0, 3, 5), numbered(1, 5 + beyond, 5)]).astype(np.float32),
            "action": np.concatenate([numbered(2, 3, 2), numbered(3, 5 + beyond, 2)]).astype(np.float32),
            "n_contacts": np.ones((8 + beyond, 1), np.float32),
        }
        for name, values in arrays.items():
            if name not in without:
                group.create_array(f"data/{name}", data=values, chunks=(4, *values.shape[1:]))
        group.create_array("meta/episode_ends", data=np.asarray(ends, np.int64))
        return path

    return buffer


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_each_episode_has_the_rows_up_to_its_end(tmp_path, buffer, form):
    import_dataset(buffer(), tmp_path / "out", form, FPS)
    out = open_dataset(tmp_path / "out")
    assert out.ids() == ["pusht-000000", "pusht-000001"]
    assert [len(episode) for episode in out] == [3, 5]
    episode = out.read("pusht-000001")
    assert episode.images["img"][:, 5, 7].tolist() == [[10 + t, 0, 0] for t in range(5)]
    np.testing.assert_array_equal(episode.action[:, 0], np.array([0.3 + t / 100 for t in range(5)], np.float32))
    np.testing.assert_array_equal(episode.state[:, 0], np.array([0.1 + t / 100 for t in range(5)], np.float32))


@pytest.mark.parametrize(("dtype", "scale"), [(np.uint8, 1), (np.float32, 1), (np.float64, 1 / 255)])
def test_frames_of_every_type_are_the_same(tmp_path, buffer, dtype, scale):
    import_dataset(buffer(dtype, scale), tmp_path / "out", "zarr", FPS)
    assert open_dataset(tmp_path / "out").read("pusht-000001").images["img"][4, 0, 0].tolist() == [14, 0, 0]


def test_rows_beyond_the_last_end_are_of_no_episode(tmp_path, buffer):
    import_dataset(buffer(beyond=2), tmp_path / "out", "zarr", FPS)
    assert [len(episode) for episode in open_dataset(tmp_path / "out")] == [3, 5]


def test_nothing_says_whether_it_was_solved_unless_the_user_does(tmp_path, buffer):
    path = buffer()
    import_dataset(path, tmp_path / "out", "zarr", FPS)
    summary = open_dataset(tmp_path / "out").summaries()[0]
    assert (summary.outcome, summary.reason) == ("failure", "the file does not say whether the task was solved")
    assert summary.lineage["source"]["sha256"] == hash_folder(path)
    settings = ImportSettings(fps=10, solved=True, task="push the T")
    import_dataset(path, tmp_path / "solved", "zarr", settings)
    episode = open_dataset(tmp_path / "solved").read("pusht-000001")
    assert (episode.outcome, episode.task) == ("success", "push the T")
    assert episode.success.tolist() == [False] * 4 + [True]
    assert episode.score.tolist() == [0, 0, 0, 0, 1]


def test_agent_and_block_of_the_state_can_be_told_apart(tmp_path, buffer):
    settings = ImportSettings(fps=10, state=("state[:2]",), labels={"block": "state[2:5]"})
    import_dataset(buffer(), tmp_path / "out", "zarr", settings)
    spec = open_dataset(tmp_path / "out").spec
    assert spec.state.names == ("state_0", "state_1")
    assert spec.labels["block"].names == ("state_2", "state_3", "state_4")


def test_a_zip_file_is_read_as_the_folder_is(tmp_path, buffer):
    path = buffer()
    shutil.make_archive(str(path), "zip", path)
    assert find_kind(tmp_path / "pusht.zarr.zip") == "replay-buffer"
    import_dataset(tmp_path / "pusht.zarr.zip", tmp_path / "out", "zarr", FPS)
    assert open_dataset(tmp_path / "out").ids() == ["pusht-000000", "pusht-000001"]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"ends": (3, 9)}, "data/.* has 8 rows, the episodes have 9; it was cut"),
        ({"ends": (5, 3)}, r"must rise from 1 on and hold an episode, got \[5, 3\]"),
        ({"ends": ()}, r"must rise from 1 on and hold an episode, got \[\]"),
        ({"without": ("action",)}, "has no data/action"),
    ],
)
def test_episodes_that_do_not_add_up_are_refused(tmp_path, buffer, change, match):
    with pytest.raises(StoreError, match=match):
        import_dataset(buffer(**change), tmp_path / "out", "zarr", FPS)
    assert not (tmp_path / "out").exists()


def test_a_rate_and_a_state_are_needed(tmp_path, buffer):
    with pytest.raises(ConfigError, match="does not say its rate"):
        import_dataset(buffer(), tmp_path / "out", "zarr")
    with pytest.raises(ConfigError, match="nothing that the robot reports of itself"):
        import_dataset(buffer(without=("state",)), tmp_path / "out", "zarr", FPS)


def test_a_folder_that_only_looks_like_one_is_refused(tmp_path):
    (tmp_path / "odd.zarr" / "meta" / "episode_ends").mkdir(parents=True)
    with pytest.raises(StoreError, match=r"cannot read .*odd.zarr as a Zarr group"):
        import_dataset(tmp_path / "odd.zarr", tmp_path / "out", "zarr", FPS)
