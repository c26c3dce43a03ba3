"""Configs as plain data: for digests, manifests and lineage."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np


def to_plain(value: Any) -> Any:
    """Turn dataclasses, mappings, sequences, paths and NumPy scalars into what JSON can hold; NaN becomes None.

    Raises:
        TypeError: `value` holds something else; a config is data only.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.generic):
        return to_plain(value.item())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"a config holds plain data only, got {type(value).__name__}: {value!r}")


def differences(old: Any, new: Any, name: str = "") -> list[str]:
    """Name each setting that differs between two plain configs, as `name: old -> new`."""
    if isinstance(old, dict) and isinstance(new, dict):
        keys = list(old) + [key for key in new if key not in old]
        nested = (differences(old.get(key), new.get(key), f"{name}.{key}" if name else key) for key in keys)
        return [line for lines in nested for line in lines]
    return [] if old == new else [f"{name}: {old!r} -> {new!r}"]
