import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from demoloom.storage import Camera, ConfigError, InvalidEpisode, StoreError, open_dataset
from demoloom.storage.create import format_of
from demoloom.storage.lerobot_pack import pack
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import numbered_episode
from demoloom.storage.video import VideoCodec

LENGTHS = (7, 1, 12)

PLAIN_LEROBOT = """
import json, sys
import numpy as np
from lerobot.datasets import LeRobotDataset
windows = {"observation.images.top": [-0.1, 0.0], "action": [0.0, 0.1]}
data = LeRobotDataset("local/x", root=sys.argv[1], delta_timestamps=windows)
rows = [data[number] for number in range(len(data))]
print("RESULT" + json.dumps({
    "num_episodes": data.num_episodes,
    "cameras": data.meta.camera_keys,
    "corners": [(row["observation.images.left%2Fwrist"][:, 0, 0] * 255).round().tolist() for row in rows],
    "actions": [row["action"].tolist() for row in rows],
    "last_pixels": [(row["observation.images.top"][1, :, -1, -1] * 255).round().tolist() for row in rows],
    "before_pixels": [(row["observation.images.top"][0, :, -1, -1] * 255).round().tolist() for row in rows],
    "tasks": [row["task"] for row in rows],
    "success": [row["next.success"].item() for row in rows],
    "score": [row["next.score"].item() for row in rows],
    "trust": [row["wm.trust"].item() for row in rows],
    "pose": [row["label.pose"].tolist() for row in rows],
    "names": data.meta.names["observation.state"],
    "q50": data.meta.stats["action"]["q50"].tolist(),
}))
"""


LEROBOT_TOOLS = """
import sys
from lerobot.datasets import LeRobotDataset, aggregate_datasets, delete_episodes
one, two, merged, deleted = sys.argv[1:]
aggregate_datasets(["local/one", "local/two"], "local/merged", roots=[one, two], aggr_root=merged)
delete_episodes(LeRobotDataset("local/one", root=one), [0], output_dir=deleted, repo_id="local/deleted")
"""


