"""How fast, how true and how stable a learned PushT world is; writes `benchmarks/results/world.json`.

    .venv/bin/python benchmarks/world.py --world runs/demo/world

Speed needs no trained weights: without `--world` it is measured on an untrained one of the preset `tiny`. The rival of
speed is gym-pusht on the same core; the rival of open-loop PSNR is showing the first frame for ever, that of late
fidelity a block that nothing moves.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from world_stability import fidelity, survival

from demoloom.generators.world import World
from demoloom.pipeline.machine import describe_machine
from demoloom.storage.lineage import code_version

RESULT = Path(__file__).parent / "results" / "world.json"
_HORIZONS = (1, 16, 64, 128)


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


def frames_per_second(world: World, seconds: float) -> float:
    """Frames a world gives in a second, all slots together, under random actions."""
    rng = np.random.default_rng(0)
    world.reset(seed=0)
    low, high = (np.asarray(bound) for bound in (world.episode_spec.action.low, world.episode_spec.action.high))
    for _ in range(5):
        world.step(rng.uniform(low, high, (world.num_envs, len(low))))
    began, steps = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        world.step(rng.uniform(low, high, (world.num_envs, len(low))))
        steps += 1
    return steps * world.num_envs / (time.perf_counter() - began)


def speed_rows(checkpoint: Path, seconds: float) -> list[dict[str, Any]]:
    """Frames per second on one core, with gym-pusht beside."""
    import torch

    from demoloom.generators.learned.world import LearnedWorld
    from demoloom.generators.realities.pusht import PushTReality

    torch.set_num_threads(1)
    rival = frames_per_second(PushTReality(1), seconds)
    rows = []
    for batch, aim in ((1, 150.0), (32, 400.0)):
        value = frames_per_second(LearnedWorld(str(checkpoint), batch), seconds)
        rows.append(_row(f"frames per second, batch {batch}, one core", value, "1/s", rival, aim))
    return rows


def truth_rows(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Open loop on held-out episodes, as training measured it."""
    rows = [_row("autoencoder, PSNR", metrics["psnr_autoencoder"], "dB", None, 33.0)]
    for line in metrics["open_loop"]:
        if line["steps"] in _HORIZONS:
            name = f"open loop {line['steps']} steps"
            rows.append(_row(f"{name}, PSNR", line["psnr"], "dB", line["psnr_no_change"], None))
            errors = line.get("label_error", {}).items()
            rows += [_row(f"{name}, error of {label}", error, "label's unit", None, None) for label, error in errors]
    return rows


def stability_rows(world: Path, quick: bool) -> list[dict[str, Any]]:
    """15 minutes at 10 Hz under random play and idly, and how right the world still is then."""
    num_seeds, num_steps = (8, 500) if quick else (64, 9000)
    rows = []
    for kind in ("random", "idle"):
        found = survival(world, kind, num_seeds, num_steps)
        at = dict(zip(found["steps"], found["alive"], strict=True))
        for step in (100, 1000, 3000, num_steps):
            if step in at:
                aim = 0.95 if step == num_steps else None
                rows.append(_row(f"alive after {step} steps, {kind}", at[step], "share", None, aim))
        for unit, creep in found.get("creep", {}).items():
            name = f"creep of an untouched block after {num_steps} steps, 95th percentile"
            rows.append(_at_most(_row(name, creep, unit, None, None), {"units of 512": 10.0, "degrees": 3.0}[unit]))
    for late in fidelity(world, num_seeds, (100,) if quick else (1000, 3000, 8968)):
        name = f"physics put where the world is at step {late['step']}, 32 steps on, touched blocks, median error"
        row = _row(name, late["units"], "units of 512", late["units_if_still"], None)
        rows += [_at_most(row, 12.0), _at_most(_row(name, late["degrees"], "degrees", None, None), 5.0)]
    return rows


def _at_most(row: dict[str, Any], aim: float) -> dict[str, Any]:
    """The aim of an error is not to be exceeded."""
    return row | {"aim": aim, "met": row["value"] <= aim}


def _row(name: str, value: float, unit: str, rival: float | None, aim: float | None) -> dict[str, Any]:
    return {
        "name": name,
        "value": round(value, 3),
        "unit": unit,
        "rival": None if rival is None else round(rival, 3),
        "ratio": round(value / rival, 3) if rival else None,
        "aim": aim,
        "met": None if aim is None else value >= aim,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--world", type=Path, help="checkpoint of a trained world")
    parser.add_argument("--quick", action="store_true", help="seconds instead of a minute; writes nothing")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = arguments.world or write_untrained(Path(folder) / "world")
        rows = speed_rows(checkpoint, seconds=2.0 if arguments.quick else 15.0)
    if arguments.world:
        rows += stability_rows(arguments.world, arguments.quick)
        rows += truth_rows(json.loads((arguments.world / "metrics.json").read_text()))
    for row in rows:
        print(f"{row['name']}: {row['value']} {row['unit']} (rival {row['rival']}, aim {row['aim']})")
    if not arguments.quick:
        command = "benchmarks/world.py" + (" --world WORLD" if arguments.world else "")
        result = {"machine": describe_machine(), "command": command, "commit": code_version(), "rows": rows}
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
