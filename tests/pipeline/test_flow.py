from __future__ import annotations

import gc
import json
import signal
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args
from uuid import UUID, uuid4

import prefect
import pytest
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import GlobalConcurrencyLimitCreate
from prefect.client.schemas.filters import (
    ArtifactCollectionFilter,
    ArtifactCollectionFilterKey,
    FlowFilter,
    FlowFilterName,
)
from prefect.client.schemas.objects import ArtifactCollection
from prefect.client.schemas.sorting import FlowRunSort
from prefect.exceptions import ParameterTypeError
from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from demoloom.pipeline.artifacts import publish_stage
from demoloom.pipeline.flow import PresetName, as_task, demoloom, improve_flow, run_flow, slots_held
from demoloom.pipeline.line import run_stages
from demoloom.pipeline.plain import to_plain
from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import Stage
from demoloom.pipeline.stale_runs import mend_runs, run_owned
from demoloom.storage.errors import ConfigError, StoreError

from .runs import done_run, finished_run
from .services import PrefectServer
from .test_stage_store import Line


@pytest.fixture
def server(prefect_server: PrefectServer) -> Iterator[PrefectServer]:
    """A running server, which the flows of a test report to."""
    with temporary_settings({PREFECT_API_URL: prefect_server.url, PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        yield prefect_server
    # Prefect leaves the sockets of its event clients to the garbage collector, which warns of each.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def test_the_flow_takes_the_config_of_a_run_as_the_command_line_makes_it() -> None:
    given = demoloom.validate_parameters({"config": RUNS["tiny"], "run_dir": Path("run")})
    assert given["config"] == RUNS["tiny"]


def test_the_flow_takes_a_config_as_json_as_a_server_sends_it() -> None:
    text = json.dumps(to_plain(RUNS["cpu"]))
    assert demoloom.validate_parameters({"config": json.loads(text), "run_dir": "run"})["config"] == RUNS["cpu"]


def test_the_presets_to_choose_from_are_those_there_are() -> None:
    assert set(get_args(PresetName)) == set(RUNS)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"generate": {"num_demonstrations": 0}}, "num_demonstrations must be at least 1, got 0"),
        ({"gnerate": {}}, "config.gnerate: Unexpected keyword argument"),
    ],
)
def test_the_flow_refuses_a_config_that_cannot_be_used(config: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterTypeError, match=message):
        demoloom.validate_parameters({"config": config, "run_dir": "run"})


def test_the_form_of_a_deployment_has_descriptions_choices_bounds_and_defaults() -> None:
    fields = demoloom.parameters.definitions["GenerateConfig"]["properties"]
    assert fields["num_demonstrations"]["description"]
    assert (fields["num_demonstrations"]["default"], fields["num_demonstrations"]["minimum"]) == (200, 1)
    assert fields["min_trust"]["maximum"] == 1
    assert demoloom.parameters.definitions["RunConfig"]["properties"]["format"]["enum"] == ["lerobot", "zarr"]
    assert demoloom.parameters.definitions["RunConfig"]["additionalProperties"] is False
    assert demoloom.parameters.required == improve_flow.parameters.required == ["run_dir"]


