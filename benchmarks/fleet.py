"""What a fleet costs beside the bare loop, what a demonstration costs, and how that goes on past one machine.

    .venv/bin/python benchmarks/fleet.py

Writes `benchmarks/results/fleet.json`. The scripted expert drives the bundled world of PushT, and gym-pusht with frames
of the same size, through the same probe. Each way of running starts in fresh processes with one thread to each worker:
a bare loop is world, stream and store without Ray; a fleet has Ray; a flow has Ray and Prefect with its own server.
Its start-up is what two episodes of one step take that way, from the start of the process to its end.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from fleet_checks import check_slow_store, check_waiting, check_workers, parts_of
from fleet_costs import storing, worker_costs
from fleet_memory import Memory, watch_memory
from fleet_model import fill
from fleet_predictions import cost_rows, prediction_rows
from fleet_sides import Side, Way, run_side
from rows import Row, at_most, new_row

from demoloom.generators.learned.bundled import world_folder
from demoloom.generators.plan import RolloutPlan
from demoloom.pipeline.machine import describe_machine
from demoloom.pipeline.stages.generate import GenerateConfig, make_expert, world_ref
from demoloom.storage.lineage import code_version
from demoloom.storage.plugins import PluginRef

RESULT = Path(__file__).parent / "results" / "fleet.json"
NUM_WORKERS = 2


def attempts_in(world: Path) -> RolloutPlan:
    """The scripted expert in a learned world, as `demoloom generate` lets it attempt."""
    return RolloutPlan(
        stage="benchmark",
        world=world_ref(world),
        stream=make_expert("pusht", world),
        run_seed=0,
        **GenerateConfig().attempt(),
    )


LEARNED = attempts_in(world_folder("pusht"))


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Args:
        num_episodes: of each way of running.
        max_steps: of an episode.
        num_remembered: episodes over which memory is watched, each of `remembered_steps`.
        num_alone: episodes of one worker, for the model.
        waiting: numbers of workers whose world only waits, for the model.
        latencies_s: of stores, for the model: one that the steps of a world hide, and one that they do not.
        costs_s: seconds for the costs of each size of a batch.
    """

    num_episodes: int = 200
    max_steps: int = 300
    num_remembered: int = 2000
    remembered_steps: int = 8
    num_alone: int = 64
    waiting: tuple[int, ...] = (2, 8)
    latencies_s: tuple[float, ...] = (0.01, 0.12)
    costs_s: float = 3.0


QUICK = Extent(
    num_episodes=16, max_steps=30, num_remembered=60, num_alone=16, waiting=(), latencies_s=(0.01,), costs_s=0.3
)


@dataclass(frozen=True)
class Run:
    """A way of running: what two episodes of one step took, and what those of full length took."""

    start: Side
    full: Side

    @property
    def seconds(self) -> float:
        """Of the full run, without starts."""
        return self.full.wall_s - self.start.wall_s

    @property
    def frames_per_s(self) -> float:
        """Once under way."""
        return sum(self.full.lengths) / self.seconds

    @property
    def share(self) -> float:
        """Of attempts that became demonstrations."""
        return self.full.num_demonstrations / len(self.full.summaries)

    @property
    def per_core_hour(self) -> float:
        """Demonstrations, by the time that all cores were taken, without starts."""
        return self.full.num_demonstrations / (NUM_WORKERS * self.seconds / 3600)

    @property
    def core_s(self) -> float:
        """Of cores for a demonstration, without starts."""
        return (self.full.cpu_s - self.start.cpu_s) / max(1, self.full.num_demonstrations)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a minute or two instead of eight; writes nothing")
    parser.add_argument(
        "--only-memory", action="store_true", help="only look whether memory stays flat; writes nothing"
    )
    parser.add_argument("--larger", type=Path, help="a world of larger frames: what a demonstration costs there too")
    arguments = parser.parse_args()
    extent = QUICK if arguments.quick else Extent()
    rows: list[Row] = []
    begun = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        for part in (
            [memory_rows(memory_of(extent, work))] if arguments.only_memory else measure(extent, arguments.larger, work)
        ):
            rows += part
            for row in part:
                print(f"{row['name']}: {row['value']} {row['unit']} (beside {row['rival']}, aim {row['aim']})")
            print(f"-- {time.perf_counter() - begun:.0f} s", flush=True)
    if not arguments.quick and not arguments.only_memory:
        command = "benchmarks/fleet.py" + (" --larger WORLD" if arguments.larger else "")
        head = {"machine": describe_machine(), "command": command, "commit": code_version()}
        RESULT.write_text(json.dumps({**head, "rows": rows}, indent=1) + "\n")


