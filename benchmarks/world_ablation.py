"""What each choice in the dynamics of frames, and in the decoder, is worth; writes `results/world_ablation.json`.

    .venv/bin/python benchmarks/world_ablation.py

Worlds of one autoencoder, without labels, so that each latent follows from the last ones: variants differ from the
first in one thing. Held-out episodes of PushT run open loop on recorded actions and states; a rollout is alive while
its frame has block and agent of about the area that reality shows. Minutes are of one core. Decoders, each with an
encoder of its own, redraw real frames of held-out episodes. Finished variants are kept in `--work`: killed and started
again, it goes on with the others.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from demoloom.generators.fleet import FleetConfig
from demoloom.generators.learned.autoencoder_training import encode_all, set_background, train_autoencoder
from demoloom.generators.learned.config import WorldConfig
from demoloom.generators.learned.dynamics import follow
from demoloom.generators.learned.dynamics_training import train_dynamics
from demoloom.generators.learned.evaluation import psnr
from demoloom.generators.learned.interaction import Interaction, read_interaction
from demoloom.generators.learned.model import WorldModel
from demoloom.generators.learned.moments import Moments
from demoloom.generators.learned.presets import presets
from demoloom.generators.learned.sequences import Sequences
from demoloom.generators.learned.timeline import Timeline
from demoloom.generators.learned.training_config import DynamicsTrainingConfig
from demoloom.generators.learned.training_log import TrainingLog
from demoloom.generators.learned.training_stage import Training
from demoloom.pipeline.machine import describe_machine
from demoloom.pipeline.stages.collect import CollectConfig, collect
from demoloom.storage.lineage import code_version
from demoloom.storage.progress import silent

RESULT = Path(__file__).parent / "results" / "world_ablation.json"
HORIZONS = (16, 64)
LAST = 192
#: How the names of figures begin that are not in dB.
UNITS = {"minutes": "min", "alive": "share", "sharpness": "of real"}
#: RGB of gym-pusht's block and agent, and how near a pixel of theirs is.
BLOCK, AGENT, NEAR = (119, 136, 153), (65, 105, 225), 60.0


@dataclass(frozen=True)
class Variant:
    """One training, and in how many steps each its samples are drawn."""

    name: str
    model: WorldConfig
    dynamics: DynamicsTrainingConfig
    sampling_steps: tuple[int, ...] = (1,)


def variants(num_steps: int) -> list[Variant]:
    """The first is what the others differ from."""
    model = presets["tiny"].model
    dynamics = replace(presets["tiny"].dynamics, num_steps=num_steps)
    steady = dynamics.history_noise
    sampled = replace(model, prediction="consistency")
    return [
        Variant(f"regression, history 2, noise {steady}, pool, gate", model, dynamics),
        Variant("no pool", model, replace(dynamics, rollouts_from=1.0)),
        Variant("no gate", replace(model, gate=False), dynamics),
        Variant("anchor", replace(model, anchor=True), dynamics),
        *(Variant(f"noise {noise}", model, replace(dynamics, history_noise=noise)) for noise in (0.0, 0.15, 0.3)),
        Variant("history 3", replace(model, history=3), dynamics),
        Variant("consistency", sampled, dynamics, sampling_steps=(1, 2, 4)),
    ]


#: How far the latents are off that a decoder meets in a rollout.
OFF = 0.1


class Bench:
    """Interaction data without labels, an autoencoder that all variants share, and the latents it makes."""

    def __init__(self, dataset: Path, num_episodes: int, work: Path, autoencoder_steps: int) -> None:
        data = read_interaction(dataset, num_episodes=num_episodes)
        self.data: Interaction = replace(data, spec=replace(data.spec, labels={}), labels={})
        self.train, self.held_out = self.data.split(0.2)
        self._work, self._steps = work, autoencoder_steps
        self.shared = self.autoencoder(presets["tiny"].model, "autoencoder")
        self.latents = encode_all(self.shared, self.data.frames)

    def autoencoder(self, config: WorldConfig, name: str) -> WorldModel:
        """A model with a trained autoencoder, or one that an earlier try trained."""
        model, rows, preset = self._new_model(config), self.data.rows(self.train), presets["tiny"]
        set_background(model, self.data.frames, rows)
        training = self.training(name, Moments(self._work, every_s=60.0))
        train_autoencoder(
            model, self.data, rows, self._steps, preset.autoencoder_batch, preset.crop, preset.lr,
            training.stage(f"{name} {self._steps}"),
        )  # fmt: skip
        return model.eval()

    def training(self, name: str, moments: Moments | None = None) -> Training:
        """A training whose losses go to a file of that name."""
        return Training(0, TrainingLog(self._work / f"{name}.jsonl", 0), moments or Moments())

    def model(self, config: WorldConfig) -> WorldModel:
        """A new model behind the shared autoencoder."""
        model = self._new_model(config)
        model.autoencoder.load_state_dict(self.shared.autoencoder.state_dict())
        return model

    def sequences(self, model: WorldModel) -> Sequences:
        """What its dynamics learns from."""
        vectors = model.scale_vectors(self.data.state, {})
        actions = model.scale_actions(torch.from_numpy(self.data.action))
        timeline = Timeline(self.data.starts, self.train)
        return Sequences(timeline, self.latents, vectors, actions, model.config.history, model.config.anchor)

    def _new_model(self, config: WorldConfig) -> WorldModel:
        torch.manual_seed(0)
        return WorldModel(config, self.data.spec)


def measure(bench: Bench, variant: Variant) -> list[dict[str, Any]]:
    """Train a variant; one result for each number of sampling steps."""
    model, began = bench.model(variant.model), time.process_time()
    sequences = bench.sequences(model)
    train_dynamics(model, sequences, variant.dynamics, bench.training(variant.name).stage("dynamics"))
    minutes = (time.process_time() - began) / 60
    results = []
    for num_steps in variant.sampling_steps:
        model.config = replace(variant.model, sampling_steps=num_steps)
        plural = f", {num_steps} step{'s' * (num_steps > 1)}" if model.samples else ""
        results.append({"name": variant.name + plural, "minutes": minutes, **open_loop(bench, model.eval(), sequences)})
    return results


@torch.inference_mode()
def open_loop(bench: Bench, model: WorldModel, sequences: Sequences) -> dict[str, float]:
    """PSNR in dB, whole and of the foreground, after some steps, and the share of rollouts that are alive at last."""
    lengths = np.diff(bench.data.starts)[bench.held_out]
    last = min(LAST, int(lengths.min()) - 1)
    rows = bench.data.starts[:-1][bench.held_out]
    found: dict[str, float] = {}
    for step, latent in roll(model, sequences, rows, last):
        if step in (*HORIZONS, last):
            real, shown = bench.data.frames[rows + step], model.decode(latent)
            found |= {f"psnr_{step}": psnr(shown, real), f"foreground_{step}": psnr(shown, real, _objects(real, shown))}
        if step == last:
            found["alive"] = float(alive(shown, real).mean())
    return found


def roll(model: WorldModel, sequences: Sequences, rows: np.ndarray, last: int) -> Iterator[tuple[int, Tensor]]:
    """Each step after `rows` (E,) and the latent (E, C, H, W) that was predicted for it."""
    chance, history = torch.Generator().manual_seed(0), sequences.history(rows)
    for step in range(last):
        noise = torch.randn(model.noise_shape(len(rows)), generator=chance)
        vector, actions = sequences.following_vector(rows + step), sequences.action_history(rows + step)
        history = follow(history, model.draw(history, vector, actions, noise=noise), sequences.anchored)
        yield step + 1, history[:, -1]


def alive(shown: np.ndarray, real: np.ndarray) -> np.ndarray:
    """(E,) whether block and agent have about their real area: a quarter more or less, the small agent a half."""
    found = np.ones(len(shown), bool)
    for colour, share in ((BLOCK, 0.25), (AGENT, 0.5)):
        area, expected = (_near(frames, colour).sum((1, 2)) for frames in (shown, real))
        found &= np.abs(area - expected) <= share * expected
    return found


def _objects(*frames: np.ndarray) -> np.ndarray:
    """(E, H, W): where any of the frames shows block or agent."""
    return np.any([_near(one, colour) for one in frames for colour in (BLOCK, AGENT)], axis=0)


def _near(frames: np.ndarray, colour: tuple[int, int, int]) -> np.ndarray:
    near: np.ndarray = np.linalg.norm(frames.astype(np.float32) - np.asarray(colour, np.float32), axis=-1) < NEAR
    return near


def redraw(bench: Bench) -> list[dict[str, Any]]:
    """One result for the direct decoder, and one for each number of steps of a consistency decoder."""
    sampled = bench.autoencoder(replace(presets["tiny"].model, decoder="consistency"), "consistency decoder")
    results = [{"name": "direct decoder", **redrawn(bench, bench.shared)}]
    for num_steps in (1, 2, 3):
        sampled.config = replace(sampled.config, decoding_steps=num_steps)
        name = f"consistency decoder, {num_steps} step{'s' * (num_steps > 1)}"
        results.append({"name": name, **redrawn(bench, sampled)})
    return results


@torch.inference_mode()
def redrawn(bench: Bench, model: WorldModel) -> dict[str, float]:
    """PSNR in dB and sharpness of real frames as they come out of their latents, and out of latents that are off."""
    real = bench.data.frames[bench.data.rows(bench.held_out)[::25]]
    latents = model.encode(real)
    off = OFF * torch.randn(latents.shape, generator=torch.Generator().manual_seed(0))
    found: dict[str, float] = {}
    for name, shown in (("", model.decode(latents)), (f"_latents_off_{OFF}", model.decode(latents + off))):
        found[f"psnr{name}"] = psnr(shown, real)
        found[f"foreground{name}"] = psnr(shown, real, _objects(real, shown))
        found[f"sharpness{name}"] = edges(shown) / edges(real)
    return found


def edges(frames: np.ndarray) -> float:
    """Mean absolute difference of neighbouring pixels, of frames (N, H, W, C)."""
    levels = frames.astype(np.float32)
    return float(np.mean([np.abs(np.diff(levels, axis=axis)).mean() for axis in (1, 2)]))


def rows_of(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One row for each figure of each variant, the first variant's beside."""
    first = results[0]
    return [
        {
            "name": f"{result['name']}: {figure}",
            "value": round(result[figure], 3),
            "unit": next((unit for start, unit in UNITS.items() if figure.startswith(start)), "dB"),
            "rival": round(first[figure], 3),
            "ratio": round(result[figure] / first[figure], 3) if first[figure] else None,
            "aim": None,
            "met": None,
        }
        for result in results
        for figure in result
        if figure != "name"
    ]


