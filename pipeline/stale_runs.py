"""Flow runs that Prefect believes to be running although their process is gone.

A process that is killed tells nobody, and whoever started it may be gone as well. What knows better is the lock of
the run folder: the system frees it with the process. So each flow run leaves its id in the folder, and whoever next
holds the lock knows that it has ended.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterId,
    FlowRunFilterState,
    FlowRunFilterStateType,
    TaskRunFilter,
    TaskRunFilterState,
    TaskRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, StateType
from prefect.exceptions import ObjectNotFound
from prefect.states import Crashed

from ..storage.atomic import read_json, write_json
from ..storage.errors import StoreError
from .run_folder import RunFolder

_FILE, _LOCK = ".flow-run.json", ".flow-run.lock"
_GRACE_S = 3.0  # a run that has just ended may not have said so yet
_ENDED = "The process of this run ended without a word: it was killed, or its machine was."
_GOING_ON = [StateType.RUNNING, StateType.PENDING, StateType.CANCELLING]


@contextmanager
def run_owned(folder: RunFolder, flow_run: UUID) -> Iterator[None]:
    """Say that `flow_run` runs in this folder, and mark the one that did so before if it never ended.

    Raises:
        StoreError: another process runs a flow here.
    """
    with folder.lock(_LOCK):
        before = _last(folder)
        write_json(folder.path / _FILE, {"flow_run": str(flow_run), "host": socket.gethostname()})
        if before is not None and before != flow_run:
            with get_client(sync_client=True) as client:
                _crash(client, before)
        yield


def mend_runs(flow_names: list[str]) -> list[str]:
    """Mark the runs of these flows crashed whose process was on this machine and is gone; the names of the runs."""
    with get_client(sync_client=True) as client:
        found = client.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=flow_names)),
            flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=_GOING_ON))),
        )
        return [run.name for run in found if _has_ended(run) and _crash(client, run.id)]


def _has_ended(run: FlowRun) -> bool:
    """Whether the folder names this run as its last, made on this machine, and nobody holds its lock."""
    folder = RunFolder(Path(run.parameters.get("run_dir", "")))
    if _last(folder) != run.id or read_json(folder.path / _FILE)["host"] != socket.gethostname():
        return False
    try:
        with folder.lock(_LOCK):
            return True
    except StoreError:
        return False


def _last(folder: RunFolder) -> UUID | None:
    path = folder.path / _FILE
    return UUID(read_json(path)["flow_run"]) if path.is_file() else None


def _crash(client: SyncPrefectClient, flow_run: UUID) -> bool:
    """Mark a run and its tasks crashed if they have no end; False where they have, or the server does not know it."""
    if not _goes_on(client, flow_run):
        return False
    time.sleep(_GRACE_S)
    if not _goes_on(client, flow_run):
        return False
    for task_run in _unfinished_tasks(client, flow_run):
        client.set_task_run_state(task_run, Crashed(message=_ENDED), force=True)
    client.set_flow_run_state(flow_run, Crashed(message=_ENDED), force=True)
    return True


def _goes_on(client: SyncPrefectClient, flow_run: UUID) -> bool:
    try:
        state = client.read_flow_run(flow_run).state
    except ObjectNotFound:
        return False
    return state is not None and not state.is_final()


def _unfinished_tasks(client: SyncPrefectClient, flow_run: UUID) -> list[UUID]:
    found = client.read_task_runs(
        flow_run_filter=FlowRunFilter(id=FlowRunFilterId(any_=[flow_run])),
        task_run_filter=TaskRunFilter(state=TaskRunFilterState(type=TaskRunFilterStateType(any_=_GOING_ON))),
    )
    return [task_run.id for task_run in found]
