from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from demoloom.pipeline.plain import differences, to_plain


@dataclass(frozen=True)
class Inner:
    steps: tuple[int, ...] = (1, 2)


@dataclass(frozen=True)
class Outer:
    inner: Inner
    path: Path


def test_nested_configs_become_plain_data() -> None:
    assert to_plain(Outer(Inner(), Path("a/b"))) == {"inner": {"steps": [1, 2]}, "path": "a/b"}


def test_numpy_scalars_become_numbers_and_nan_becomes_none() -> None:
    assert to_plain({"a": np.float32(0.5), "b": float("nan"), "c": np.int64(3)}) == {"a": 0.5, "b": None, "c": 3}


def test_what_is_no_data_is_refused_by_name() -> None:
    with pytest.raises(TypeError, match="a config holds plain data only, got object"):
        to_plain({"a": object()})


def test_differences_name_each_setting_with_both_values() -> None:
    old, new = {"a": 1, "b": {"c": 2, "d": 3}}, {"a": 1, "b": {"c": 5}, "e": 6}
    assert differences(old, new) == ["b.c: 2 -> 5", "b.d: 3 -> None", "e: None -> 6"]
