"""The report's page, rendered from `page.html`."""

from __future__ import annotations

from typing import Any

from ...storage.progress import Progress
from ..run_folder import RunFolder
from . import content
from .pictures import picture_file
from .plots import interval_bar
from .scores import decimal, percent, title
from .templates import template_environment


def render(folder: RunFolder, progress: Progress) -> str:
    """The whole page as text; `progress` counts its sections."""
    environment = template_environment()
    environment.filters.update(percent=percent, decimal=decimal, contestant=title, column=column)
    environment.globals.update(interval_bar=interval_bar)
    return environment.get_template("page.html").render(**sections(folder, progress))


def sections(folder: RunFolder, progress: Progress) -> dict[str, Any]:
    """What the template shows, by name."""
    found = content.datasets(folder)
    stages, origin = content.manifests(folder), content.made_on(folder)
    metrics = {manifest["stage"]: manifest["metrics"] for manifest in stages}
    makers = {
        "pairs": lambda: content.generated_beside_real(found),
        "starts": lambda: content.same_starts(found),
        "strips": lambda: {name: content.strips(found, name) for name in ("generated", "interaction")},
        "failures": lambda: content.failures(found),
        "losses": lambda: content.losses(folder),
    }
    made: dict[str, Any] = {}
    for number, (name, make) in enumerate(makers.items()):
        progress(number, len(makers), name)
        made[name] = make()
    return {
        "run": folder.path.name,
        "scores": content.scores(folder),
        "stages": stages,
        "metrics": metrics,
        "world_tables": content.tables(metrics.get("train-world", {})),
        "world_figures": list(content.flat(metrics.get("train-world", {}))),
        "hold": content.success_hold(stages),
        "world_picture": picture_file(folder.path / "world" / "preview.png"),
        "export_figures": list(content.flat(metrics.get("export", {}))),
        "timings": content.timings(stages),
        "losses_by_stage": {stage: numbers["lost"] for stage, numbers in metrics.items() if numbers.get("lost")},
        "configs": [(manifest["stage"], list(content.flat(manifest["config"]))) for manifest in stages],
        "machine": origin["machine"],
        "packages": origin["packages"],
        **made,
    }


def column(name: str) -> str:
    """A figure's name as the head of a column: `label_error.block_pose.x` is `label error, block pose x`."""
    first, _, rest = name.replace("_", " ").replace("psnr", "PSNR").partition(".")
    return f"{first}, {rest.replace('.', ' ')}" if rest else first
