"""What a run shows in Prefect: how far a stage is, what generation came to, scores with intervals, pictures, paths.

Each artifact has a key of the run folder's name and its topic, so that Prefect keeps one history for each. A server
that does not answer costs the picture, never the run.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from httpx import HTTPError
from prefect.artifacts import (
    create_link_artifact,
    create_markdown_artifact,
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)

from ..storage.progress import Progress
from .report.scores import decimal, percent, title
from .run_folder import RunFolder
from .stage import Stage

#: Seconds between two updates of one stage's progress.
UPDATE_INTERVAL_S = 1.0


def artifact_key(folder: RunFolder, topic: str) -> str:
    """A key as Prefect allows it: lower-case letters, digits and dashes; a round's has the name of its run, too."""
    path = folder.path
    run = f"{path.parents[1].name}-round-{path.name}" if path.parent.name == "rounds" else path.name
    return re.sub(r"[^a-z0-9]+", "-", f"{run}-{topic}".lower()).strip("-")


class ProgressArtifact:
    """A progress that Prefect shows as a bar, from the first time it is told of work of known length."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._id: Any = None
        self._reachable = True

    def __call__(self, done: int, total: int, message: str) -> None:
        """See `storage.progress.Progress`."""
        if total:
            self._show(100 * done / total, f"{done} of {total} {message}".rstrip())

    def finish(self) -> None:
        """Show that all is done, if anything was shown."""
        if self._id is not None:
            self._show(100.0, "done")

    def _show(self, percentage: float, text: str) -> None:
        if not self._reachable:
            return
        try:
            if self._id is None:
                self._id = create_progress_artifact(percentage, key=self._key, description=text)
            else:
                update_progress_artifact(self._id, percentage, description=text)
        except HTTPError:
            self._reachable = False


def at_most_every(interval_s: float, progress: Progress) -> Progress:
    """The same progress, told no more often; what is left out is not told later."""
    told = float("-inf")

    def seldom(done: int, total: int, message: str) -> None:
        nonlocal told
        if time.monotonic() - told >= interval_s:
            told = time.monotonic()
            progress(done, total, message)

    return seldom


def publish_stage(folder: RunFolder, stage: Stage, metrics: Mapping[str, Any]) -> None:
    """Show what a finished stage made: its numbers, the paths of its outputs, and a picture where it made episodes."""
    try:
        if "reasons" in metrics:
            create_table_artifact(outcome_rows(metrics), key=artifact_key(folder, f"{stage.name}-outcome"))
            _publish_pictures(folder, stage)
        if "scores" in metrics:
            create_table_artifact(score_rows(metrics["scores"]), key=artifact_key(folder, "scores"))
        if stage.name == "report":
            link = (folder.path / "report" / "index.html").as_uri()
            create_link_artifact(link, link_text="report of the run", key=artifact_key(folder, "report"))
    except HTTPError:
        return


def publish_summary(folder: RunFolder, stages: Sequence[Stage], ran: Sequence[str]) -> None:
    """Show which stages ran, which were done already, how long each took and where what it made lies."""
    try:
        create_markdown_artifact(summary_text(folder, stages, ran), key=artifact_key(folder, "summary"))
    except HTTPError:
        return


def outcome_rows(metrics: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How many attempts became what, one row for each outcome and each reason."""
    made = metrics["num_demonstrations"]
    rows = [("demonstrations", made), ("attempts", metrics["num_attempts"]), *metrics["reasons"].items()]
    share = max(1, metrics["num_attempts"])
    return [{"what": what, "episodes": count, "share": f"{100 * count / share:.0f} %"} for what, count in rows]


def score_rows(scores: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Who scored what where, with 95 % intervals."""
    return [
        {
            "who": title(row["name"]),
            "where": row["place"],
            "episodes": row["num_episodes"],
            "success rate": percent(row["success_rate"]),
            "mean best score": decimal(row["max_score"]),
        }
        for row in scores
    ]


def summary_text(folder: RunFolder, stages: Sequence[Stage], ran: Sequence[str]) -> str:
    """The stages of a run as a table in Markdown."""
    lines = [f"`{folder.path}`", "", "| stage | | seconds | outputs |", "|---|---|---:|---|"]
    for stage in stages:
        manifest = folder.manifest(stage.name) or {}
        did = "ran" if stage.name in ran else "was done already"
        outputs = ", ".join(f"`{folder.path / output}`" for output in stage.outputs)
        lines.append(f"| {stage.name} | {did} | {manifest.get('seconds', 0):.0f} | {outputs} |")
    return "\n".join(lines)


def _publish_pictures(folder: RunFolder, stage: Stage) -> None:
    pictures = [(output, picture) for output in stage.outputs if (picture := _strip_of(folder.path / output))]
    if pictures:
        text = "\n\n".join(f"`{output}`, its first episode\n\n![{output}]({picture})" for output, picture in pictures)
        create_markdown_artifact(text, key=artifact_key(folder, f"{stage.name}-pictures"))


def _strip_of(path: Path) -> str | None:
    """Frames of a dataset's first episode as a PNG in a data URI; None where it has no episode."""
    from ..storage.dataset import open_dataset
    from .report.pictures import strip

    dataset = open_dataset(path)
    return strip(dataset.read(dataset.ids()[0])) if len(dataset) else None
