"""A small finished run, written through the real stores, for tests of what reads one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from demoloom.pipeline.run import stages_of
from demoloom.pipeline.run_config import RunConfig
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import Stage, stage_digests
from demoloom.pipeline.stage_store import perform
from demoloom.storage.episode import Episode
from demoloom.storage.progress import silent
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.storage.zarr_store import ZarrStore

SPEC = EpisodeSpec(
    fps=10,
    cameras=(Camera("top", 16, 16),),
    state=Vector(("x",), (0.0,), (1.0,)),
    action=Vector(("x",), (0.0,), (1.0,)),
    labels={},
    robot_type="dot",
)


def dot_episode(index: int, length: int = 12, outcome: str = "success", reason: str = "") -> Episode:
    """A red dot that moves to the right, one pixel a step."""
    frames = np.full((length, 16, 16, 3), 240, np.uint8)
    for step in range(length):
        frames[step, 7:9, step % 14 : step % 14 + 2] = (220, 30, 30)
    ramp = np.linspace(0, 1, length, dtype=np.float32)
    success = np.zeros(length, bool)
    success[-1] = outcome == "success"
    return Episode(
        id=f"dot-{index:06d}",
        index=index,
        seed=index,
        task="Move right.",
        images={"top": frames},
        state=ramp[:, None],
        action=ramp[:, None],
        reward=ramp,
        success=success,
        score=ramp,
        trust=np.ones(length, np.float32),
        outcome=outcome,  # type: ignore[arg-type]
        reason=reason,
    )


def write_store(path: Path, episodes: list[Episode]) -> None:
    store = ZarrStore.create(path, SPEC)
    for episode in episodes:
        store.append(episode)


def finished_run(path: Path) -> RunFolder:
    """Every stage's output in small, with manifests as the stage store writes them."""
    folder = RunFolder(path)
    good = [dot_episode(index) for index in range(4)]
    late = [dot_episode(4, outcome="failure", reason="not solved within 12 steps")]

    def collect() -> dict[str, object]:
        write_store(path / "interaction", good)
        return {"num_episodes": 4, "num_steps": 48, "labels": []}

    def train_world() -> dict[str, object]:
        (path / "world").mkdir()
        rows = [{"stage": "autoencoder", "step": step, "loss": 1 / (step + 1)} for step in range(50)]
        (path / "world" / "metrics.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
        return {"open_loop": [{"horizon": 1, "psnr_db": 33.1}, {"horizon": 16, "psnr_db": 28.4}], "probe_error": 1.5}

    def generate() -> dict[str, object]:
        write_store(path / "generated", good)
        write_store(path / "rejected", late)
        reasons = {"not solved within 12 steps": 1}
        return {
            "num_attempts": 5,
            "num_demonstrations": 4,
            "num_steps": 48,
            "reasons": reasons,
            "ended": "4 of 5 attempts became demonstrations, as many as asked for",
            "coverage": [{"x": 0.0, "demonstrations": 1}, {"x": 0.5, "demonstrations": 3}],
            "lost": [{"index": 3, "seed": 77, "times": 1, "cause": "its worker died", "became": "made again"}],
        }

    def evaluate() -> dict[str, object]:
        for place in ("reality", "world"):
            write_store(path / "evaluation" / f"policy-in-{place}", good)
        rates = {("policy", "reality"): 0.6, ("policy", "world"): 0.7, ("random", "reality"): 0.0}
        rows = [score_row(name, place, rate) for (name, place), rate in rates.items()]
        (path / "evaluation" / "scores.json").write_text(json.dumps({"scores": rows}))
        return {"scores": rows}

    makers = {"collect": collect, "train-world": train_world, "generate": generate, "evaluate": evaluate}
    outputs = {"collect": "interaction", "train-world": "world", "generate": "generated", "evaluate": "evaluation"}
    for name, make in makers.items():
        stage = Stage(name, lambda work, progress, make=make: make(), {"seed": 0}, (outputs[name],))  # type: ignore[misc]
        perform(folder, stage, stage_digests([stage])[name], silent)
    return folder


def done_run(path: Path, config: RunConfig) -> RunFolder:
    """A run of which every stage is taken for done, with nothing in what it made."""
    folder = RunFolder(path)
    stages = stages_of(config, folder)
    for stage in stages:
        for output in stage.outputs:
            (path / output).mkdir(parents=True)
        made = {"digest": stage_digests(stages)[stage.name], "seconds": 1.0, "metrics": {}}
        folder.write_manifest(stage.name, {"stage": stage.name, **made})
    return folder


def score_row(name: str, place: str, rate: float) -> dict[str, object]:
    interval = {"value": rate, "low": max(0.0, rate - 0.1), "high": min(1.0, rate + 0.1)}
    return {
        "name": name,
        "place": place,
        "key": f"{name}-in-{place}",
        "num_episodes": 4,
        "num_successes": round(4 * rate),
        "success_rate": interval,
        "max_score": interval,
    }
