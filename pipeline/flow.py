"""The Prefect flow of a run: each stage is a task, so that runs, stages and failures show up where a team looks.

Prefect is not asked what is done already: its cache knows nothing of the files (a deleted folder stays "cached"),
so that the run folder's own manifests decide, see `stage_store.py`. A run that failed goes on at that stage,
whether Prefect tries it again or somebody starts another in the same folder.
"""

# Without `from __future__ import annotations`: a runner loads this module in a way that leaves the names which a flow's
# parameters are annotated with unknown to Pydantic.
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

from httpx import HTTPError
from prefect import Flow, flow, get_run_logger, task
from prefect.cache_policies import NO_CACHE
from prefect.client.orchestration import get_client
from prefect.concurrency.asyncio import ConcurrencySlotAcquisitionError
from prefect.concurrency.sync import concurrency
from prefect.runtime import flow_run
from prefect.settings import PREFECT_API_URL, PREFECT_FLOWS_HEARTBEAT_FREQUENCY, temporary_settings
from prefect.settings.legacy import Setting

from ..storage.errors import ConfigError
from .artifacts import UPDATE_INTERVAL_S, ProgressArtifact, artifact_key, at_most_every, publish_stage, publish_summary
from .console import say
from .environment import prepare_environment
from .form import Form
from .inputs import check_inputs
from .line import Performer, perform_shown
from .presets import DEFAULT_PRESET, RUNS
from .private_server import private_server
from .rounds import RoundConfig, current_round, finished_config, has_failures, improve, stages_of_round
from .run import run, stages_of
from .run_config import RunConfig, load_config, save_config
from .run_folder import RunFolder
from .stage import Stage
from .stale_runs import run_owned
from .transient import is_transient

PresetName = Literal["smoke", "tiny", "cpu", "gpu"]
RunParameter = Annotated[RunConfig, Form(RunConfig())]
RoundParameter = Annotated[RoundConfig, Form(RoundConfig())]


@flow(name="demoloom", validate_parameters=True)
def demoloom(
    run_dir: Path, preset: PresetName | None = None, config: RunParameter | None = None, hold: tuple[str, ...] = ()
) -> list[str]:
    """Make demonstrations inside a learned world model, train a policy on them, score it and export it.

    Stages that are done with the same settings and inputs are not done again.

    Args:
        run_dir: folder of the run, on the machine that runs it; one that exists goes on from what is there.
        preset: settings by name; none, and no config: those the folder was made with, or `tiny` for a new one.
        config: all settings one by one, instead of a preset.
        hold: names of Prefect's global concurrency limits to hold one slot of meanwhile, one for each GPU for instance.
    """
    prepare_environment()
    folder = RunFolder(run_dir)
    chosen = config or _settings(folder, preset)
    with run_owned(folder, UUID(flow_run.id)), slots_held(hold):
        check_inputs(chosen)
        with folder.lock():
            save_config(folder, chosen)
        ran = run(chosen, folder, performer=as_task())
        publish_summary(folder, stages_of(chosen, folder), ran)
    return ran


@flow(name="demoloom-improve", validate_parameters=True)
def improve_flow(run_dir: Path, config: RoundParameter | None = None, hold: tuple[str, ...] = ()) -> list[str]:
    """Make more demonstrations from where the policy of a finished run fails, train it anew on all, and score both.

    Each run of this flow makes one round, or finishes the one that was begun.

    Args:
        run_dir: folder of the finished run, on the machine that runs it.
        config: how much a round adds; none: 500 demonstrations.
        hold: names of Prefect's global concurrency limits to hold one slot of meanwhile, one for each GPU for instance.
    """
    prepare_environment()
    folder, chosen = RunFolder(run_dir), config or RoundConfig()
    with run_owned(folder, UUID(flow_run.id)), slots_held(hold):
        of_run, place = finished_config(folder), current_round(folder)
        if not has_failures(place):
            say(f"the policy in {place.before.path} failed nowhere in its evaluation")
            return []
        _, ran = improve(chosen, folder, performer=as_task())
        publish_summary(place.folder, stages_of_round(chosen, of_run, place), ran)
    return ran


#: What can be deployed.
FLOWS = (demoloom, improve_flow)


def _settings(folder: RunFolder, preset: PresetName | None) -> RunConfig:
    stored = load_config(folder) if preset is None else None
    return stored or RUNS[preset or DEFAULT_PRESET]


def as_task(retries: int = 2, delay_s: float = 30.0) -> Performer:
    """A performer that makes each stage a Prefect task of its name.

    Args:
        retries: how often a stage is tried again after a failure that may pass by itself; it goes on from its work.
        delay_s: seconds before the first of these; each later one waits twice as long.
    """
    delays = [delay_s * 2**i for i in range(retries)]

    def perform_as_task(folder: RunFolder, stage: Stage, digest: str, quiet: bool) -> dict[str, Any]:
        @task(
            name=stage.name,
            cache_policy=NO_CACHE,
            persist_result=False,
            retries=retries,
            retry_delay_seconds=delays,
            retry_condition_fn=_may_pass,
        )
        def perform_stage() -> dict[str, Any]:
            shown = ProgressArtifact(artifact_key(folder, f"{stage.name}-progress"))
            manifest = perform_shown(folder, stage, digest, quiet, also=at_most_every(UPDATE_INTERVAL_S, shown))
            shown.finish()
            publish_stage(folder, stage, manifest["metrics"])
            get_run_logger().info("%s: done in %.0f s", stage.name, manifest["seconds"])
            return manifest

        manifest: dict[str, Any] = perform_stage()
        return manifest

    return perform_as_task


def _may_pass(task: Any, task_run: Any, state: Any) -> bool:
    failure = state.result(raise_on_failure=False)
    return isinstance(failure, Exception) and is_transient(failure)


@contextmanager
def slots_held(names: tuple[str, ...]) -> Iterator[None]:
    """Hold one slot of each of these global concurrency limits; waits until they are free.

    Raises:
        ConfigError: there is no such limit.
    """
    if not names:
        yield
        return
    with ExitStack() as held:
        try:
            # A server that is away for a moment must not end a run that has worked all night.
            held.enter_context(concurrency(list(names), strict=True, raise_on_lease_renewal_failure=False))
        except ConcurrencySlotAcquisitionError as error:
            raise ConfigError(
                f"not all of the concurrency limits {', '.join(names)} are there; make each by "
                "`prefect gcl create NAME --limit 1`"
            ) from error
        yield


def run_flow(chosen: Flow[..., list[str]], **parameters: Any) -> list[str]:
    """Run a flow in this process, against the Prefect server that is configured or a private one.

    Raises:
        ConfigError: no server answers, or a private one did not start in time.
    """
    # The heartbeat thread is joined at the end of a flow, which takes a second and tells nobody anything here.
    with temporary_settings({PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None, **server_settings()}):
        names: list[str] = chosen(**parameters)
    return names


def server_settings() -> dict[Setting, Any]:
    """What Prefect must be told to find the server: nothing where one is configured, else where a private one is.

    Raises:
        ConfigError: no server answers, whose own error in a flow would be a traceback.
    """
    if not PREFECT_API_URL.value():
        return {PREFECT_API_URL: private_server()}
    try:
        with get_client(sync_client=True) as client:
            client.hello()
    except HTTPError as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ConfigError(
            f"no Prefect server answers at {PREFECT_API_URL.value()} ({reason}); start it or mend "
            "PREFECT_API_URL; `demoloom run` and `demoloom improve` need none with --no-prefect"
        ) from error
    return {}
