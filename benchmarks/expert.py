"""How often the scripted PushT expert succeeds in reality, reading poses with a trained probe, by colour, and exactly.

python benchmarks/expert.py --probe runs/ID/world/probe
"""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from demoloom.generators.realities.pusht import PushTReality
from demoloom.storage.atomic import write_json
from demoloom.storage.lineage import code_version
from demoloom.teleop.pusht.expert import COLOURS, LABEL, PoseReader, PushTExpert

RESULTS = Path(__file__).parent / "results" / "expert.json"
AIM = 0.9


@dataclass(frozen=True)
class Options:
    """What to measure.

    Args:
        probe: folder of a trained probe; without one only the other two readers are measured.
        num_starts: episodes of each reader.
        max_steps: after so many steps an episode has failed.
        quick: few starts, and nothing is written.
    """

    probe: str | None = None
    num_starts: int = 100
    max_steps: int = 300
    quick: bool = False


class ExactPoses:
    """Reads reality's own labels, as no stream may outside a benchmark."""

    def __init__(self) -> None:
        self.poses = np.zeros((0, 4), np.float32)

    def __call__(self, images: np.ndarray) -> dict[str, np.ndarray]:
        return {LABEL: self.poses}


def measure(probe: str | PoseReader, num_starts: int, max_steps: int) -> tuple[np.ndarray, float]:
    """The step at which each start was solved (nan: never), and the expert's milliseconds a step and episode."""
    world = PushTReality(num_starts)
    expert = PushTExpert(world.episode_spec, probe)
    seeds = list(range(num_starts))
    observation, info = world.reset(seed=seeds)
    expert.reset(seeds, np.ones(num_starts, bool))
    solved_at, spent = np.full(num_starts, np.nan), 0.0
    for step in range(1, max_steps + 1):
        if isinstance(probe, ExactPoses):
            probe.poses = info["labels"][LABEL]
        before = time.process_time()
        actions = expert.act(observation)
        spent += time.process_time() - before
        observation, _, _, _, info = world.step(actions)
        solved_at[info["success"] & np.isnan(solved_at)] = step
        if not np.isnan(solved_at).any():
            break
    return solved_at, 1e3 * spent / (num_starts * step)


def rows(name: str, solved_at: np.ndarray, milliseconds: float) -> list[dict[str, Any]]:
    rate = float(np.isfinite(solved_at).mean())
    unset = {"rival": None, "ratio": None, "aim": None, "met": None}
    return [
        {"name": f"{name}: solved", "value": rate, "unit": "share"} | unset | {"aim": AIM, "met": rate >= AIM},
        {"name": f"{name}: steps when solved", "value": float(np.nanmean(solved_at)), "unit": "steps"} | unset,
        {"name": f"{name}: time", "value": milliseconds, "unit": "ms CPU a step of one episode"} | unset,
    ]


def main(options: Options) -> None:
    readers: dict[str, str | PoseReader] = {"exact poses": ExactPoses(), "poses by colour": COLOURS}
    if options.probe:
        readers["poses by probe"] = options.probe
    num_starts = 12 if options.quick else options.num_starts
    found = [
        row for name, reader in readers.items() for row in rows(name, *measure(reader, num_starts, options.max_steps))
    ]
    for row in found:
        print(f"{row['name']:<40} {row['value']:8.3f} {row['unit']}")
    if not options.quick:
        RESULTS.parent.mkdir(exist_ok=True)
        machine = {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        command = " ".join(
            ["python", "benchmarks/expert.py", *("PROBE" if a == options.probe else a for a in sys.argv[1:])]
        )
        write_json(RESULTS, {"machine": machine, "command": command, "commit": code_version(), "rows": found})


if __name__ == "__main__":
    main(tyro.cli(Options, description=__doc__))