def collected(dataset: Path | None, work: Path, num_episodes: int) -> Path:
    """The dataset, or one of play that is recorded now."""
    out = dataset or work / "interaction"
    if not out.exists():
        settings = CollectConfig(num_episodes=num_episodes, max_steps=200, num_slots=8)
        collect(settings, "pusht", 0, out, work / "collect", FleetConfig(num_workers=1), silent)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", type=Path, help="a PushT dataset with episodes of 200 steps; recorded if missing")
    parser.add_argument("--work", type=Path, default=Path("runs/ablation"), help="keeps what is finished")
    parser.add_argument("--steps", type=int, default=2300, help="gradient steps of each variant")
    parser.add_argument("--quick", action="store_true", help="two variants, hardly trained; writes no result")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    num_episodes, num_steps = (12, 30) if arguments.quick else (125, arguments.steps)
    chosen = variants(num_steps)[-2:] if arguments.quick else variants(num_steps)
    arguments.work.mkdir(parents=True, exist_ok=True)
    dataset = collected(arguments.dataset, arguments.work, num_episodes)
    bench = Bench(dataset, num_episodes, arguments.work, autoencoder_steps=min(1400, num_steps))
    results = []
    for variant in chosen:
        kept = arguments.work / f"{variant.name} {num_steps}.json"
        if not kept.exists():
            kept.write_text(json.dumps(measure(bench, variant)))
        results += json.loads(kept.read_text())
        print(results[-1], flush=True)
    decoders = redraw(bench)
    print(*decoders, sep="\n", flush=True)
    if not arguments.quick:
        rows = rows_of(results) + rows_of(decoders)
        result = {"machine": describe_machine(), "command": "benchmarks/world_ablation.py", "commit": code_version()}
        RESULT.write_text(json.dumps(result | {"rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    main()
