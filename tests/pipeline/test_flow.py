from __future__ import annotations

import json
from pathlib import Path

import prefect
import pytest
from prefect.exceptions import ParameterTypeError
from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.testing.utilities import prefect_test_harness

from demoloom.pipeline.flow import demoloom, perform_as_task, run_flow
from demoloom.pipeline.line import run_stages
from demoloom.pipeline.plain import to_plain
from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.run_folder import RunFolder
from demoloom.storage.errors import ConfigError

from .test_stage_store import Line


def test_the_flow_takes_the_config_of_a_run_as_the_command_line_makes_it() -> None:
    given = demoloom.validate_parameters({"config": RUNS["tiny"], "run_dir": Path("run")})
    assert given["config"] == RUNS["tiny"]


def test_the_flow_takes_a_config_as_json_as_a_server_sends_it() -> None:
    text = json.dumps(to_plain(RUNS["cpu"]))
    assert demoloom.validate_parameters({"config": json.loads(text), "run_dir": "run"})["config"] == RUNS["cpu"]


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


def test_a_server_that_does_not_answer_is_one_sentence_with_the_way_round(tmp_path: Path) -> None:
    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:9/api"}),
        pytest.raises(ConfigError, match=r"no Prefect server answers \(.*\); .* --no-prefect$"),
    ):
        run_flow(RUNS["smoke"], RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_flow_that_failed_goes_on_at_that_stage(tmp_path: Path) -> None:
    line = Line(RunFolder(tmp_path / "run"))

    @prefect.flow
    def small() -> list[str]:
        return run_stages(line.folder, line.stages(), performer=perform_as_task, quiet=True)

    with (
        prefect_test_harness(server_startup_timeout=120),
        temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}),
    ):
        line.fails_at = "b"
        with pytest.raises(RuntimeError, match="the power went"):
            small()
        line.fails_at = None
        assert small() == ["b", "c"]
        assert small() == []
    assert line.text() == "one two three "