@pytest.fixture(scope="module")
def plain_env(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    return {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(cache), "OMP_NUM_THREADS": "1"}


def episodes(make_episode):
    return [make_episode(index, length, task=f"task {index % 2}") for index, length in enumerate(LENGTHS)]


@pytest.mark.slow
def test_plain_lerobot_reads_every_row_frame_and_window(tmp_path, spec, plain_env, write_lerobot):
    spec = replace(spec, cameras=(spec.cameras[0], Camera("left/wrist", 16, 16)))
    written = episodes(partial(numbered_episode, spec))
    write_lerobot(tmp_path / "d", spec, written)
    done = subprocess.run(
        [sys.executable, "-c", PLAIN_LEROBOT, tmp_path / "d"],
        capture_output=True, text=True, check=False, env=plain_env,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.split("RESULT")[1])
    rows = [(episode, step) for episode in written for step in range(len(episode))]
    assert found["num_episodes"] == 3
    assert found["names"] == ["x/mm", "y axis"]
    assert found["cameras"] == ["observation.images.top", "observation.images.left%2Fwrist"]
    assert found["corners"] == [episode.images["left/wrist"][step, 0, 0].tolist() for episode, step in rows]
    assert found["tasks"] == [episode.task for episode, _ in rows]
    assert found["last_pixels"] == [episode.images["top"][step, -1, -1].tolist() for episode, step in rows]
    assert found["before_pixels"] == [
        episode.images["top"][max(step - 1, 0), -1, -1].tolist() for episode, step in rows
    ]
    clamped = [(episode, [step, min(step + 1, len(episode) - 1)]) for episode, step in rows]
    assert found["actions"] == [episode.action[steps].tolist() for episode, steps in clamped]
    for name, values in (("success", "success"), ("score", "score"), ("trust", "trust")):
        assert found[name] == [getattr(episode, values)[step] for episode, step in rows]
    assert found["pose"] == [-0.5] * 20
    assert found["q50"] == [4.0, 2.0]


@pytest.mark.slow
def test_lerobots_tools_merge_and_edit_what_is_written(tmp_path, spec, make_episode, plain_env, write_lerobot):
    written = episodes(make_episode)
    for name in ("one", "two"):
        write_lerobot(tmp_path / name, spec, written)
    folders = [tmp_path / name for name in ("one", "two", "merged", "deleted")]
    done = subprocess.run(
        [sys.executable, "-c", LEROBOT_TOOLS, *folders], capture_output=True, text=True, check=False, env=plain_env
    )
    assert done.returncode == 0, done.stderr
    for found, episode in zip(open_dataset(tmp_path / "merged"), written * 2, strict=True):
        np.testing.assert_array_equal(found.images["top"], episode.images["top"])
        np.testing.assert_array_equal(found.action, episode.action)
    for found, episode in zip(open_dataset(tmp_path / "deleted"), written[1:], strict=True):
        assert np.abs(found.images["top"].astype(int) - episode.images["top"]).max() <= 2
        np.testing.assert_array_equal(found.action, episode.action)


def test_what_is_written_is_read_bit_for_bit(tmp_path, spec, make_episode, same, write_lerobot):
    write_lerobot(tmp_path / "d", spec, episodes(make_episode))
    reader = open_dataset(tmp_path / "d")
    assert reader.spec == spec
    for number, episode in enumerate(reader):
        same(episode, episodes(make_episode)[number])
    same(reader.read("run-000001"), episodes(make_episode)[1])


def test_text_of_any_kind_round_trips(tmp_path, spec, make_episode, same, write_lerobot):
    episode = make_episode(
        task='push "it"\nthen \\ stop 🤖', outcome="untrusted", reason="naïve\u2028", lineage={"größe": [1, None]}
    )
    write_lerobot(tmp_path / "d", spec, [episode])
    same(next(iter(open_dataset(tmp_path / "d"))), episode)


def test_stored_quantiles_are_exact_over_episodes_of_very_different_ranges(tmp_path, spec, make_episode, write_lerobot):
    scales = (0.1, 5.0, 90.0)
    written = [
        make_episode(index, 30, state=np.linspace(0, scale, 60, dtype=np.float32).reshape(30, 2))
        for index, scale in enumerate(scales)
    ]
    write_lerobot(tmp_path / "d", spec, written)
    stats = json.loads((tmp_path / "d" / "meta" / "stats.json").read_text())["observation.state"]
    rows = np.concatenate([episode.state for episode in written])
    for name, q in (("q01", 0.01), ("q50", 0.5), ("q99", 0.99)):
        np.testing.assert_allclose(stats[name], np.quantile(rows, q, axis=0), rtol=1e-6)


def test_a_red_frame_stays_red(tmp_path, spec, make_episode, write_lerobot):
    red = np.zeros((7, 16, 24, 3), np.uint8)
    red[..., 0] = 255
    write_lerobot(tmp_path / "d", spec, [make_episode(images={**make_episode().images, "top": red})])
    np.testing.assert_array_equal(next(iter(open_dataset(tmp_path / "d"))).images["top"], red)


def test_a_generator_that_uses_its_buffers_again_is_copied(tmp_path, spec, make_episode, same, write_lerobot):
    def reusing():
        buffer = make_episode(0)
        for index in range(3):
            new = make_episode(index)
            for name in ("state", "action"):
                getattr(buffer, name)[:] = getattr(new, name)
            buffer.images["top"][:] = new.images["top"]
            yield replace(
                new, state=buffer.state, action=buffer.action, images={**new.images, "top": buffer.images["top"]}
            )

    write_lerobot(tmp_path / "d", spec, reusing())
    for index, episode in enumerate(open_dataset(tmp_path / "d")):
        same(episode, make_episode(index))
    stats = json.loads((tmp_path / "d" / "meta" / "stats.json").read_text())
    assert stats["action"]["max"] == [6.0, 2.0]


def broken_off(make_episode):
    yield make_episode(0)
    raise KeyError("the source broke off")


def test_a_dataset_whose_source_breaks_off_never_appears(tmp_path, spec, make_episode, write_lerobot):
    with pytest.raises(KeyError):
        write_lerobot(tmp_path / "d", spec, broken_off(make_episode))
    assert list(tmp_path.iterdir()) == []


def test_a_dataset_is_never_written_over_another(tmp_path, spec, make_episode, write_lerobot):
    write_lerobot(tmp_path / "d", spec, [make_episode(0)])
    with pytest.raises(StoreError, match="exists already"):
        write_lerobot(tmp_path / "d", spec, [make_episode(1)])
    assert open_dataset(tmp_path / "d").ids() == ["run-000000"]


def test_no_episode_and_other_content_under_the_same_id_are_refused(tmp_path, spec, make_episode, write_lerobot):
    with pytest.raises(StoreError, match="no episode to write"):
        write_lerobot(tmp_path / "d", spec, [])
    with pytest.raises(StoreError, match="'run-000000' is in the dataset with other content"):
        write_lerobot(tmp_path / "d", spec, [make_episode(), make_episode(task="another")])
    with pytest.raises(InvalidEpisode, match="no rows"):
        write_lerobot(tmp_path / "d", spec, [make_episode(length=0)])


def test_a_size_that_the_codec_cannot_hold_is_refused(tmp_path, spec, write_lerobot):
    with pytest.raises(ConfigError, match="needs even sizes"):
        write_lerobot(tmp_path / "d", replace(spec, cameras=(Camera("top", 5, 4),)), [], codec=VideoCodec("yuv420p"))


def test_files_roll_over_between_episodes(tmp_path, spec, make_episode, same, monkeypatch, write_lerobot):
    monkeypatch.setattr("demoloom.storage.lerobot_layout.VIDEO_FILE_MB", -1)
    monkeypatch.setattr("demoloom.storage.lerobot_layout.DATA_FILE_MB", -1)
    write_lerobot(tmp_path / "d", spec, episodes(make_episode))
    assert len(list((tmp_path / "d").glob("videos/*/*/*.mp4"))) == 6
    assert len(list((tmp_path / "d").glob("data/*/*.parquet"))) == 3
    for number, episode in enumerate(open_dataset(tmp_path / "d")):
        same(episode, episodes(make_episode)[number])


def test_video_of_other_encoder_settings_gets_a_file_of_its_own(tmp_path, spec, make_episode, same):
    parts = LeRobotStore.create(tmp_path / "parts", spec)
    for index in range(3):
        parts.codec = VideoCodec(preset="ultrafast" if index == 1 else "veryfast")
        parts.append(make_episode(index))
    pack(tmp_path / "parts", tmp_path / "d", spec, 3)
    assert len(list((tmp_path / "d").glob("videos/observation.images.top/*/*.mp4"))) == 3
    for index, episode in enumerate(open_dataset(tmp_path / "d")):
        same(episode, make_episode(index))


@pytest.mark.parametrize(
    ("there", "format"),
    [
        ("spec.json", "zarr"),
        ("episodes/a/zarr.json", "zarr"),
        ("meta/info.json", "lerobot"),
        ("meta/episodes/chunk-000/file-000.parquet", "lerobot"),
        ("meta/episode_ends/.zarray", None),
        ("data/a", None),
    ],
)
def test_the_format_is_told_by_what_is_there_also_of_a_damaged_dataset(tmp_path, there, format):
    (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / there).touch()
    assert format_of(tmp_path) == format
