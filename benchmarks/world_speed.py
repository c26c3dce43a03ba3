"""How fast a learned world is, beside gym-pusht and the network of the Interactive World Simulator on the same cores.

    .venv/bin/python benchmarks/world_speed.py --world runs/demo/world

A part of `benchmarks/world.py`, which writes what it finds. Interactive is one episode, on one thread and on two, each
as it is and compiled; compiling itself, a minute where the cache has nothing, is not timed. In batch, as the fleet does
it, each of two processes steps 32 episodes on a thread of its own. The peak is what a product of bfloat16 matrices
reaches on one thread in the same run.
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

import numpy as np
import torch
from anchor import anchor_speed
from rows import Row, new_row
from threads import use_threads
from torch.utils.flop_counter import FlopCounterMode

from demoloom.generators.learned.world import LearnedWorld
from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.world import World, action_bounds

BATCH, NUM_PROCESSES = 32, 2
_WARM_UP = 10
_PEAK_SIDE = 512


@dataclass(frozen=True)
class Speed:
    """How long the steps of a world took.

    Args:
        seconds: (steps,) of each step.
        num_envs: frames that a step gives.
    """

    seconds: np.ndarray
    num_envs: int

    @property
    def frames_per_second(self) -> float:
        """Of all episodes together."""
        return float(self.num_envs / self.seconds.mean())

    def milliseconds(self, quantile: float) -> float:
        """A quantile of a step's time."""
        return float(1000 * np.quantile(self.seconds, quantile))


def speed_rows(checkpoint: Path, seconds: float, compiled: bool = True) -> list[Row]:
    """All of it; each measurement takes so many seconds, the simulator's network at least two of its frames.

    Args:
        compiled: whether to measure the compiled world too.
    """
    flops = flops_per_frame(checkpoint)
    with use_threads(1):
        peak, physics = bfloat16_peak(), measure(PushTReality(1), seconds).frames_per_second
        batch = measure(LearnedWorld(str(checkpoint), BATCH), seconds)
    numbers = range(1, min(2, torch.get_num_threads()) + 1)
    alone = {number: interactive(checkpoint, seconds, number, compiled) for number in numbers}
    timed = {name: speed for speeds in alone.values() for name, speed in speeds.items()}
    best = max(timed, key=lambda name: timed[name].frames_per_second)
    rows = [
        row for name, speed in timed.items() for row in _rows(name, speed, physics, 150.0 if name == best else None)
    ]
    batched = f"batch {BATCH}, 1 process"
    rows += [*_rows(batched, batch, physics, None), *_peak_rows(flops, peak, {**alone[1], batched: batch})]
    for number, speeds in alone.items():
        rows += _anchor_rows(next(iter(speeds.values())), seconds, number)
    together = in_processes(checkpoint, seconds)
    name = f"frames per second, batch {BATCH} in each of {NUM_PROCESSES} processes"
    return [*rows, new_row(name, together, "1/s", physics, 800.0)]


def interactive(checkpoint: Path, seconds: float, num_threads: int, compiled: bool) -> dict[str, Speed]:
    """Of one episode, by the name of its row: as it is first, and compiled if asked."""
    threads = "1 thread" if num_threads == 1 else f"{num_threads} threads"
    with use_threads(num_threads):
        speeds = {f"interactive, {threads}": measure(LearnedWorld(str(checkpoint), 1), seconds)}
        if compiled:
            world = LearnedWorld(str(checkpoint), 1, compile_model=True)
            speeds[f"interactive, compiled, {threads}"] = measure(world, seconds)
    return speeds


def measure(world: World, seconds: float) -> Speed:
    """Step a world under random actions."""
    rng, (low, high) = np.random.default_rng(0), action_bounds(world.episode_spec)
    world.reset(seed=0)
    times: list[float] = []
    while len(times) < _WARM_UP or sum(times[_WARM_UP:]) < seconds:
        actions = rng.uniform(low, high, (world.num_envs, len(low)))
        began = time.perf_counter()
        world.step(actions)
        times.append(time.perf_counter() - began)
    return Speed(np.array(times[_WARM_UP:]), world.num_envs)


