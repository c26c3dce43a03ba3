"""Schedules that fire, workers that run what is deployed, and cancelling, against a server as a team starts one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.client.schemas.filters import DeploymentFilter, DeploymentFilterName
from prefect.client.schemas.objects import FlowRun
from prefect.settings import PREFECT_API_URL, temporary_settings
from prefect.states import Cancelling

from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.run_folder import RunFolder

from .runs import done_run
from .services import PrefectServer, service, wait_until

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
SERVE = ["demoloom.pipeline.cli", "serve"]


@pytest.fixture
def client(prefect_server: PrefectServer) -> Iterator[SyncPrefectClient]:
    with temporary_settings({PREFECT_API_URL: prefect_server.url}), get_client(sync_client=True) as client:
        yield client


def runs_of(client: SyncPrefectClient, deployment: str) -> list[FlowRun]:
    return client.read_flow_runs(deployment_filter=DeploymentFilter(name=DeploymentFilterName(any_=[deployment])))


def states(client: SyncPrefectClient, deployment: str) -> list[str]:
    return [run.state_type.value for run in runs_of(client, deployment) if run.state_type]


def test_a_schedule_fires_while_it_is_served_and_is_paused_otherwise(
    prefect_server: PrefectServer, client: SyncPrefectClient, tmp_path: Path
) -> None:
    run = done_run(tmp_path / "run", RUNS["smoke"])
    options = ["--name", "often", "--interval-s", "5", "--run-dir", str(run.path), "--preset", "smoke"]
    for times in (1, 2):
        with service([*SERVE, *options], prefect_server.environment, tmp_path / "serve.log"):
            wait_until(lambda times=times: states(client, "often").count("COMPLETED") >= times)  # type: ignore[misc]
        assert client.read_deployment_by_name("demoloom/often").paused


def test_a_run_that_is_cancelled_ends_what_it_started_and_can_go_on(
    prefect_server: PrefectServer, client: SyncPrefectClient, tmp_path: Path
) -> None:
    folder = RunFolder(tmp_path / "run")
    options = [
        "--name",
        "long",
        "--run-dir",
        str(folder.path),
        "--preset",
        "smoke",
        "--run.collect.num-episodes",
        "9999",
    ]
    with service([*SERVE, *options], prefect_server.environment, tmp_path / "serve.log"):
        wait_until(lambda: "demoloom/long" in deployments(client))
        run = client.create_flow_run_from_deployment(client.read_deployment_by_name("demoloom/long").id)
        wait_until(lambda: any((folder.path / "work").glob("collect-*/episodes/episodes/*")))
        client.set_flow_run_state(run.id, Cancelling())
        wait_until(lambda: states(client, "long") == ["CANCELLED"])
    assert folder.events()[-1]["event"] == "failed"
    with folder.lock():
        assert any((folder.path / "work").glob("collect-*/episodes/episodes/*"))


def deployments(client: SyncPrefectClient) -> list[str]:
    names = {flow.id: flow.name for flow in client.read_flows()}
    return [f"{names[found.flow_id]}/{found.name}" for found in client.read_deployments()]


@pytest.fixture(scope="module")
def deployed(prefect_server: PrefectServer) -> None:
    assert prefect(prefect_server, "work-pool", "create", "demoloom", "--type", "process") == 0
    assert prefect(prefect_server, "deploy", "--all") == 0


@pytest.mark.usefixtures("deployed")
def test_a_worker_runs_what_prefect_yaml_deploys(
    prefect_server: PrefectServer, client: SyncPrefectClient, tmp_path: Path
) -> None:
    run = done_run(tmp_path / "run", RUNS["smoke"])
    assert set(deployments(client)) >= {"demoloom/nightly", "demoloom-improve/nightly"}
    assert prefect(prefect_server, *ASK, "--param", "preset=huge") != 0
    assert prefect(prefect_server, *ASK, "--param", f"run_dir={run.path}", "--param", "preset=smoke") == 0
    with service(WORKER, prefect_server.environment, tmp_path / "worker.log", cwd=tmp_path):
        wait_until(lambda: "COMPLETED" in states(client, "nightly"))


@pytest.mark.usefixtures("deployed")
def test_a_run_whose_worker_was_stopped_is_mended_and_gives_its_place_back(
    prefect_server: PrefectServer, client: SyncPrefectClient, tmp_path: Path
) -> None:
    run = done_run(tmp_path / "run", RUNS["smoke"])
    client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name="taken", limit=1, active_slots=1))
    prefect(prefect_server, *ASK, "--param", f"run_dir={run.path}", "--param", 'hold=["taken"]')
    with service(WORKER, prefect_server.environment, tmp_path / "worker.log", cwd=tmp_path):
        wait_until(lambda: (run.path / ".flow-run.json").exists())
    assert "RUNNING" in states(client, "nightly")
    mend = [sys.executable, "-m", "demoloom.pipeline.cli", "mend-runs"]
    done = subprocess.run(mend, env=prefect_server.environment, capture_output=True, text=True)
    assert done.stdout.strip().endswith(": crashed")
    limit = client.read_deployment_by_name("demoloom/nightly").global_concurrency_limit
    assert limit is not None
    assert limit.active_slots == 0


WORKER = ["prefect", "worker", "start", "--pool", "demoloom"]
ASK = ["deployment", "run", "demoloom/nightly"]


def prefect(server: PrefectServer, *arguments: str) -> int:
    """The exit code of a command of Prefect's, in the folder of prefect.yaml."""
    command = [sys.executable, "-m", "prefect", "--no-prompt", *arguments]
    return subprocess.run(command, env=server.environment, cwd=ROOT, capture_output=True).returncode
