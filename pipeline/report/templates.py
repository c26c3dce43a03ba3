"""What the pages of this project have in common: a look (`style.css`) and how figures are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..spoken import spoken_time


def template_environment(*folders: Path) -> Environment:
    """Templates from `folders` and from the report's own; text is escaped, a name that is not there is an error."""
    environment = Environment(
        loader=FileSystemLoader([*folders, Path(__file__).parent]), autoescape=True, undefined=StrictUndefined,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters.update(value=show_value, seconds=spoken_time)
    return environment


def show_value(value: Any) -> str:
    """A figure as a reader wants it: four significant digits, lists as JSON."""
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else json.dumps(value)
