import json

import h5py
import numpy as np
import pytest

from demoloom.storage import ConfigError, DemoloomError, StoreError, Vector, open_dataset
from demoloom.storage.importing.foreign import ImportSettings
from demoloom.storage.importing.robomimic import is_robomimic
from demoloom.storage.importing.run import find_kind, import_dataset
from demoloom.storage.lineage import hash_file

ENV = {
    "env_name": "Lift",
    "type": 1,
    "env_kwargs": {"robots": ["Panda"], "control_freq": 20, "camera_names": ["agentview"]},
}


@pytest.fixture
def robomimic(tmp_path, numbered, frames):
    """Two episodes as robomimic's own image datasets have them; `change` may alter the open file."""

    def robomimic(change=None, env=ENV):
        path = tmp_path / "lift.hdf5"
        with h5py.File(path, "w") as file:
            data = file.create_group("data")
            data.attrs["env_args"] = json.dumps(env)
            data.attrs["total"] = 12
            for index, length in ((0, 5), (10, 7)):  # as text, demo_10 sorts before demo_2
                demo = data.create_group(f"demo_{index}")
                demo.attrs["num_samples"] = length
                demo["actions"] = numbered(index, length, 7) - 1
                demo["states"] = numbered(index, length, 32)
                demo["rewards"] = (np.arange(length) == length - 1).astype(float) * (index == 0)
                demo["dones"] = (np.arange(length) == length - 1).astype(int)
                for group, first in (("obs", 0), ("next_obs", 1)):
                    seen = demo.create_group(group)
                    seen["agentview_image"] = frames(index, length + 1)[first : first + length]
                    seen["object"] = numbered(index, length + 1, 10)[first : first + length]
                    for name, size in (("eef_quat", 4), ("eef_pos", 3), ("gripper_qpos", 2), ("joint_pos", 7)):
                        seen[f"robot0_{name}"] = numbered(index, length + 1, size)[first : first + length]
            if change is not None:
                change(data)
        return path

    return robomimic


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_every_row_of_every_episode_is_where_it_was(tmp_path, robomimic, form):
    path = robomimic()
    assert import_dataset(path, tmp_path / "out", form) == 2
    out = open_dataset(tmp_path / "out")
    assert out.ids() == ["lift-demo_0", "lift-demo_10"]
    episode = out.read("lift-demo_10")
    assert (episode.index, episode.task, len(episode)) == (10, "Lift", 7)
    assert episode.images["agentview"][:, 0, 0].tolist() == [[100 + t, 0, 0] for t in range(7)]
    np.testing.assert_array_equal(episode.state[:, 0], np.array([1 + t / 100 for t in range(7)], np.float32))
    np.testing.assert_array_equal(episode.action[:, 0], np.array([t / 100 for t in range(7)], np.float32))
    np.testing.assert_array_equal(episode.labels["object"][:, 0], np.array([1 + t / 100 for t in range(7)], np.float32))


def test_rate_robot_and_bounds_come_from_the_file(tmp_path, robomimic):
    import_dataset(robomimic(), tmp_path / "out", "zarr")
    spec = open_dataset(tmp_path / "out").spec
    assert (spec.fps, spec.robot_type) == (20, "panda")
    assert spec.action == Vector(tuple(f"actions_{dim}" for dim in range(7)), (-1.0,) * 7, (1.0,) * 7)
    assert spec.state.names == (
        *(f"robot0_eef_pos_{dim}" for dim in range(3)),
        *(f"robot0_eef_quat_{dim}" for dim in range(4)),
        *(f"robot0_gripper_qpos_{dim}" for dim in range(2)),
    )
    assert spec.state.high[0] == pytest.approx(1.06)
    assert spec.labels["object"].size == 10


def test_an_episode_is_solved_by_its_reward_and_says_where_it_came_from(tmp_path, robomimic):
    path = robomimic()
    import_dataset(path, tmp_path / "out", "zarr")
    solved, failed = open_dataset(tmp_path / "out").summaries()
    assert (solved.outcome, solved.reason, solved.score_last) == ("success", "", 1.0)
    assert (failed.outcome, failed.reason) == ("failure", "the task was not solved")
    expected = {"format": "robomimic", "file": "lift.hdf5", "sha256": hash_file(path).hex(), "key": "data/demo_0"}
    assert solved.lineage == {"source": expected}