def measure(extent: Extent, larger: Path | None, work: Path) -> Iterator[list[Row]]:
    """The parts of the benchmark, one after the other."""
    ways: tuple[Way, ...] = ("flow", "fleet", "bare")
    learned = replace(LEARNED, max_steps=extent.max_steps)
    runs = {way: run(way, learned, extent.num_episodes, work / way) for way in ways}
    yield [start_row(runs["fleet"]), *pace_rows(runs)]
    yield overhead_rows(runs)
    yield demonstration_rows(64, runs["bare"], in_physics(learned, 64, extent, work / "physics"))
    if larger is not None:
        size, plan = frame_size(larger), replace(attempts_in(larger), max_steps=extent.max_steps)
        made = run("bare", plan, extent.num_episodes, work / "larger")
        yield demonstration_rows(size, made, in_physics(plan, size, extent, work / "larger-physics"))
    alone = run("fleet", learned, extent.num_alone, work / "alone", num_workers=1)
    memory = memory_of(extent, work)
    yield memory_rows(memory)
    yield model_rows(extent, work, alone, runs["fleet"], memory.driver_s)


def run(way: Way, plan: RolloutPlan, num_episodes: int, work: Path, num_workers: int = NUM_WORKERS) -> Run:
    """First the starts alone, then the episodes."""
    work.mkdir()
    short = replace(plan, max_steps=1, success_hold=1)
    if way == "flow":
        # The first flow on a machine makes Prefect's database, which no later one does.
        run_side(way, short, num_workers, work / "first", num_workers)
    start = run_side(way, short, num_workers, work / "start", num_workers)
    full = run_side(way, plan, num_episodes, work / "full", num_workers)
    print(f"{way}, {num_episodes} episodes: {full.wall_s:.1f} s, of which starts {start.wall_s:.1f} s", flush=True)
    return Run(start, full)


def frame_size(world: Path) -> int:
    """Height of a world's frames in pixels."""
    return int(json.loads((world / "spec.json").read_text())["cameras"][0]["height"])


def in_physics(plan: RolloutPlan, size: int, extent: Extent, work: Path) -> Run:
    """The same attempts in gym-pusht, by the same expert with the same probe."""
    return run("bare", replace(plan, world=PluginRef("worlds", "pusht", {"size": size})), extent.num_episodes, work)


def start_row(fleet: Run) -> Row:
    name = f"start-up of a local fleet of {NUM_WORKERS}, from the command to the first step stored"
    return at_most(new_row(name, fleet.start.first_s, "s"), 8.0)


def pace_rows(runs: dict[Way, Run]) -> list[Row]:
    """Frames per second once under way; beside them the bare loop's."""
    fleet, bare = runs["fleet"], runs["bare"]
    pace = new_row(f"fleet of {NUM_WORKERS} workers", fleet.frames_per_s, "frames/s", bare.frames_per_s)
    share = new_row(
        f"fleet of {NUM_WORKERS} workers, share of the bare loop's frames/s",
        fleet.frames_per_s / bare.frames_per_s,
        "share",
    )
    return [pace, share | {"aim": 0.9, "met": share["value"] >= 0.9}, *fill_rows(fleet.full.lengths)]


def fill_rows(lengths: Sequence[int]) -> list[Row]:
    """Slots run empty once, as a worker's last episodes end."""
    slots = LEARNED.num_slots
    of_fleet = fill(parts_of(lengths, slots, NUM_WORKERS), slots)
    of_bare = fill([lengths[part::NUM_WORKERS] for part in range(NUM_WORKERS)], slots)
    return [new_row("share of the fleet's slots that hold an episode", of_fleet, "share", of_bare)]