def test_a_server_that_does_not_answer_is_one_sentence_with_the_way_round(tmp_path: Path) -> None:
    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}),
        pytest.raises(ConfigError, match=r"no Prefect server answers at .*\(.*\); .* --no-prefect$"),
    ):
        run_flow(demoloom, config=RUNS["smoke"], run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_flow_that_failed_goes_on_at_that_stage(tmp_path: Path, server: PrefectServer) -> None:
    line = Line(RunFolder(tmp_path / "run"))
    line.fails_at = "b"
    with pytest.raises(RuntimeError, match="the power went"):
        small_flow(line)()
    line.fails_at = None
    assert small_flow(line)() == ["b", "c"]
    assert small_flow(line)() == []
    assert line.text() == "one two three "


@pytest.mark.slow
def test_a_flow_that_prefect_tries_again_goes_on_at_the_stage_that_failed(
    tmp_path: Path, server: PrefectServer
) -> None:
    line = Line(RunFolder(tmp_path / "run"))
    line.fails_at, line.fails_with = "b", [RuntimeError("the power went")]
    assert small_flow(line, retries=1)() == ["b", "c"]
    assert line.ran == ["a", "b", "b", "c"]


@pytest.mark.slow
def test_a_stage_is_tried_again_only_after_what_may_pass(tmp_path: Path, server: PrefectServer) -> None:
    line = Line(RunFolder(tmp_path / "run"))
    line.fails_at, line.fails_with = "b", [ConnectionError("gone"), ConfigError("no such task")]
    with pytest.raises(ConfigError, match="no such task"):
        small_flow(line)()
    assert line.ran == ["a", "b", "b"]


def small_flow(line: Line, retries: int = 0) -> Any:
    @prefect.flow(name="small", retries=retries)
    def small() -> list[str]:
        return run_stages(line.folder, line.stages(), performer=as_task(delay_s=0), quiet=True)

    return small


@pytest.mark.slow
def test_a_run_shows_how_far_a_stage_is_and_a_summary_of_all(tmp_path: Path, server: PrefectServer) -> None:
    line = Line(RunFolder(tmp_path / "shown"))
    small_flow(line)()
    run = done_run(tmp_path / "done", RUNS["smoke"])
    assert demoloom(run_dir=run.path, config=RUNS["smoke"]) == []
    assert (artifact("shown-a-progress").data, artifact("shown-a-progress").description) == (100.0, "done")
    assert f"| generate | was done already | 1 | `{run.path}/generated`" in str(artifact("done-summary").data)


@pytest.mark.slow
def test_a_stage_that_made_episodes_shows_what_became_of_them_and_the_first(
    tmp_path: Path, server: PrefectServer
) -> None:
    folder = finished_run(tmp_path / "made")
    stage = Stage("generate", lambda work, progress: {}, {}, ("generated", "rejected"))
    manifest = folder.manifest("generate")
    assert manifest is not None
    metrics = manifest["metrics"]

    @prefect.flow(name="shows")
    def shows() -> None:
        publish_stage(folder, stage, metrics)

    shows()
    assert str(artifact("made-generate-pictures").data).count("(data:image/png;base64,") == 2
    assert "not solved within 12 steps" in str(artifact("made-generate-outcome").data)


def artifact(key: str) -> ArtifactCollection:
    """The newest of that key."""
    chosen = ArtifactCollectionFilter(key=ArtifactCollectionFilterKey(any_=[key]))
    with get_client(sync_client=True) as client:
        (found,) = client.read_latest_artifacts(artifact_filter=chosen)
    return found


@pytest.mark.slow
def test_a_concurrency_limit_that_is_not_there_is_named_with_the_remedy(server: PrefectServer) -> None:
    with (
        pytest.raises(ConfigError, match=r"gpu-7 are there; make each by `prefect gcl create NAME --limit 1`"),
        slots_held(("gpu-7",)),
    ):
        pass


@pytest.mark.slow
def test_two_runs_cannot_hold_the_one_slot_of_a_limit(server: PrefectServer) -> None:
    with get_client(sync_client=True) as client:
        client.create_global_concurrency_limit(GlobalConcurrencyLimitCreate(name="gpu-0", limit=1))
        with slots_held(("gpu-0",)):
            assert client.read_global_concurrency_limit_by_name("gpu-0").active_slots == 1
        assert client.read_global_concurrency_limit_by_name("gpu-0").active_slots == 0


KILLED = """
import os, signal, sys
from pathlib import Path
from uuid import UUID
import prefect
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import Stage
from demoloom.pipeline.stale_runs import run_owned

@prefect.task
def step():
    os.kill(os.getpid(), signal.SIGKILL)

@prefect.flow(name=sys.argv[1])
def killed(run_dir: Path):
    with run_owned(RunFolder(run_dir), UUID(prefect.runtime.flow_run.id)):
        step()

killed(run_dir=Path(sys.argv[2]))
"""


def run_that_is_killed(name: str, folder: Path, server: PrefectServer) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, name, str(folder)], env=server.environment)
    assert done.returncode == -signal.SIGKILL
    assert state_of_flow(name) == "RUNNING"


@pytest.mark.slow
def test_a_run_whose_process_was_killed_is_marked_crashed(tmp_path: Path, server: PrefectServer) -> None:
    run_that_is_killed("killed", tmp_path / "run", server)
    assert len(mend_runs(["killed"])) == 1
    assert state_of_flow("killed") == "CRASHED"
    assert mend_runs(["killed"]) == []


@pytest.mark.slow
def test_the_next_run_in_a_folder_marks_the_one_before_that_never_ended(tmp_path: Path, server: PrefectServer) -> None:
    run_that_is_killed("killed before", tmp_path / "run", server)
    with run_owned(RunFolder(tmp_path / "run"), uuid4()):
        assert state_of_flow("killed before") == "CRASHED"


@pytest.mark.slow
def test_a_run_that_goes_on_is_left_alone(tmp_path: Path, server: PrefectServer) -> None:
    @prefect.flow(name="going on")
    def going_on(run_dir: Path) -> list[str]:
        with run_owned(RunFolder(run_dir), UUID(prefect.runtime.flow_run.id)):
            return mend_runs(["going on"])

    assert going_on(run_dir=tmp_path / "run") == []
    assert state_of_flow("going on") == "COMPLETED"


def test_two_flows_cannot_run_in_one_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with folder.lock(".flow-run.lock"), pytest.raises(StoreError, match=r"process \d+ is running stages in"):
        run_owned(folder, uuid4()).__enter__()


def state_of_flow(name: str) -> str:
    """The state of the last run of a flow."""
    with get_client(sync_client=True) as client:
        runs = client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=[name])), sort=FlowRunSort.START_TIME_DESC
        )
    return str(runs[0].state_type.value) if runs and runs[0].state_type else "NONE"