def in_processes(checkpoint: Path, seconds: float) -> float:
    """Frames per second of all processes together, which start to count together."""
    context = multiprocessing.get_context("spawn")
    ready = context.Barrier(NUM_PROCESSES)
    ends = [context.Pipe(duplex=False) for _ in range(NUM_PROCESSES)]
    processes = [context.Process(target=_worker, args=(checkpoint, seconds, ready, end)) for _, end in ends]
    for process in processes:
        process.start()
    total = sum(receiver.recv() for receiver, _ in ends)
    for process in processes:
        process.join()
    return float(total)


def _worker(checkpoint: Path, seconds: float, ready: Barrier, result: Connection) -> None:
    torch.set_num_threads(1)
    world = LearnedWorld(str(checkpoint), BATCH)
    ready.wait()
    result.send(measure(world, seconds).frames_per_second)


def flops_per_frame(checkpoint: Path) -> int:
    """Floating-point operations of a step of one episode, a multiplication and an addition counted as two."""
    world = LearnedWorld(str(checkpoint), 1)
    world.reset(seed=0)
    low, high = action_bounds(world.episode_spec)
    with FlopCounterMode(display=False) as counter:
        world.step((low + high)[None] / 2)
    return counter.get_total_flops()


def bfloat16_peak() -> float:
    """Floating-point operations a second of a product of bfloat16 matrices, the best of many."""
    first, second = (torch.randn(_PEAK_SIDE, _PEAK_SIDE).bfloat16() for _ in range(2))
    fastest = float("inf")
    for _ in range(200):
        began = time.perf_counter()
        first @ second
        fastest = min(fastest, time.perf_counter() - began)
    return 2 * _PEAK_SIDE**3 / fastest


def _rows(name: str, speed: Speed, physics: float, aim: float | None) -> list[Row]:
    return [
        new_row(f"frames per second, {name}", speed.frames_per_second, "1/s", physics, aim),
        new_row(f"a step, {name}, median", speed.milliseconds(0.5), "ms", None, None),
        new_row(f"a step, {name}, 95th percentile", speed.milliseconds(0.95), "ms", None, None),
    ]


def _peak_rows(flops: int, peak: float, speeds: dict[str, Speed]) -> list[Row]:
    rows = [
        new_row("operations a frame", flops / 1e6, "MFLOP", None, None),
        new_row(f"bfloat16 product of {_PEAK_SIDE} x {_PEAK_SIDE}, 1 thread", peak / 1e9, "GFLOP/s", None, None),
    ]
    for name, speed in speeds.items():
        share = speed.frames_per_second * flops / peak
        rows.append(new_row(f"share of that, {name}", share, "share", None, None))
    return rows


def _anchor_rows(alone: Speed, seconds: float, num_threads: int) -> list[Row]:
    """How many times as long the other network takes for its frame, as released and at best."""
    rows, threads = [], "1 thread" if num_threads == 1 else f"{num_threads} threads"
    for dtype, name in ((torch.float32, "as released"), (torch.bfloat16, "in bfloat16")):
        rival = 1 / anchor_speed(seconds, num_threads, dtype)["seconds_per_frame"]
        title = f"frames per second over those of the Interactive World Simulator {name}, {threads}"
        times = new_row(title, alone.frames_per_second / rival, "times", None, 100.0)
        rows.append(times | {"rival": round(rival, 3)})
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", type=Path, required=True, help="checkpoint of a trained world")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each measurement")
    arguments = parser.parse_args()
    for row in speed_rows(arguments.world, arguments.seconds):
        print(f"{row['name']}: {row['value']} {row['unit']} (rival {row['rival']}, aim {row['aim']})")


if __name__ == "__main__":
    main()
