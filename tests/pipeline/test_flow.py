from __future__ import annotations

from pathlib import Path

import pytest

from .test_stage_store import Line

prefect = pytest.importorskip("prefect")


@pytest.mark.slow
def test_a_flow_that_failed_goes_on_at_that_stage(tmp_path: Path) -> None:
    from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
    from prefect.testing.utilities import prefect_test_harness

    from demoloom.pipeline.flow import perform_as_task
    from demoloom.pipeline.line import run_stages
    from demoloom.pipeline.run_folder import RunFolder

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
