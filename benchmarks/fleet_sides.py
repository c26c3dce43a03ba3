"""The same episodes three ways, each in fresh processes: a bare loop, a fleet, and a fleet in a Prefect flow.

The bare loop is a worker as the fleet has it (world, stream, store) in a plain process that is told its episodes.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from demoloom.generators.fleet import FleetConfig, ray_session, run_episodes
from demoloom.generators.plan import RolloutPlan
from demoloom.storage.episode import EpisodeSummary
from demoloom.storage.zarr_store import ZarrStore

Way = Literal["bare", "fleet", "flow"]
_TIMEOUT_S = 240.0
_LOOK_S = 0.02


@dataclass(frozen=True)
class Side:
    """What one way took.

    Args:
        wall_s: seconds from the start of its processes to their end.
        cpu_s: seconds of cores that they used; of the bare loop only, since Ray's workers are nobody's children.
        first_s: seconds until an episode was stored.
        summaries: what was made.
    """

    wall_s: float
    cpu_s: float
    first_s: float
    summaries: Sequence[EpisodeSummary]

    @property
    def lengths(self) -> list[int]:
        """Frames of each episode, by index."""
        return [summary.length for summary in self.summaries]

    @property
    def num_demonstrations(self) -> int:
        """Episodes that succeeded and could be believed."""
        return sum(summary.is_demonstration for summary in self.summaries)


def run_side(way: Way, plan: RolloutPlan, num_episodes: int, store: Path, num_workers: int) -> Side:
    """Make episodes 0 to `num_episodes` in fresh processes, a core for each of `num_workers`.

    Raises:
        SystemExit: a process failed, or took four minutes.
    """
    num_processes = num_workers if way == "bare" else 1
    job = {"way": way, "plan": plan.to_dict(), "store": str(store), "num_workers": num_workers, "stop": num_episodes}
    jobs = [json.dumps({**job, "start": part, "step": num_processes}) for part in range(num_processes)]
    begun, cpu_before = time.perf_counter(), _cpu_of_children_s()
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PREFECT_HOME": str(store.parent / "prefect")}
    processes = [
        subprocess.Popen([sys.executable, __file__, job], stdout=subprocess.DEVNULL, env=environment) for job in jobs
    ]
    try:
        first_s = _first_episode_s(processes, store, begun)
        codes = [process.wait(max(1.0, begun + _TIMEOUT_S - time.perf_counter())) for process in processes]
    except subprocess.TimeoutExpired as error:
        raise SystemExit(f"{way}: {num_episodes} episodes took longer than {_TIMEOUT_S:.0f} s") from error
    finally:
        for process in processes:
            process.kill()
    wall_s = time.perf_counter() - begun
    if any(codes):
        raise SystemExit(f"{way}: a process ended with {codes}")
    return Side(wall_s, _cpu_of_children_s() - cpu_before, first_s, ZarrStore.open(store).summaries())


def _cpu_of_children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _first_episode_s(processes: Sequence[subprocess.Popen[bytes]], store: Path, begun: float) -> float:
    """Look until an episode is there, or the processes have ended or taken too long."""
    while not any((store / "episodes").glob("*-*")):
        waited_s = time.perf_counter() - begun
        if waited_s > _TIMEOUT_S or all(process.poll() is not None for process in processes):
            break
        time.sleep(_LOOK_S)
    return time.perf_counter() - begun


def main() -> None:
    """One process of a side, told its job as JSON."""
    job = json.loads(sys.argv[1])
    plan, store = RolloutPlan.from_dict(job["plan"]), Path(job["store"])
    indices, config = range(job["start"], job["stop"], job["step"]), FleetConfig(num_workers=job["num_workers"])
    if job["way"] == "bare":
        _bare(plan, store, indices)
    elif job["way"] == "fleet":
        run_episodes(plan, indices, store, config=config)
    else:
        _flow(plan, store, indices, config)


def _bare(plan: RolloutPlan, store: Path, indices: range) -> None:
    from demoloom.generators.fleet.worker import Worker

    Worker(plan, store, 1).run(indices)


def _flow(plan: RolloutPlan, store: Path, indices: range, config: FleetConfig) -> None:
    """As `demoloom run` does a stage: a task in a flow, against a server of its own."""
    from demoloom.pipeline.environment import make_prefect_home, prepare_environment

    prepare_environment()
    make_prefect_home()
    from prefect import flow

    from demoloom.pipeline.flow import as_task, run_flow
    from demoloom.pipeline.line import run_stages
    from demoloom.pipeline.run_folder import RunFolder
    from demoloom.pipeline.stage import Stage
    from demoloom.storage.progress import Progress

    def make(work: Path, progress: Progress) -> dict[str, Any]:
        made = run_episodes(plan, indices, store, config=config, progress=progress)
        return {"num_episodes": len(made)}

    stage = Stage("generate", make, plan.to_dict(), outputs=(), uses_fleet=True)
    folder = RunFolder(store.with_name(f"{store.name}-run"))

    @flow(name="fleet-benchmark")
    def one_stage() -> list[str]:
        return run_stages(folder, [stage], performer=as_task(), session=lambda: ray_session(config))

    run_flow(one_stage)


if __name__ == "__main__":
    main()
