"""The Prefect flow of a run: each stage is a task, so that runs, stages and failures show up where a team looks.

Prefect is not asked what is done already: its cache knows nothing of the files (a deleted folder stays "cached"),
so that the run folder's own manifests decide, see `stage_store.py`.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from httpx import HTTPError
from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.settings import PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings

from ..storage.errors import ConfigError
from .line import perform_shown
from .run import run
from .run_config import RunConfig
from .run_folder import RunFolder
from .stage import Stage


@flow(name="demoloom", validate_parameters=True)
def demoloom(config: RunConfig, run_dir: Path) -> list[str]:
    """Run all stages of a run that are not done yet and return their names."""
    return run(config, RunFolder(run_dir), performer=perform_as_task)


def perform_as_task(folder: RunFolder, stage: Stage, digest: str, quiet: bool) -> dict[str, Any]:
    """Perform one stage as a Prefect task of its name."""

    @task(name=stage.name, cache_policy=NO_CACHE, persist_result=False)
    def perform_stage() -> dict[str, Any]:
        return perform_shown(folder, stage, digest, quiet)

    manifest: dict[str, Any] = perform_stage()
    return manifest


def run_flow(config: RunConfig, folder: RunFolder) -> list[str]:
    """Run the flow in this process, against the Prefect server that is configured or a private one.

    Raises:
        ConfigError: no server answers, and a private one did not start in time.
    """
    # The heartbeat thread is joined at the end of a flow, which takes a second and tells nobody anything here.
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None}):
        _reach_server()
        names: list[str] = demoloom(config=config, run_dir=folder.path)
    return names


def _reach_server() -> None:
    """Start or find the server before the flow does, whose own error is a traceback."""
    try:
        with _interrupts_blocked(), get_client(sync_client=True) as client:
            client.hello()
    except (HTTPError, RuntimeError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ConfigError(
            f"no Prefect server answers ({reason}); start the same command again, mend PREFECT_API_URL if it is set, "
            "or run the stages without Prefect by --no-prefect"
        ) from error


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block SIGINT in this thread, and so for ever in a process it starts meanwhile.

    Ctrl-C goes to the whole process group: a private server would end at once, and the flow wait for it in vain.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
