"""What a clock may do: run for long, stand still, or not tick as finely as writers write."""

import os
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from demoloom.storage import StoreError, open_dataset
from demoloom.storage.audit import audit
from demoloom.storage.lerobot_store import LeRobotStore

from .stored import store

DATA = "data/chunk-000/file-000.parquet"


def test_an_episode_is_read_however_long_it_lasts(tmp_path, spec, make_episode):
    # Beyond 2048 s float32, LeRobot's type of timestamps, tells apart no 0.2 ms.
    bare = replace(spec, fps=29, cameras=())
    length = 29 * 2300
    episode = make_episode(length=length, images={}, action=np.zeros((length, 2), np.float32))
    dataset = store(tmp_path / "d", "lerobot", bare, [episode])
    assert len(dataset.read(episode.id)) == length
    assert audit(tmp_path / "d").findings == ()


@pytest.mark.parametrize("stamp", [0.5, float("nan")])
def test_a_stamp_that_is_off_or_no_number_is_refused(tmp_path, spec, make_episode, stamp):
    dataset = store(tmp_path / "d", "lerobot", spec, [make_episode()])
    table = pq.ParquetFile(tmp_path / "d" / DATA).read()
    stamps = pa.array([*table["timestamp"].to_pylist()[:-1], stamp], pa.float32())
    number = table.column_names.index("timestamp")
    pq.write_table(table.set_column(number, "timestamp", stamps), tmp_path / "d" / DATA)
    with pytest.raises(StoreError, match=r"row 6 of episode 0 is stamped (0.5000|nan) s"):
        open_dataset(dataset.path).read("run-000000")


def test_no_writer_overwrites_what_another_wrote_while_the_clock_stood_still(tmp_path, spec, make_episode):
    first, second = (LeRobotStore.create(tmp_path / "d", spec, exist_ok=True) for _ in range(2))
    info = tmp_path / "d/meta/info.json"
    before = info.stat()
    second.append(make_episode(0))
    # As if the new file had got the number of an old one, within one tick of the clock.
    first._index._seen = (info.stat().st_ino, before.st_mtime_ns)
    os.utime(info, ns=(before.st_mtime_ns, before.st_mtime_ns))
    first.append(make_episode(1))
    assert open_dataset(tmp_path / "d").ids() == ["run-000000", "run-000001"]
