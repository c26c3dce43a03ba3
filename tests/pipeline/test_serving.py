from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from demoloom.pipeline.cli import find_command, parse_options
from demoloom.pipeline.flow import demoloom, improve_flow
from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.serving import Timetable, serve
from demoloom.storage.errors import ConfigError


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"cron": "0 22 * * *", "interval_s": 60.0}, "by cron='0 22 [*] [*] [*]' or each interval_s=60; give one"),
        ({"interval_s": 0.0}, "interval_s must be at least 1, got 0"),
    ],
)
def test_a_timetable_that_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Timetable(**settings)


@pytest.mark.parametrize("settings", [{"cron": "at ten"}, {"cron": "0 22 * * *", "timezone": "Mars/Base"}])
def test_what_is_no_time_is_named_with_an_example(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match=r"no schedule can be made of .*Europe/Berlin"):
        Timetable(**settings).schedule()


def test_a_cron_expression_keeps_its_time_zone() -> None:
    schedule = Timetable(cron="0 22 * * *", timezone="Europe/Berlin").schedule()
    assert schedule is not None
    assert (schedule.cron, schedule.timezone) == ("0 22 * * *", "Europe/Berlin")


def test_a_schedule_without_a_server_is_refused() -> None:
    with (
        temporary_settings({PREFECT_API_URL: None}),
        pytest.raises(ConfigError, match="start one by `prefect server start` and set PREFECT_API_URL"),
    ):
        serve(demoloom, "nightly", Timetable(), {})


@pytest.mark.parametrize(("name", "flow"), [("run", demoloom), ("improve", improve_flow)])
def test_what_is_served_are_parameters_that_the_flow_takes(name: str, flow: Any, tmp_path: Path) -> None:
    arguments = ["--flow", name, "--preset", "smoke", "--run-dir", str(tmp_path / "run"), "--hold", "gpu-0"]
    options = parse_options(find_command("serve"), [*arguments, "--improve.num-starts", "7"])
    taken = flow.validate_parameters(options.parameters)
    assert taken["run_dir"] == tmp_path / "run"
    assert taken["hold"] == ("gpu-0",)
    assert taken["config"].num_starts == 7 if name == "improve" else taken["config"] == RUNS["smoke"]
