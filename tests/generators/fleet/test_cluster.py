"""Runs on a cluster that is there already: two nodes, each with processes of its own, on this machine."""

import json
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from demoloom.generators.fleet.worker import Worker
from demoloom.storage.dataset import open_dataset

from .stored import contents

pytestmark = pytest.mark.slow

CLUSTER = Path(__file__).with_name("cluster_of_two.py")

DRIVER = """
import json, sys
from pathlib import Path
from demoloom.generators import RolloutPlan
from demoloom.generators.fleet import FleetConfig, lost_and_redone, run_episodes
from demoloom.storage.errors import DemoloomError

class Told:
    def __call__(self, done, total, message):
        print(message, flush=True)

    def fleet(self, status):
        print(sum(worker.num_episodes > 0 for worker in status.workers), "have made some", flush=True)

given = json.loads(sys.argv[1])
sys.path.append(given["path"])
plan, store = RolloutPlan.from_dict(given["plan"]), Path(given["store"])
try:
    run_episodes(plan, range(given["count"]), store, config=FleetConfig(**given["fleet"]), progress=Told())
    print(json.dumps(lost_and_redone(store)))
except DemoloomError as error:
    print(f"{type(error).__name__}: {error}")
"""


@contextmanager
def cluster(python=sys.executable):
    """The process that keeps a cluster, and its address."""
    process = subprocess.Popen(
        [python, str(CLUSTER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.stdin.close()
        process.wait(60)
        process.stdout.close()


def driver(plan, store, count, path="", **fleet):
    given = {"plan": plan.to_dict(), "store": str(store), "count": count, "path": str(path), "fleet": fleet}
    environment = os.environ | {"RAY_AUTH_MODE": "disabled"}
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, json.dumps(given)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    )


def last_words(process):
    return process.communicate(timeout=120)[0].strip().splitlines()[-1]


def test_a_node_that_is_lost_costs_nothing_but_time(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "dawdle"})
    with cluster() as (nodes, address):
        process = driver(plan, tmp_path / "store", 100, address=address, num_workers=2)
        assert any(line == "2 have made some\n" for line in iter(process.stdout.readline, ""))
        nodes.stdin.write("lose\n")
        assert nodes.stdout.readline() == "removed\n"
        rows = json.loads(last_words(process))
    assert [summary.index for summary in open_dataset(tmp_path / "store").summaries()] == list(range(100))
    assert {row["became"] for row in rows} == {"made again"}
    assert {row["cause"] for row in rows} <= {"its node was lost", "its worker died"}
    Worker(plan, tmp_path / "calm", 3).run(range(100))
    assert contents(tmp_path / "store") == contents(tmp_path / "calm")


@pytest.fixture
def bare_python(tmp_path):
    """A Python with all dependencies, to which this project is unknown: that of a node."""
    environment = tmp_path / "node"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", environment], check=True)
    there = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages/dependencies.pth"
    (environment / there).write_text(f"{Path(pytest.__file__).parents[1]}\n")
    python = environment / "bin" / "python"
    if not subprocess.run([python, "-c", "import demoloom"], capture_output=True).returncode:
        pytest.skip("demoloom is installed as a copy here, which every Python with its dependencies finds")
    return str(python)


def test_nodes_without_the_project_get_it_sent_or_name_the_remedy(counting_plan, tmp_path, bare_python):
    with cluster(bare_python) as (_, address):
        fleet = {"address": address, "num_workers": 2, "placement": "pack"}
        refusal = last_words(driver(counting_plan(), tmp_path / "store", 4, **fleet))
        sent = driver(counting_plan(), tmp_path / "store", 4, **fleet, ship=["demoloom"])
        assert json.loads(last_words(sent)) == []
    assert refusal.startswith("FleetError: a node of the Ray cluster cannot run a worker")
    assert "No module named 'demoloom'" in refusal
    assert refusal.endswith("name them in the fleet's `ship`")
    assert len(open_dataset(tmp_path / "store")) == 4
