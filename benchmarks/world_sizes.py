"""A world of PushT with frames of another size than the bundled one's 64 pixels; writes `results/world_sizes.json`.

    .venv/bin/python benchmarks/world_sizes.py --size 96

Records play, trains a world on it and runs it open loop on held-out episodes that are recorded with another seed. The
preset `cpu` on a third of its data and with a share of its steps, half by default, which the rows name: at full length
the training takes as long as that of the bundled world and more. Killed and started again, it goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from world_rows import new_row, truth_rows
from world_truth import compare_with_held_out

from demoloom.generators.fleet import FleetConfig
from demoloom.generators.learned.presets import presets
from demoloom.generators.learned.training import train_world
from demoloom.generators.learned.training_config import WorldTrainingConfig
from demoloom.pipeline.console import show_progress
from demoloom.pipeline.machine import describe_machine
from demoloom.pipeline.stages.collect import CollectConfig, collect
from demoloom.storage.lineage import code_version
from demoloom.storage.plugins import PluginRef
from demoloom.teleop.pusht.task import PUSHT

RESULT = Path(__file__).parent / "results" / "world_sizes.json"
_NUM_HELD_OUT = 64
_PLAY = CollectConfig(num_episodes=120, max_steps=600)
#: The same play at another size is another task: the fleet's workers find it by this name.
PUSHT_AT_SIZE = replace(PUSHT, reality=PluginRef("worlds", "pusht", {"size": int(os.environ.get("PUSHT_SIZE", 64))}))


def shortened(config: WorldTrainingConfig, share: float) -> WorldTrainingConfig:
    """The same training with a share of its gradient steps."""

    def part(count: int) -> int:
        return max(1, round(share * count))

    return replace(
        config,
        autoencoder_steps=part(config.autoencoder_steps),
        decoder_steps=part(config.decoder_steps),
        head_steps=part(config.head_steps),
        dynamics=replace(config.dynamics, num_steps=part(config.dynamics.num_steps)),
        vectors=replace(
            config.vectors,
            num_steps=part(config.vectors.num_steps),
            plausibility_steps=part(config.vectors.plausibility_steps),
        ),
        probe=replace(config.probe, num_steps=part(config.probe.num_steps)),
    )


def record(size: int, out: Path, work: Path) -> None:
    """Play at that size."""
    os.environ["PUSHT_SIZE"] = str(size)
    folder = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    with show_progress("collect") as progress:
        collect(_PLAY, "world_sizes:PUSHT_AT_SIZE", 0, out, work, FleetConfig(num_workers=2), progress)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=96, help="height and width of the frames")
    parser.add_argument("--share", type=float, default=0.5, help="of the preset's gradient steps")
    parser.add_argument("--work", type=Path, help="keeps what is finished; runs/world-SIZE by default")
    parser.add_argument("--quick", action="store_true", help="hardly trained; writes no result")
    arguments = parser.parse_args()
    work = arguments.work or Path("runs") / f"world-{arguments.size}"
    share = 0.005 if arguments.quick else arguments.share
    if not (work / "interaction").exists():
        record(arguments.size, work / "interaction", work / "collect")
    if not (work / "world").exists():
        with show_progress("train-world") as progress:
            train_world(work / "interaction", work / "world", shortened(presets["cpu"], share), progress)
    with tempfile.TemporaryDirectory() as folder:
        found = compare_with_held_out(work / "world", _NUM_HELD_OUT, Path(folder))
    rows = rows_of(found, json.loads((work / "world" / "metrics.json").read_text()), arguments.size, share)
    for row in rows:
        print(f"{row['name']}: {row['value']} {row['unit']} (beside {row['rival']}, aim {row['aim']})")
    if not arguments.quick:
        command = f"benchmarks/world_sizes.py --size {arguments.size} --share {share:g}"
        head = {"machine": describe_machine(), "command": command, "commit": code_version()}
        result = {**head, "rows": rows, "open_loop": found["open_loop"], "poses": found["poses"]}
        RESULT.write_text(json.dumps(result, indent=1) + "\n")


def rows_of(found: dict[str, Any], metrics: dict[str, Any], size: int, share: float) -> list[dict[str, Any]]:
    """What was found at a size, and how long the training took."""
    minutes = new_row("training", metrics["seconds"] / 60, "min")
    autoencoder = new_row("autoencoder alone, PSNR", metrics["psnr_autoencoder"], "dB")
    rows = [minutes, autoencoder, *truth_rows(found)]
    return [row | {"name": f"{size} px, {share:.0%} of the steps: {row['name']}"} for row in rows]


if __name__ == "__main__":
    main()
