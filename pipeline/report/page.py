"""The report's page, rendered from `page.html`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ...storage.progress import Progress
from ..run_folder import RunFolder
from . import content
from .pictures import picture_file
from .plots import interval_bar
from .scores import decimal, percent, title


def render(folder: RunFolder, progress: Progress) -> str:
    """The whole page as text; `progress` counts its sections."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(
        percent=percent, decimal=decimal, contestant=title, value=show_value, seconds=seconds, column=column
    )
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
        "configs": [(manifest["stage"], list(content.flat(manifest["config"]))) for manifest in stages],
        "machine": origin["machine"],
        "packages": origin["packages"],
        **made,
    }


def show_value(value: Any) -> str:
    """A figure as a reader wants it: four significant digits, lists as JSON."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)


def column(name: str) -> str:
    """A figure's name as the head of a column: `label_error.block_pose.x` is `label error, block pose x`."""
    first, _, rest = name.replace("_", " ").replace("psnr", "PSNR").partition(".")
    return f"{first}, {rest.replace('.', ' ')}" if rest else first


def seconds(duration: float) -> str:
    """`3 min 05 s`."""
    minutes, rest = divmod(round(duration), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
