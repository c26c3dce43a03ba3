import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.storage import Episode, SpecMismatch, StoreError, open_dataset
from demoloom.storage.audit import audit
from demoloom.storage.testing.numbered import numbered_episode
from demoloom.teleop.driving import KeptTakes, take_spec


@pytest.fixture
def add(takes: KeptTakes):
    """Keeps a take of 3 rows and gives its id."""
    return lambda outcome="success": takes.add(lambda index: take(takes, index, outcome)).id


def take(takes: KeptTakes, index: int, outcome: str = "success") -> Episode:
    zeros = np.zeros((3, 1), np.float32)
    changes = {"state": zeros, "action": zeros, "labels": {"count": zeros}, "intervention": np.ones(3, bool)}
    reason = "" if outcome == "success" else "it failed"
    return numbered_episode(takes.spec, index, 3, outcome=outcome, reason=reason, **changes)


def test_demonstrations_and_other_takes_are_kept_in_datasets_of_their_own(takes: KeptTakes, add) -> None:
    ids = [add(), add("failure"), add()]
    assert [summary.id for summary in takes.summaries()] == ids
    assert open_dataset(takes.demonstrations).ids() == [ids[0], ids[2]]
    assert open_dataset(takes.others).ids() == [ids[1]]


def test_a_deleted_take_is_gone_and_the_others_stay_byte_for_byte(takes: KeptTakes, add) -> None:
    ids = [add(), add(), add()]
    before = takes.rows(ids[2], 0, 3).images["top"]
    takes.delete(ids[1])
    assert [summary.id for summary in takes.summaries()] == [ids[0], ids[2]]
    assert (takes.rows(ids[2], 0, 3).images["top"] == before).all()
    assert len(takes) == 2


def test_a_take_that_is_not_here_cannot_be_deleted(takes: KeptTakes, add) -> None:
    add()
    with pytest.raises(StoreError, match=r"there is no take '\.\./\.\./x'"):
        takes.delete("../../x")
    assert len(takes) == 1


def test_a_server_that_was_stopped_in_the_middle_of_a_deletion_has_all_takes(takes: KeptTakes, add) -> None:
    add()
    folder = takes.demonstrations
    os.rename(folder, folder.with_name("takes.before-a-take-was-deleted"))
    assert len(KeptTakes(folder, takes.spec)) == 1


def test_takes_are_added_to_those_of_before(takes: KeptTakes, add) -> None:
    add()
    takes.close()
    again = KeptTakes(takes.demonstrations, takes.spec)
    assert len(again) == 1
    assert again.add(lambda index: take(again, index)).index == 1


def test_a_dataset_of_another_robot_is_refused_at_once(takes: KeptTakes, add) -> None:
    add()
    takes.close()
    with pytest.raises(SpecMismatch, match="cameras"):
        KeptTakes(takes.demonstrations, take_spec(CountingWorld(1, size=32)))


def test_nothing_is_left_where_nothing_was_kept(takes: KeptTakes) -> None:
    takes.close()
    assert not takes.demonstrations.exists()


def test_a_dataset_whose_last_take_was_deleted_is_not_left_empty(takes: KeptTakes, add) -> None:
    takes.delete(add())
    takes.close()
    assert not takes.demonstrations.exists()


def test_takes_of_several_people_get_numbers_of_their_own(takes: KeptTakes, add) -> None:
    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [summary.index for summary in takes.summaries()] == [0, 1, 2, 3]


_KEEPS_AND_DIES = """
import os, signal, sys
import numpy as np
from pathlib import Path
from demoloom.generators.testing import CountingWorld
from demoloom.teleop.driving import Drive, KeptTakes, no_starts, take_spec
world = CountingWorld(1)
takes = KeptTakes(Path(sys.argv[1]), take_spec(world))
drive = Drive(world, takes, no_starts())
for seed in range(2):
    drive.start(seed=seed)
    drive.record()
    for _ in range(9):
        drive.tick(np.array([1.0]))
    drive.keep()
drive.record()
drive.tick(np.array([1.0]))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_the_take_in_progress_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "takes"
    done = subprocess.run([sys.executable, "-c", _KEEPS_AND_DIES, path], check=False)
    assert done.returncode == -signal.SIGKILL
    takes = open_dataset(path)
    assert [len(takes.read(id)) for id in takes.ids()] == [9, 9]
    assert audit(path).findings == ()
