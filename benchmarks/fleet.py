"""What a fleet costs beside the bare loop, how soon it starts, and its memory; writes `benchmarks/results/fleet.json`.

    .venv/bin/python benchmarks/fleet.py

The bare loop is the same world, stream and store in as many processes, without Ray.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from demoloom.generators.fleet import FleetConfig, ray_session, run_episodes
from demoloom.generators.learned.bundled import world_folder
from demoloom.generators.plan import RolloutPlan
from demoloom.generators.worker import Worker
from demoloom.pipeline.machine import describe_machine
from demoloom.storage.lineage import code_version
from demoloom.storage.plugins import PluginRef

RESULT = Path(__file__).parent / "results" / "fleet.json"
NUM_WORKERS = 2
LEARNED = RolloutPlan(
    stage="benchmark",
    world=PluginRef("worlds", "learned", {"checkpoint": str(world_folder("pusht"))}),
    stream=PluginRef("streams", "random"),
    run_seed=0,
    max_steps=100,
)
PHYSICS = replace(LEARNED, world=PluginRef("worlds", "pusht"), max_steps=20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the episodes; writes nothing")
    parser.add_argument("--only-memory", action="store_true", help="only look whether memory stays flat")
    arguments = parser.parse_args()
    part = 10 if arguments.quick else 1
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        rows = [] if arguments.only_memory else [start_up(work), beside_the_bare_loop(work, 200 // part)]
        rows += memory(work, 2000 // part)
    for row in rows:
        print(f"{row['name']}: {row['value']} {row['unit']} (beside {row['rival']}, aim {row['aim']})")
    if not arguments.quick and not arguments.only_memory:
        head = {"machine": describe_machine(), "command": "benchmarks/fleet.py", "commit": code_version()}
        RESULT.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


def row(name: str, value: float, unit: str, aim: str, met: bool, rival: float | None = None) -> dict[str, Any]:
    ratio = None if rival is None else round(value / rival, 3)
    digits = 3 if value < 10 else 1
    return {
        "name": name,
        "value": round(value, digits),
        "unit": unit,
        "rival": rival and round(rival, digits),
        "ratio": ratio,
        "aim": aim,
        "met": met,
    }


def start_up(work: Path) -> dict[str, Any]:
    """From nothing to the first step of a learned world on each worker, Ray included."""
    begun = time.perf_counter()
    first: list[float] = []
    plan = replace(LEARNED, max_steps=1)
    run_episodes(
        plan,
        range(NUM_WORKERS),
        work / "start",
        config=FleetConfig(num_workers=NUM_WORKERS),
        progress=lambda done, total, message: first.append(time.perf_counter() - begun),
    )
    return row("start-up of a local fleet to the first step", first[0], "s", "<= 8", first[0] <= 8)


def beside_the_bare_loop(work: Path, num_episodes: int) -> dict[str, Any]:
    """Frames a second of the whole run, starts included in both, Ray's own left out."""
    num_frames = num_episodes * LEARNED.max_steps
    config = FleetConfig(num_workers=NUM_WORKERS)
    with ray_session(config):
        begun = time.perf_counter()
        run_episodes(LEARNED, range(num_episodes), work / "fleet", config=config)
        fleet = num_frames / (time.perf_counter() - begun)
    begun = time.perf_counter()
    spawning = multiprocessing.get_context("spawn")
    parts = [range(first, num_episodes, NUM_WORKERS) for first in range(NUM_WORKERS)]
    bare_loops = [spawning.Process(target=bare_loop, args=(work / f"bare-{part.start}", part)) for part in parts]
    for process in bare_loops:
        process.start()
    for process in bare_loops:
        process.join()
    bare = num_frames / (time.perf_counter() - begun)
    name = f"{NUM_WORKERS} workers, {num_episodes} episodes"
    return row(name, fleet, "frames/s", ">= 0.9 of the bare loop", fleet >= 0.9 * bare, bare)


def bare_loop(store: Path, indices: range) -> None:
    Worker(LEARNED, store, 1).run(indices)


def memory(work: Path, num_episodes: int) -> list[dict[str, Any]]:
    """How much driver and worker grow from a fifth of the episodes on, and what Ray's object store holds at the end."""
    import ray

    seen: dict[int, list[float]] = {}

    def look(done: int, total: int, message: str) -> None:
        if done % (num_episodes // 5) == 0:
            seen[done] = [resident_mb(pid) for pid in (os.getpid(), *workers())]

    config = FleetConfig(num_workers=1)
    with ray_session(config):
        run_episodes(PHYSICS, range(num_episodes), work / "many", config=config, progress=look)
        held = ray.cluster_resources()["object_store_memory"] - ray.available_resources()["object_store_memory"]
    (driver, worker), (driver_last, worker_last) = seen[num_episodes // 5][:2], seen[num_episodes][:2]
    name = f"over {num_episodes * 4 // 5} episodes"
    return [
        row(f"growth of the driver {name}", driver_last - driver, "MB", "<= 20", driver_last - driver <= 20),
        row(f"growth of a worker {name}", worker_last - worker, "MB", "<= 20", worker_last - worker <= 20),
        row(f"object store held {name}", held / 1e6, "MB", "<= 1", held <= 1e6),
    ]


def resident_mb(pid: int) -> float:
    """Megabytes that a process holds and shares with no other."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1000


def workers() -> list[int]:
    """The processes of this fleet's workers: other fleets may be on the machine."""
    return [pid for pid in descendants(os.getpid()) if "ray::WorkerShell" in Path(f"/proc/{pid}/cmdline").read_text()]


def descendants(pid: int) -> Iterator[int]:
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, file.read_text().split()):
            yield child
            yield from descendants(child)


if __name__ == "__main__":
    main()
