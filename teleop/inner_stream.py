"""Streams inside of streams, given as plain data so that they travel to workers and into lineage."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..generators.stream import ActionStream
from ..storage.errors import ConfigError
from ..storage.plugins import PluginRef, load_plugin
from ..storage.spec import EpisodeSpec


def inner_stream(outer: str, role: str, fields: Mapping[str, Any], spec: EpisodeSpec) -> ActionStream:
    """Build the stream that `outer` wraps.

    Args:
        outer: name of the stream around it, for messages.
        role: what it is to `outer`, for messages.
        fields: `name` of an installed stream and, if it takes any, `kwargs`.
        spec: of the world to drive.

    Raises:
        ConfigError: the fields are others, or the stream takes no such arguments.
        PluginError: no such stream is installed.
    """
    name, kwargs = fields.get("name"), fields.get("kwargs", {})
    if not isinstance(name, str) or not isinstance(kwargs, Mapping) or fields.keys() - {"name", "kwargs"}:
        raise ConfigError(f"{role} of {outer} has a name and may have kwargs, got {dict(fields)}")
    check_arguments(name, kwargs)
    built: ActionStream = PluginRef("streams", name, kwargs).build(spec=spec)
    return built


def check_arguments(name: str, kwargs: Mapping[str, Any]) -> None:
    """Raise ConfigError if the stream `name` takes no such keyword arguments, PluginError if there is none."""
    signature = inspect.signature(load_plugin("streams", name))
    try:
        signature.bind(spec=None, **kwargs)
    except TypeError as error:
        takes = ", ".join(other for other in signature.parameters if other != "spec") or "nothing"
        raise ConfigError(f"stream {name!r} does not take {dict(kwargs)} ({error}); it takes {takes}") from error