def test_the_observation_after_the_last_action_is_left_out(tmp_path, robomimic, frames, numbered):
    def one_more(data):
        del data["demo_0"]["obs"], data["demo_0"]["next_obs"]
        data["demo_0"]["obs/agentview_image"] = frames(0, 6)
        data["demo_0"]["obs/object"] = numbered(0, 6, 10)
        for name, size in (("eef_pos", 3), ("eef_quat", 4), ("gripper_qpos", 2)):
            data["demo_0"][f"obs/robot0_{name}"] = numbered(0, 6, size)

    import_dataset(robomimic(one_more), tmp_path / "out", "zarr")
    episode = open_dataset(tmp_path / "out").read("lift-demo_0")
    assert len(episode) == 5
    assert episode.images["agentview"][:, 0, 0, 0].tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (
            lambda data: data["demo_0"].attrs.create("num_samples", 9),
            "demo_0 of lift.hdf5 has 5 actions and says 9",
        ),
        (
            lambda data: _cut(data["demo_10/obs"], "agentview_image", 6),
            "7 rows of actions and 6 of obs/agentview",
        ),
        (lambda data: _cut(data["demo_10"], "rewards", 6), "7 rows of actions and 6 of rewards, expected 7"),
        (
            lambda data: data["demo_10/obs"].pop("robot0_eef_pos"),
            "of lift.hdf5 has no 'obs/robot0_eef_pos'",
        ),
        (lambda data: data.attrs.modify("env_args", "{env"), "env_args of /data in .* is no JSON"),
        (lambda data: _same_row(data["demo_0"]), "next_obs/.* is the observation of the same row"),
        (lambda data: [data.pop(name) for name in list(data)], "has no episodes"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_written(tmp_path, robomimic, change, match):
    with pytest.raises(StoreError, match=match):
        import_dataset(robomimic(change), tmp_path / "out", "zarr", kind="robomimic")
    assert not (tmp_path / "out").exists()


def _cut(group, name, length):
    values = group[name][:length]
    del group[name]
    group[name] = values


def _same_row(demo):
    del demo["next_obs"]
    demo.copy("obs", demo, name="next_obs")


def test_channels_first_becomes_channels_last_and_blue_first_becomes_red_first(tmp_path, robomimic):
    def turn(data):
        for demo in data.values():
            values = np.moveaxis(demo["obs/agentview_image"][:][..., ::-1], -1, 1)
            del demo["obs/agentview_image"]
            demo["obs/agentview_image"] = values

    import_dataset(robomimic(turn), tmp_path / "out", "zarr", ImportSettings(blue_first=True))
    episode = open_dataset(tmp_path / "out").read("lift-demo_10")
    assert episode.images["agentview"].shape == (7, 6, 8, 3)
    assert episode.images["agentview"][3, 0, 0].tolist() == [103, 0, 0]


def test_what_makes_the_state_can_be_said(tmp_path, robomimic):
    settings = ImportSettings(
        fps=10,
        task="lift the cube",
        state=("obs/robot0_joint_pos[:2]", "obs/robot0_gripper_qpos[1:]"),
        labels={"cube": "obs/object[0:3]"},
        cameras={"front": "obs/agentview_image"},
    )
    import_dataset(robomimic(), tmp_path / "out", "zarr", settings)
    out = open_dataset(tmp_path / "out")
    assert out.spec.fps == 10
    assert out.spec.state.names == ("robot0_joint_pos_0", "robot0_joint_pos_1", "robot0_gripper_qpos_1")
    assert out.spec.labels["cube"].size == 3
    assert [camera.name for camera in out.spec.cameras] == ["front"]
    assert out.read("lift-demo_0").task == "lift the cube"


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_a_file_without_images_becomes_a_dataset_without_cameras(tmp_path, robomimic, form):
    def blind(data):
        for demo in data.values():
            del demo["obs/agentview_image"], demo["next_obs/agentview_image"]

    import_dataset(robomimic(blind), tmp_path / "out", form)
    out = open_dataset(tmp_path / "out")
    assert out.spec.cameras == ()
    assert [len(episode) for episode in out] == [5, 7]


def test_a_file_that_does_not_say_its_rate_must_be_told_it(tmp_path, robomimic):
    with pytest.raises(ConfigError, match=r"lift.hdf5 does not say its rate; give it \(--fps\)"):
        import_dataset(robomimic(env={"env_name": "Lift"}), tmp_path / "out", "zarr")


def test_a_state_cannot_be_made_in_two_ways():
    with pytest.raises(ConfigError, match="made of state or of the action before, not of both"):
        ImportSettings(state=("state",), state_from_action=True)


def test_a_robomimic_file_is_known_by_its_layout(tmp_path, robomimic):
    assert find_kind(robomimic()) == "robomimic"
    (tmp_path / "broken.hdf5").write_bytes(b"no HDF5")
    with pytest.raises(StoreError, match=r"cannot read .*broken.hdf5 as an HDF5 file"):
        is_robomimic(tmp_path / "broken.hdf5")


def test_a_damaged_file_is_one_error_that_names_it(tmp_path, robomimic):
    path, rng = robomimic(), np.random.default_rng(0)
    whole, named = path.read_bytes(), 0
    for number in range(80):
        damaged = bytearray(whole)
        for place in rng.integers(0, 4096, 8):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            import_dataset(path, tmp_path / f"out-{number}", "zarr", ImportSettings(task="lift"), kind="robomimic")
        except DemoloomError as error:
            named += "lift.hdf5" in str(error)
    assert named > 20
