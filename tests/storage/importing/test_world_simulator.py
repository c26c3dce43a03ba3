import h5py
import numpy as np
import pytest

from demoloom.storage import ConfigError, StoreError, open_dataset
from demoloom.storage.importing.foreign import ImportSettings
from demoloom.storage.importing.run import find_kind, import_dataset


@pytest.fixture
def episodes(tmp_path, numbered, frames):
    """`train/episode_2.hdf5` and `train/episode_10.hdf5` of 4 rows, as its robots record; `change` alters each."""

    def episodes(change=None):
        folder = tmp_path / "train"
        folder.mkdir(exist_ok=True)
        for index in (2, 10):
            with h5py.File(folder / f"episode_{index}.hdf5", "w") as file:
                file["timestamp"] = 1.7e9 + np.arange(4) / 10 + 0.004 * np.array([0, 1, -1, 0])
                file["action"] = numbered(index, 4, 4)
                file["joint_action"] = numbered(index, 4, 14)
                file["obs/joint_pos"] = numbered(index, 4, 14)
                file["obs/ee_pos"] = np.tile(np.eye(4), (4, 2, 1, 1))
                file["obs/images/camera_0_color"] = frames(index, 4)
                file["obs/images/camera_1_color"] = frames(index + 1, 4)
                file["obs/images/camera_0_depth"] = np.zeros((4, 6, 8), np.uint16)
                file["obs/images/camera_0_intrinsics"] = np.tile(np.eye(3), (4, 1, 1))
                if change is not None:
                    change(file)
        return folder

    return episodes


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_every_file_becomes_an_episode_with_all_its_colour_cameras(tmp_path, episodes, form):
    import_dataset(episodes(), tmp_path / "out", form)
    out = open_dataset(tmp_path / "out")
    assert out.ids() == ["train-episode_2", "train-episode_10"]
    assert [camera.name for camera in out.spec.cameras] == ["camera_0", "camera_1"]
    assert (out.spec.fps, out.spec.robot_type, out.spec.state.size) == (10, "aloha", 14)
    episode = out.read("train-episode_10")
    assert episode.images["camera_0"][:, 0, 0, 0].tolist() == [100, 101, 102, 103]
    assert episode.images["camera_1"][:, 0, 0, 0].tolist() == [110, 111, 112, 113]
    np.testing.assert_array_equal(episode.action[:, 0], np.array([1 + t / 100 for t in range(4)], np.float32))
    assert episode.lineage["source"]["file"] == "episode_10.hdf5"


def test_the_state_of_mujoco_is_a_label_and_matrices_lie_flat(tmp_path, episodes, numbered):
    def as_mujoco(file):
        del file["timestamp"]
        file["env_state"] = numbered(0, 4, 7)

    settings = ImportSettings(state=("obs/joint_pos", "obs/ee_pos"))
    import_dataset(episodes(as_mujoco), tmp_path / "out", "zarr", settings)
    spec = open_dataset(tmp_path / "out").spec
    assert spec.labels["env_state"].size == 7
    assert spec.state.size == 14 + 2 * 4 * 4


def test_what_its_world_recorded_has_no_state_but_may_take_the_action_before(tmp_path, episodes, numbered):
    def as_world(file):
        for name in ("timestamp", "joint_action", "obs/joint_pos", "obs/ee_pos", "action"):
            del file[name]
        file["action"] = numbered(2, 4, 4)[:, None]  # (T, 1, A) from the keyboard

    folder = episodes(as_world)
    with pytest.raises(ConfigError, match="--state-from-action"):
        import_dataset(folder, tmp_path / "out", "zarr")
    import_dataset(folder, tmp_path / "out", "zarr", ImportSettings(state_from_action=True))
    episode = open_dataset(tmp_path / "out").read("train-episode_2")
    np.testing.assert_array_equal(episode.action[:, 0], np.array([0.2, 0.21, 0.22, 0.23], np.float32))
    np.testing.assert_array_equal(episode.state[:, 0], np.array([0.2, 0.2, 0.21, 0.22], np.float32))


def test_a_clock_that_ran_at_another_rate_is_refused(tmp_path, episodes):
    def slow(file):
        file["timestamp"][:] = np.arange(4) / 5

    with pytest.raises(StoreError, match=r"episode_2.hdf5 was recorded at 5.00 rows a second by its clock"):
        import_dataset(episodes(slow), tmp_path / "out", "zarr")


def test_an_episode_of_another_shape_is_refused_by_name(tmp_path, episodes):
    folder = episodes()
    with h5py.File(folder / "episode_10.hdf5", "a") as file:
        del file["obs/images/camera_1_color"]
        file["obs/images/camera_1_color"] = np.zeros((4, 6, 9, 3), np.uint8)
    with pytest.raises(ValueError, match=r"episode 'train-episode_10': camera 'camera_1' needs RGB frames"):
        import_dataset(folder, tmp_path / "out", "zarr")
    assert not (tmp_path / "out").exists()


def test_its_episodes_are_known_by_their_layout(tmp_path, episodes):
    assert find_kind(episodes()) == "world-simulator"
    assert find_kind(tmp_path / "train" / "episode_2.hdf5") == "world-simulator"
    with pytest.raises(StoreError, match="nothing that can be imported"):
        find_kind(tmp_path)
    with pytest.raises(StoreError, match=r"there is nothing at .*/nowhere to import"):
        find_kind(tmp_path / "nowhere")
