"""How fast, how true and how stable a learned PushT world is; writes `benchmarks/results/world.json`.

    .venv/bin/python benchmarks/world.py --world runs/demo/world

Speed needs no trained weights: without `--world` it is measured on an untrained one of the preset `tiny`. Two
processes with a thread each measure the rest. `world_speed.py`, `world_stability.py`, `world_trials.py`,
`world_truth.py` and `world_actions.py` say what is measured, and what stands beside it.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from world_actions import follow_actions
from world_extent import FULL, QUICK, Extent
from world_rows import action_rows, fidelity_rows, survival_rows, trust_rows, truth_rows
from world_speed import speed_rows
from world_stability import Survival, survive, survive_in_reality
from world_trials import try_early_real_moments
from world_truth import compare_with_held_out

from demoloom.pipeline.machine import describe_machine
from demoloom.storage.lineage import code_version

RESULT = Path(__file__).parent / "results" / "world.json"


def write_untrained(path: Path) -> Path:
    """A checkpoint of the preset `tiny` for PushT with random weights."""
    import torch

    from demoloom.generators.learned.checkpoint import save_pretrained
    from demoloom.generators.learned.model import WorldModel
    from demoloom.generators.learned.presets import presets
    from demoloom.generators.probe import Probe, ProbeNet
    from demoloom.generators.realities.pusht import TASK, pusht_spec

    torch.manual_seed(0)
    config, spec = presets["tiny"], pusht_spec()
    names = {name: label.names for name, label in spec.labels.items()}
    probe = Probe(ProbeNet(1, 64, 64, 4, config.probe.width, config.probe.num_blocks), names, (64, 64, 1))
    start, state = np.full((1, 64, 64, 3), 255, np.uint8), np.zeros((1, 2), np.float32)
    save_pretrained(path, WorldModel(config.model, spec, [TASK]), probe, start, state)
    return path


def measure(world: Path, extent: Extent) -> dict[str, Any]:
    """Everything that needs a trained world: `rows`, and what the curves and tables of the docs are made of."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as work, ProcessPoolExecutor(2, spawn, initializer=_use_one_thread) as pool:
        few, many, steps = extent.num_expert_seeds, extent.num_seeds, extent.num_steps
        # The longest first, so that both processes end at about the same time.
        expert = pool.submit(survive, world, "expert", few, steps, extent.moments)
        random = pool.submit(survive, world, "random", many, steps, extent.moments)
        reality = pool.submit(survive_in_reality, world, "random", many, steps)
        idle = pool.submit(survive, world, "idle", many, steps)
        held_out = pool.submit(compare_with_held_out, world, many, Path(work))
        early = pool.submit(try_early_real_moments, world, many)
        actions = pool.submit(follow_actions, world, many // 2)
        survivals = {"random": random.result(), "expert": expert.result(), "idle": idle.result()}
        real, found = reality.result(), held_out.result()
        rows = survival_rows(survivals, real, extent) + truth_rows(found)
        rows += fidelity_rows(survivals["random"].trials, early.result(), extent)
        rows += trust_rows([*survivals["random"].trials, *survivals["expert"].trials])
        rows += action_rows(actions.result(), found["shuffled_action_ratio"])
    curves = {kind: _curve(survival) for kind, survival in (survivals | {"random, in reality": real}).items()}
    return {"rows": rows, "curves": curves, "open_loop": found["open_loop"], "poses": found["poses"]}


def _use_one_thread() -> None:
    import torch

    torch.set_num_threads(1)


def _curve(survival: Survival) -> dict[str, Any]:
    return {"steps": survival.steps, "alive": survival.alive, "on_board": survival.on_board}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", type=Path, help="checkpoint of a trained world")
    parser.add_argument("--quick", action="store_true", help="a minute instead of ten; writes nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = arguments.world or write_untrained(Path(folder) / "world")
        quick = arguments.quick
        speed = speed_rows(checkpoint, seconds=0.5 if quick else 10.0, compiled=not quick)
    found: dict[str, Any] = {"rows": []}
    if arguments.world:
        found = measure(arguments.world, QUICK if arguments.quick else FULL)
    found["rows"] = speed + found["rows"]
    for row in found["rows"]:
        print(f"{row['name']}: {row['value']} {row['unit']} (beside {row['rival']}, aim {row['aim']})")
    if not arguments.quick:
        command = "benchmarks/world.py" + (" --world WORLD" if arguments.world else "")
        result = {"machine": describe_machine(), "command": command, "commit": code_version(), **found}
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
