"""kill -9 at every file operation and at random times: what was committed is there, and a resumed run ends with all."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from demoloom.storage import ZarrStore, open_dataset
from demoloom.storage.audit import audit
from demoloom.storage.content import content_hash, stamp
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import assert_same, numbered_episode, numbered_spec

SPEC = numbered_spec()
LENGTH = 9
ACTION = numbered_episode(SPEC, 0, LENGTH).action


def killed(mode, kind, folder, count=0):
    command = [sys.executable, Path(__file__).with_name("killed_writers.py"), mode, kind, folder, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def resumed(kind, path):
    make = ZarrStore.create if kind == "zarr" else LeRobotStore.create
    return make(path, SPEC, exist_ok=True)


def check_episodes(path, committed, **changes):
    """Those committed are there, each once and whole, and at most one more of each killed writer."""
    found = list(open_dataset(path))
    for episode in found:
        assert_same(episode, numbered_episode(SPEC, episode.index, LENGTH, **changes))
    counts = Counter(episode.index for episode in found)
    assert set(committed) <= set(counts)
    assert set(counts.values()) == {1}
    return set(counts)


PLAIN_LEROBOT = """
import sys
from lerobot.datasets import LeRobotDataset
for path in sys.argv[1:]:
    data = LeRobotDataset("local/x", root=path)
    rows = [data[number] for number in range(len(data))]
    print(data.num_episodes, len(rows), [int(row["observation.state"][0]) for row in rows[::9]])
"""


@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
def test_after_a_kill_in_the_fourth_of_five_episodes_three_are_there_and_a_resumed_run_ends_with_five(tmp_path, kind):
    (trial,) = killed("half", kind, tmp_path)
    assert trial["committed"] == [0, 1, 2]
    assert check_episodes(trial["path"], range(3)) == {0, 1, 2}
    store = resumed(kind, trial["path"])
    assert sum(store.append(numbered_episode(SPEC, index, LENGTH)) for index in range(5)) == 2
    assert check_episodes(trial["path"], range(5)) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("part", [0.3, 1.0])
def test_what_a_killed_writer_left_of_a_line_changes_nothing(tmp_path, part):
    with resumed("lerobot", tmp_path / "d") as store:
        for index in range(2):
            store.append(numbered_episode(SPEC, index, LENGTH))
    before = content_hash(open_dataset(tmp_path / "d")), stamp(open_dataset(tmp_path / "d"))
    file = tmp_path / "d/meta/demoloom/episodes.jsonl"
    line = file.read_bytes().splitlines(keepends=True)[1].replace(b"run-000001", b"run-000009-longer")
    with file.open("ab") as lines:
        lines.write(line[: int(part * len(line))])
    assert (content_hash(open_dataset(tmp_path / "d")), stamp(open_dataset(tmp_path / "d"))) == before
    assert not audit(tmp_path / "d").findings
    with resumed("lerobot", tmp_path / "d") as store:
        store.append(numbered_episode(SPEC, 2, LENGTH))
    assert len(file.read_bytes().splitlines()) == 3
    assert check_episodes(tmp_path / "d", range(3)) == {0, 1, 2}


def test_a_lerobot_dataset_is_whole_whatever_file_operation_its_writer_is_killed_at(tmp_path):
    trials = killed("steps", "lerobot", tmp_path)
    assert len(trials) > 30
    sizes = {len(check_episodes(trial["path"], trial["committed"])) for trial in trials}
    assert sizes == {2, 3}
    for trial in trials[:-1]:
        with resumed("lerobot", trial["path"]) as store:
            for index in range(4):
                store.append(numbered_episode(SPEC, index, LENGTH))
        assert check_episodes(trial["path"], range(4)) == {0, 1, 2, 3}
    assert not audit(Path(trials[len(trials) // 2]["path"])).findings


@pytest.mark.slow
def test_plain_lerobot_reads_a_dataset_whatever_file_operation_its_writer_is_killed_at(tmp_path):
    trials = killed("steps", "lerobot", tmp_path)
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-c", PLAIN_LEROBOT, *(trial["path"] for trial in trials)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.returncode == 0, done.stderr[-2000:]
    assert set(done.stdout.splitlines()) == {"2 18 [0, 1]", "3 27 [0, 1, 2]"}


def test_a_zarr_store_is_whole_whatever_file_operation_its_writer_is_killed_at(tmp_path):
    trials = killed("steps", "zarr", tmp_path)
    assert len(trials) > 10
    assert {len(check_episodes(trial["path"], trial["committed"])) for trial in trials} == {2, 3}
    for trial in trials[:-1]:
        store = resumed("zarr", trial["path"])
        for index in range(4):
            store.append(numbered_episode(SPEC, index, LENGTH))
        assert check_episodes(trial["path"], range(4)) == {0, 1, 2, 3}


@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
@pytest.mark.parametrize(("mode", "count"), [("times", 80), ("groups", 30)])
def test_writers_killed_at_any_time_lose_nothing_that_they_committed(tmp_path, kind, mode, count):
    trials = killed(mode, kind, tmp_path, count)
    assert len(trials) == count
    committed = {index for trial in trials for index in trial["committed"]}
    there = check_episodes(tmp_path / "store", committed, action=ACTION)
    assert len(there - committed) <= 2 * count
    wanted = there | set(range(900_000, 900_005))
    store = resumed(kind, tmp_path / "store")
    added = [store.append(numbered_episode(SPEC, index, LENGTH, action=ACTION)) for index in sorted(wanted)]
    assert sum(added) == 5
    assert check_episodes(tmp_path / "store", wanted, action=ACTION) == wanted


@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
def test_a_writer_goes_on_whatever_happens_to_those_beside_it(tmp_path, kind):
    trials = killed("beside", kind, tmp_path, 15)
    assert trials[-1]["committed"] == list(range(500_000, 500_075))
    committed = {index for trial in trials for index in trial["committed"]}
    there = check_episodes(tmp_path / "store", committed, action=ACTION)
    assert len(there - committed) <= 15
