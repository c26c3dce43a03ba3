"""What the report of a run says, gathered from its folder; a stage that has not finished leaves its section empty."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ...storage.dataset import EpisodeReader, open_dataset
from ...storage.episode import Episode, EpisodeSummary
from ..machine import describe_machine, describe_packages
from ..run_folder import RunFolder
from .pictures import preview, strip
from .plots import line_plot

Row = dict[str, Any]


def manifests(folder: RunFolder) -> list[Row]:
    """The manifests of all finished stages, in the order in which they ran."""
    names = [path.stem for path in (folder.path / "stages").glob("*.json")]
    found = [manifest for name in names if (manifest := folder.manifest(name)) is not None]
    return sorted(found, key=lambda manifest: float(manifest["started"]))


def made_on(folder: RunFolder) -> Row:
    """The `machine` and the `packages` a run was made with; those at hand while no stage has finished."""
    path = folder.path / "lineage.json"
    return (
        dict(json.loads(path.read_text()))
        if path.exists()
        else {"machine": describe_machine(), "packages": describe_packages()}
    )


def datasets(folder: RunFolder) -> dict[str, EpisodeReader]:
    """Dataset name -> reader, for those of the run that are there."""
    names = ("interaction", "generated", "rejected", "baseline/demonstrations")
    paths = {name: folder.path / name for name in names}
    paths |= {path.name: path for path in sorted((folder.path / "evaluation").glob("*/"))}
    return {name: open_dataset(path) for name, path in paths.items() if path.exists()}


def scores(folder: RunFolder) -> list[Row]:
    """The rows of `scores.json`."""
    path = folder.path / "evaluation" / "scores.json"
    return list(json.loads(path.read_text())["scores"]) if path.exists() else []


def film(episode: Episode, caption: str) -> Row:
    """An animated preview with its caption."""
    return {"source": preview(episode), "caption": caption, "id": episode.id}


def generated_beside_real(found: Mapping[str, EpisodeReader], count: int = 4) -> Row:
    """Previews of generated demonstrations and of real ones, `count` each."""
    real_name = next(
        (name for name in ("baseline/demonstrations", "expert-in-reality", "interaction") if name in found), None
    )
    real = [*(_successes_first(found[real_name]) if real_name else [])][:count]
    generated = [*(_successes_first(found["generated"]) if "generated" in found else [])][:count]
    return {
        "generated": [film(found["generated"].read(one.id), f"{one.length} steps") for one in generated],
        "real": [film(found[real_name].read(one.id), f"{one.length} steps") for one in real if real_name],
    }


def same_starts(found: Mapping[str, EpisodeReader], count: int = 4) -> list[Row]:
    """The policy in reality and in the world model, from the same initial states."""
    real, world = found.get("policy-in-reality"), found.get("policy-in-world")
    if real is None or world is None:
        return []
    starts = list(zip(real.summaries(), world.summaries(), strict=False))[:count]
    return [{"real": film(real.read(a.id), _ending(a)), "world": film(world.read(b.id), _ending(b))} for a, b in starts]


def strips(found: Mapping[str, EpisodeReader], name: str, count: int = 3) -> list[Row]:
    """Strips of the first episodes of a dataset."""
    if name not in found:
        return []
    return [_strip(found[name].read(one.id), _ending(one)) for one in found[name].summaries()[:count]]


def failures(found: Mapping[str, EpisodeReader], most: int = 6) -> list[Row]:
    """One rejected attempt for each kind of reason, the most frequent first."""
    if "rejected" not in found:
        return []
    by_outcome: dict[str, list[EpisodeSummary]] = defaultdict(list)
    for summary in found["rejected"].summaries():
        by_outcome[summary.outcome].append(summary)
    ranked = sorted(by_outcome.values(), key=len, reverse=True)
    chosen = [one for group in ranked for one in group[:2] if one.length][:most]
    return [
        _strip(found["rejected"].read(one.id), f"{one.outcome}: {one.reason}, best score {one.score_max:.2f}")
        for one in chosen
    ]


def success_hold(found: Sequence[Row]) -> int:
    """How many steps in a row an attempt must be successful for to be a demonstration; 1 where no stage says so."""
    settings: Row = next((manifest["config"] for manifest in found if manifest["stage"] == "generate"), {})
    return int(settings.get("generate", {}).get("success_hold", 1))


def losses(folder: RunFolder) -> list[Row]:
    """A plot for each training stage: every loss that its `metrics.jsonl` holds, over steps."""
    files = {
        "World model": folder.path / "world" / "metrics.jsonl",
        "Policy": folder.path / "policy" / "metrics.jsonl",
        "Policy on real demonstrations": folder.path / "baseline" / "policy" / "metrics.jsonl",
    }
    return [plot for name, path in files.items() if path.exists() for plot in _plots(name, path)]


def timings(found: Sequence[Row]) -> list[Row]:
    """Stage, seconds and its share of the whole."""
    total = sum(manifest["seconds"] for manifest in found) or 1
    return [
        {"stage": manifest["stage"], "seconds": manifest["seconds"], "share": manifest["seconds"] / total}
        for manifest in found
    ]


def flat(metrics: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Nested metrics as (dotted name, value); tables (lists of rows) are left to `tables`."""
    if isinstance(metrics, Mapping):
        for key, value in metrics.items():
            yield from flat(value, f"{name}.{key}" if name else str(key))
    elif not isinstance(metrics, list) or not all(isinstance(item, Mapping) for item in metrics):
        yield name, metrics


def tables(metrics: Mapping[str, Any]) -> dict[str, list[Row]]:
    """The metrics that are lists of rows, by name; what is nested in a row becomes a column each."""
    return {
        str(name): [dict(flat(row)) for row in value]
        for name, value in metrics.items()
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value)
    }


def _successes_first(dataset: EpisodeReader) -> list[EpisodeSummary]:
    return sorted(dataset.summaries(), key=lambda one: not one.success)


def _ending(summary: EpisodeSummary) -> str:
    ending = "solved" if summary.is_demonstration else f"best score {summary.score_max:.2f}"
    return f"{ending}, {summary.length} steps"


def _rejection(summary: EpisodeSummary) -> str:
    return f"{summary.outcome}: {summary.reason}, best score {summary.score_max:.2f}"


def _strip(episode: Episode, caption: str) -> Row:
    return {"source": strip(episode), "caption": caption, "id": episode.id}


def _plots(name: str, path: Path) -> Iterator[Row]:
    by_stage: dict[str, list[Row]] = defaultdict(list)
    for line in path.read_text().splitlines():
        row = json.loads(line)
        by_stage[str(row.get("stage", ""))].append(row)
    for stage, rows in by_stage.items():
        series = loss_series(rows)
        if series:
            title = name if stage in ("", "policy") else f"{name}: {stage}"
            yield {"title": title, "svg": Markup(line_plot(series, "steps"))}


def loss_series(rows: Iterable[Row]) -> dict[str, list[tuple[float, float]]]:
    """Every number whose name says that it is a loss, as (step, value) points.

    A training that comes in parts counts its steps anew in each; here they go on counting.
    """
    series: dict[str, list[tuple[float, float]]] = defaultdict(list)
    offset = last = 0.0
    for row in rows:
        step = float(row["step"])
        offset += last if step < last else 0.0
        last = step
        for key, value in row.items():
            if "loss" in key and isinstance(value, int | float):
                series[key].append((offset + step, float(value)))
    return dict(series)
