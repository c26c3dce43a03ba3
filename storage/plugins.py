"""Worlds, streams, policies and tasks, found by name through Python entry points."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Literal

from .errors import PluginError

Kind = Literal["worlds", "streams", "policies", "tasks"]


@dataclass(frozen=True)
class PluginRef:
    """A plug-in and its keyword arguments as plain data, so that it travels to workers and into lineage."""

    kind: Kind
    name: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def build(self, **more: Any) -> Any:
        """Import the plug-in and call it with these keyword arguments."""
        return load_plugin(self.kind, self.name)(**self.kwargs, **more)


def load_plugin(kind: Kind, name: str) -> Any:
    """Return the object that an installed distribution registered as `name` under `demoloom.<kind>`.

    A name of the form `family:member` is that of one of several that were registered together, such as
    `lerobot:so101_leader`: what is called is what stands under `family`, with `member` before all other arguments.
    Any other name with a colon, `package.module:attribute`, is imported from there, for code that no distribution
    registers.

    Raises:
        PluginError: nothing of that name is registered or importable; the message suggests the nearest name.
    """
    found = {point.name: point for point in entry_points(group=f"demoloom.{kind}")}
    family, colon, member = name.partition(":")
    if colon and family in found and callable(registered := found[family].load()):
        return partial(registered, member)
    if colon:
        return _import_attribute(name)
    if name not in found:
        near = difflib.get_close_matches(name, found, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else f"; installed are {', '.join(sorted(found)) or 'none'}"
        raise PluginError(f"no plug-in {name!r} in the entry-point group 'demoloom.{kind}'{hint}")
    return found[name].load()


def _import_attribute(name: str) -> Any:
    module_name, _, attribute = name.partition(":")
    try:
        return getattr(import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise PluginError(
            f"cannot load {name!r} ({error}); name it as package.module:attribute, of a package that is installed or "
            "whose parent folder is in PYTHONPATH"
        ) from error
