"""What Prefect's form says about a config: each field's meaning, bounds and default, and that no others are taken."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import docstring_parser
from pydantic import GetJsonSchemaHandler
from pydantic_core import CoreSchema

from ..storage.errors import ConfigError
from .plain import to_plain


# Compared by identity: typing hashes what annotates a parameter, and a config may hold what has no hash.
@dataclass(frozen=True, eq=False)
class Form:
    """Annotates a parameter that is a config, so that its JSON schema shows what the config's docstrings say.

    Args:
        config: gives the defaults shown; Pydantic leaves out those that a factory makes.
    """

    config: Any

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        """Complete the schema that Pydantic makes of the config and of those inside it."""
        schema = handler(core)
        _complete(schema, self.config, handler)
        return schema


def _complete(schema: dict[str, Any], config: Any, handler: GetJsonSchemaHandler) -> None:
    whole = handler.resolve_ref_schema(schema)
    documented = docstring_parser.parse(type(config).__doc__ or "", docstring_parser.DocstringStyle.GOOGLE)
    meanings = {param.arg_name: _one_line(param.description) for param in documented.params}
    whole |= {"description": _one_line(documented.short_description), "additionalProperties": False}
    for field in fields(config):
        entry, value = whole["properties"][field.name], getattr(config, field.name)
        entry.setdefault("description", meanings.get(field.name, ""))
        if is_dataclass(value):
            _complete(entry, value, handler)
        else:
            entry.setdefault("default", to_plain(value))
            _bound(entry, config, field.name)


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _bound(entry: dict[str, Any], config: Any, name: str) -> None:
    """Add the bounds to the numeric one among the kinds that a field may be of."""
    for kind in entry.get("anyOf", [entry]):
        if kind.get("type") == "integer":
            kind |= bounds_of(config, name)
        if kind.get("type") == "number":
            kind |= bounds_of(config, name, step=1e-9)


def bounds_of(config: Any, name: str, step: float = 1) -> dict[str, float]:
    """The bounds of a number at 0 and 1 as JSON schema names them, from what the config itself accepts.

    A config checks itself as it is made: asked here, no second list of bounds can disagree with it. Bounds that depend
    on another setting are left to it.
    """

    def accepts(value: float) -> bool:
        try:
            replace(config, **{name: value})
        except ConfigError:
            return False
        return True

    bounds: dict[str, float] = {}
    if not accepts(-step) and accepts(0):
        bounds["minimum"] = 0
    elif not accepts(0) and accepts(step):
        bounds |= {"minimum": 1} if step == 1 else {"exclusiveMinimum": 0}
    if accepts(1) and not accepts(1 + step):
        bounds["maximum"] = 1
    return bounds
