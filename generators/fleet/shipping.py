"""A project's code on the way to the nodes of a cluster, where its dependencies are installed but it is not."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...storage.errors import ConfigError

_LEFT_OUT = ["**/__pycache__/**"]


def runtime_env(packages: Iterable[str]) -> dict[str, Any] | None:
    """Ray's `runtime_env` that sends these packages; None if there are none.

    With the code of a package travels the list of its plug-ins, which the entry points in its metadata are.

    Raises:
        ConfigError: one is not importable here.
    """
    folders = [str(folder) for package in packages for folder in (_code(package), *_metadata(package))]
    return {"py_modules": folders, "excludes": _LEFT_OUT} if folders else None


def _code(package: str) -> Path:
    found = importlib.util.find_spec(package) if package.isidentifier() else None
    places = list(found.submodule_search_locations or ()) if found else []
    if not places:
        raise ConfigError(f"there is no package {package!r} to ship; name one that can be imported here")
    return Path(places[0])


def _metadata(package: str) -> list[Path]:
    """The folder in which a distribution lists its plug-ins; none where it has none, or is only on the path."""
    try:
        files = importlib.metadata.distribution(package).files or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())).parent for file in files if file.name == "entry_points.txt"]
