"""Tests of the pipeline run offline and quietly, as the command line does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from demoloom.pipeline.environment import prepare_environment

from .services import PrefectServer

# Before any test module imports Ray, Prefect or LeRobot, which read these variables as they are imported.
prepare_environment()


@pytest.fixture(scope="session")
def prefect_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrefectServer]:
    """A Prefect server as a team starts one, on a free port and in a folder of its own."""
    with PrefectServer.started(tmp_path_factory.mktemp("prefect")) as server:
        yield server
