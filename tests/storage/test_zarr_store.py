import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import zarr

from demoloom.storage import StoreError, ZarrStore
from demoloom.storage.testing import StoreContract


class TestZarrStore(StoreContract):
    def create(self, path, spec, exist_ok=False):
        return ZarrStore.create(path, spec, exist_ok=exist_ok)


def test_episodes_come_in_the_order_of_their_index(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "s", spec)
    for index in (10, 2, 7):
        store.append(make_episode(index))
    assert store.ids() == ["run-000002", "run-000007", "run-000010"]
    assert [episode.index for episode in store] == [2, 7, 10]
    assert len(store) == 3


def test_columns_are_read_without_a_frame(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "s", spec)
    store.append(make_episode(1))
    for camera in spec.cameras:
        shutil.rmtree(tmp_path / "s/episodes/run-000001" / f"observation.images.{camera.name}")
    columns = store.columns("run-000001")
    assert columns["action"].tolist() == [[t, 1] for t in range(7)]
    assert columns["next.success"].tolist() == [False] * 6 + [True]


def test_plain_zarr_reads_frames_and_named_columns(tmp_path, spec, make_episode):
    episode = make_episode(1)
    ZarrStore.create(tmp_path / "s", spec).append(episode)
    group = zarr.open_group(tmp_path / "s/episodes/run-000001", mode="r")
    np.testing.assert_array_equal(group["observation.images.top"][:], episode.images["top"])
    names = [(column, dimension) for column, dimensions in group.attrs["columns"] for dimension in dimensions]
    table = group["columns"][:]
    assert table[:, names.index(("action", "x"))].tolist() == list(range(7))
    assert table[:, names.index(("next.success", "next.success"))].tolist() == [0] * 6 + [1]


def test_discard_removes_one_episode(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "s", spec)
    store.append(make_episode(0))
    store.append(make_episode(1))
    store.discard("run-000000")
    assert store.ids() == ["run-000001"]
    assert store.append(make_episode(0))
    with pytest.raises(StoreError, match="no episode 'run-000009'"):
        store.discard("run-000009")


def test_a_store_of_a_later_version_is_refused(tmp_path, spec):
    ZarrStore.create(tmp_path / "s", spec)
    file = tmp_path / "s" / "spec.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "format_version": 2}))
    with pytest.raises(StoreError, match="format version 2"):
        ZarrStore.open(tmp_path / "s")


def test_a_path_without_a_store_is_refused(tmp_path):
    with pytest.raises(StoreError, match="no demoloom store"):
        ZarrStore.open(tmp_path / "nothing")


@pytest.mark.parametrize("lost", ["columns", "observation.images.top"])
def test_a_lost_file_is_named_and_never_read_as_zeros(tmp_path, spec, make_episode, lost):
    store = ZarrStore.create(tmp_path / "s", spec)
    store.append(make_episode())
    shutil.rmtree(store.path / "episodes" / "run-000000" / lost / "c")
    with pytest.raises(StoreError, match=f"{lost}/c/0/0.* is missing; restore it"):
        store.read("run-000000")
    if lost == "columns":
        with pytest.raises(StoreError, match=r"columns/c/0/0 is missing; restore it"):
            store.columns("run-000000")


def test_a_damaged_episode_is_named(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "s", spec)
    store.append(make_episode())
    chunk = next((tmp_path / "s").glob("episodes/*/columns/c/0/0"))
    chunk.write_bytes(chunk.read_bytes()[:-9] + b"torn here")
    with pytest.raises(StoreError, match=r"run-000000/columns/c/0/0 is damaged"):
        store.read("run-000000")


APPEND_ALL = """
import sys
from demoloom.storage import ZarrStore
episodes = list(ZarrStore.open(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
store = ZarrStore.create(sys.argv[2], ZarrStore.open(sys.argv[1]).spec, exist_ok=True)
print(sum(store.append(episode) for episode in episodes))
"""


def test_processes_that_append_the_same_episodes_at_once_store_each_once(tmp_path, spec, make_episode, same):
    source = ZarrStore.create(tmp_path / "source", spec)
    for index in range(12):
        source.append(make_episode(index))
    command = [sys.executable, "-c", APPEND_ALL, str(source.path), str(tmp_path / "s")]
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [worker.stdout.readline() for worker in workers if worker.stdout] == ["ready\n", "ready\n"]
    stored = [int(worker.communicate("go\n")[0]) for worker in workers]
    assert sum(stored) == 12
    for index, episode in enumerate(ZarrStore.open(tmp_path / "s")):
        same(episode, make_episode(index))
    assert len(ZarrStore.open(tmp_path / "s")) == 12


APPEND_FOREVER = """
import itertools, sys
from dataclasses import replace
from demoloom.storage import ZarrStore
store = ZarrStore.open(sys.argv[1])
source = store.read("run-000000")
for index in itertools.count(int(sys.argv[2])):
    store.append(replace(source, id=f"run-{index:06d}", index=index))
    print(index, flush=True)
"""


def test_after_kill_9_all_that_was_committed_is_readable(tmp_path, spec, make_episode, same):
    store = ZarrStore.create(tmp_path / "s", spec)
    store.append(make_episode(0, length=40))
    committed = [0]
    for seed in range(10):
        command = [sys.executable, "-c", APPEND_FOREVER, str(store.path), str(committed[-1] + 1000)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            committed.append(int(writer.stdout.readline()))
            time.sleep(random.Random(seed).uniform(0.0, 0.02))
            writer.send_signal(signal.SIGKILL)
            committed += [int(line) for line in writer.stdout if line.endswith("\n")]
    found = {episode.index: episode for episode in ZarrStore.open(tmp_path / "s")}
    assert set(committed) <= set(found)
    for index, episode in found.items():
        same(episode, replace(make_episode(0, length=40), id=f"run-{index:06d}", index=index))


def test_what_a_killed_writer_left_is_swept_once_it_is_old(tmp_path, spec):
    store = ZarrStore.create(tmp_path / "s", spec)
    fresh, old = (tmp_path / "s" / "episodes" / name for name in (".tmp-fresh", ".tmp-old"))
    for folder in (fresh, old):
        folder.mkdir()
    os.utime(old, (0, 0))
    assert ZarrStore.open(store.path).ids() == []
    assert fresh.exists()
    assert not old.exists()


def test_writing_and_reading_does_not_import_zarr(tmp_path, spec, make_episode):
    ZarrStore.create(tmp_path / "s", spec).append(make_episode())
    code = "import sys; from demoloom.storage import ZarrStore; store = ZarrStore.open(sys.argv[1])"
    code += "; episode = store.read('run-000000'); store.discard(episode.id); print(store.append(episode))"
    code += "; assert 'zarr' not in sys.modules"
    done = subprocess.run(
        [sys.executable, "-c", code, Path(tmp_path / "s")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"
