"""An audit of a LeRobot dataset that others add to meanwhile."""

import subprocess
import sys
import threading

from demoloom.storage.audit import audit, repair
from demoloom.storage.lerobot_store import LeRobotStore, locked
from demoloom.storage.testing import numbered_episode, numbered_spec

APPEND_40 = """
import sys
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import numbered_episode, numbered_spec
store = LeRobotStore.open(sys.argv[1])
for index in range(1, 41):
    store.append(numbered_episode(numbered_spec(), index, 3))
    print(index, flush=True)
"""


def test_what_writers_add_meanwhile_is_no_fault(tmp_path):
    store = LeRobotStore.create(tmp_path / "d", numbered_spec())
    store.append(numbered_episode(numbered_spec(), 0, 3))
    command = [sys.executable, "-c", APPEND_40, str(store.path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        reports = [audit(store.path)]
        while writer.poll() is None:
            reports.append(audit(store.path))
    assert 1 < reports[0].episodes < reports[-1].episodes
    # While episodes are added, the statistics are behind them.
    assert [one for report in reports for one in report.findings if one.field != "meta/stats.json"] == []


def test_metadata_is_read_when_no_writer_is_about_to_count_an_episode(copy):
    dataset, done = copy("growing"), []
    auditor = threading.Thread(target=lambda: done.append(audit(dataset)))
    with locked(dataset):
        auditor.start()
        auditor.join(0.3)
        assert done == []
    auditor.join()
    assert done[0].findings == ()


def test_many_audits_run_at_once_and_a_repair_does_not_wait_for_itself(copy):
    dataset = copy("growing")
    auditors = [threading.Thread(target=audit, args=[dataset]) for _ in range(3)]
    for auditor in auditors:
        auditor.start()
    for auditor in auditors:
        auditor.join()
    assert repair(dataset).done == ()


def test_an_audit_writes_nothing_where_nobody_has_added(copy):
    dataset = copy("lerobot")
    before = {file: file.stat().st_mtime_ns for file in dataset.rglob("*")}
    audit(dataset)
    assert {file: file.stat().st_mtime_ns for file in dataset.rglob("*")} == before