def overhead_rows(runs: dict[Way, Run]) -> list[Row]:
    """What the same episodes take in all beside the bare loop, and of that the starts alone."""
    bare, num_episodes = runs["bare"], len(runs["bare"].full.summaries)
    rows = [new_row(f"{num_episodes} episodes, bare loop, all told", bare.full.wall_s, "s")]
    titles: dict[Way, str] = {"fleet": "with Ray", "flow": "with Ray and Prefect"}
    for way, title in titles.items():
        side = runs[way]
        added, starts = (side.full.wall_s / bare.full.wall_s - 1, side.start.wall_s - bare.start.wall_s)
        rows += [
            new_row(f"{num_episodes} episodes, {title}, all told", side.full.wall_s, "s", bare.full.wall_s),
            at_most(new_row(f"overhead {title} on {num_episodes} episodes", 100 * added, "%"), 5.0),
            new_row(f"of that once, {title}: starting and ending", starts, "s"),
            new_row(f"of that for each episode, {title}", (side.seconds - bare.seconds) / num_episodes, "s"),
        ]
    return rows


def demonstration_rows(size: int, learned: Run, physics: Run) -> list[Row]:
    """What a demonstration costs in the learned world; beside it gym-pusht, with the same expert and the same seeds."""
    where = f"at {size} px in the learned world, gym-pusht beside"
    return [
        new_row(f"attempts that became demonstrations {where}", learned.share, "share", physics.share),
        new_row(f"accepted demonstrations per core-hour {where}", learned.per_core_hour, "1/h", physics.per_core_hour),
        new_row(f"core-seconds per accepted demonstration {where}", learned.core_s, "s", physics.core_s),
    ]


def model_rows(extent: Extent, work: Path, alone: Run, fleet: Run, driver_s: float) -> list[Row]:
    """Costs of a worker's parts, what the model makes of them beside what was measured, and what it predicts."""
    stored = storing(LEARNED)
    costs = {slots: worker_costs(LEARNED, slots, stored.seconds, extent.costs_s) for slots in (1, 4, 16, 64)}
    checks = [
        check_workers("1 worker", costs[LEARNED.num_slots], alone.full.lengths, 1, alone.seconds),
        check_workers("2 workers", costs[LEARNED.num_slots], fleet.full.lengths, 2, fleet.seconds),
        *(check_waiting(num_workers, work) for num_workers in extent.waiting),
        *(check_slow_store(latency_s, 64, work) for latency_s in extent.latencies_s),
    ]
    lengths = fleet.full.lengths
    predicted = prediction_rows(costs[64], stored, driver_s, sum(lengths) / len(lengths))
    found = [new_row(f"model, {one.name}; measured beside", one.predicted, "frames/s", one.measured) for one in checks]
    return [*cost_rows(costs, stored), *found, *predicted]


def memory_of(extent: Extent, work: Path) -> Memory:
    """Of a fleet that makes many short episodes."""
    plan = replace(LEARNED, max_steps=extent.remembered_steps)
    return watch_memory(plan, extent.num_remembered, work / "many", NUM_WORKERS)


def memory_rows(memory: Memory) -> list[Row]:
    """Growth from the first tenth of the episodes on."""
    first, last = memory.episodes[0], memory.episodes[-1]
    over = f"from {first} to {last} short episodes"
    return [
        at_most(new_row(f"growth of the driver {over}", memory.growth(memory.driver_mb), "MB"), 20.0),
        at_most(new_row(f"growth of the larger worker {over}", memory.growth(memory.worker_mb), "MB"), 20.0),
        at_most(new_row(f"held by Ray's object store after {last} episodes", memory.object_store_mb, "MB"), 1.0),
        new_row("driver, for an episode", 1000 * memory.driver_s, "ms of a core"),
    ]


if __name__ == "__main__":
    main()
