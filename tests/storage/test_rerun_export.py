import io
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demoloom.storage import Camera, ConfigError, StoreError, ZarrStore
from demoloom.storage.rerun_export import LOSSLESS_PIXELS, export_rerun, write_recording


@pytest.fixture
def store(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "s", spec)
    for index in range(3):
        store.append(make_episode(index))
    return store


def recorded(path):
    """Entity -> component -> its values in order, read back by rerun itself."""
    reader = pytest.importorskip("rerun.experimental", reason="rerun-sdk is not installed").RrdReader(path)
    found: dict[str, dict[str, list]] = {}
    for chunk in reader.store().stream():
        entity = found.setdefault(chunk.entity_path, {})
        for name, values in chunk.to_record_batch().to_pydict().items():
            entity.setdefault(name, []).extend(values)
    return found


@pytest.fixture
def episode_one(tmp_path, store):
    pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    export_rerun(store, tmp_path / "rrd", ["run-000001"])
    return recorded(tmp_path / "rrd" / "run-000001.rrd")


def test_numbers_stand_at_their_steps_under_the_names_lerobot_uses(episode_one):
    assert episode_one["/action"]["frame_index"] == [0, 1, 2, 3, 4, 5, 6]
    assert episode_one["/action"]["Scalars:scalars"] == [[t, 1] for t in range(7)]
    assert episode_one["/state"]["Scalars:scalars"] == [[1, t] for t in range(7)]
    assert episode_one["/next.reward"]["Scalars:scalars"] == [[t] for t in range(7)]
    assert episode_one["/next.success"]["Scalars:scalars"] == [[0]] * 6 + [[1]]
    assert episode_one["/wm.trust"]["Scalars:scalars"] == [[pytest.approx(0.9)]] * 7
    assert episode_one["/label.pose"]["Scalars:scalars"] == [[-0.5]] * 7


def test_a_row_is_stamped_with_its_time_in_the_episode(episode_one):
    assert [time.total_seconds() for time in episode_one["/action"]["timestamp"]] == [t / 10 for t in range(7)]


def test_dimensions_have_their_names(episode_one):
    assert episode_one["/state"]["SeriesLines:names"] == [["x/mm", "y axis"]]


def test_the_task_and_the_outcome_are_there(episode_one):
    assert episode_one["/task"]["TextDocument:text"] == [["push the block"]]
    assert episode_one["/__properties/episode"]["outcome"] == [["success"]]


def decoded(blob):
    return np.asarray(Image.open(io.BytesIO(bytes(blob[0]))))


def test_small_frames_are_exact(episode_one, make_episode):
    blobs = episode_one["/observation.images.top"]["EncodedImage:blob"]
    np.testing.assert_array_equal([decoded(blob) for blob in blobs], make_episode(1).images["top"])


def test_large_frames_are_jpeg_and_red_stays_red(tmp_path, spec, make_episode):
    pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    side = 1 + int(LOSSLESS_PIXELS**0.5)
    large = replace(spec, cameras=(Camera("front cam", side, side),))
    red = np.zeros((7, side, side, 3), np.uint8)
    red[..., 0] = 255
    store = ZarrStore.create(tmp_path / "large", large)
    store.append(make_episode(0, images={"front cam": red}))
    export_rerun(store, tmp_path / "rrd")
    camera = recorded(tmp_path / "rrd" / "run-000000.rrd")["/observation.images.front\\ cam"]
    assert camera["EncodedImage:media_type"] == [["image/jpeg"]] * 7
    assert np.abs(decoded(camera["EncodedImage:blob"][6]).astype(int) - red[6]).max() <= 4


def test_every_episode_is_a_file_unless_ids_are_given(tmp_path, store):
    pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    export_rerun(store, tmp_path / "rrd")
    assert sorted(file.name for file in (tmp_path / "rrd").iterdir()) == [f"run-00000{index}.rrd" for index in range(3)]


def test_an_unknown_id_leaves_nothing(tmp_path, store):
    pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    with pytest.raises(StoreError, match="no episode 'run-7'"):
        export_rerun(store, tmp_path / "rrd", ["run-000000", "run-7"])
    assert not (tmp_path / "rrd").exists()


def test_what_stands_there_is_left_alone(tmp_path, store):
    pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    (tmp_path / "rrd").mkdir()
    (tmp_path / "rrd" / "mine").touch()
    with pytest.raises(StoreError, match="exists already"):
        export_rerun(store, tmp_path / "rrd")


def test_without_the_package_the_remedy_is_named(tmp_path, store, monkeypatch):
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(ConfigError, match=r"pip install 'demoloom\[rerun\]'"):
        export_rerun(store, tmp_path / "rrd")
    assert not (tmp_path / "rrd").exists()


def test_a_full_disk_is_named(store):
    rerun = pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    with pytest.raises(StoreError, match=r"cannot write the recording /dev/full .*see whether the disk is full"):
        write_recording(rerun, store, store.summary("run-000001"), Path("/dev/full"))
