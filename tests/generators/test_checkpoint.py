"""Folders that are no world, down to the file at fault, and worlds of another format."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.learned.checkpoint import from_pretrained, save_pretrained
from demoloom.generators.learned.model import WorldModel
from demoloom.storage.errors import CheckpointError

from .moving_square import CONFIG as TOY
from .moving_square import SPEC

CONFIG = json.dumps({"format": 4, "tasks": [""], "model": {}}).encode()
NO_LOWS = {**SPEC.to_dict(), "state": {"names": ["x", "y"], "low": [], "high": []}}


@pytest.mark.parametrize(
    ("config", "spec", "fault"),
    [
        (b"\xff\xfe", SPEC.to_dict(), "UnicodeDecodeError"),
        (b"[]", SPEC.to_dict(), "TypeError"),
        (CONFIG, {}, "KeyError: 'fps'"),
        (CONFIG, NO_LOWS, "ValueError: a vector needs one low"),
        (CONFIG, SPEC.to_dict(), "SafetensorError"),
    ],
)
def test_a_damaged_world_is_refused_with_the_remedy(tmp_path: Path, config: bytes, spec: object, fault: str) -> None:
    (tmp_path / "config.json").write_bytes(config)
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    for name in ("model.safetensors", "starts.npz"):
        (tmp_path / name).write_bytes(b"cut")
    with pytest.raises(CheckpointError, match=f"is damaged .*{fault}.*copy it again or train it anew"):
        from_pretrained(tmp_path)


def test_a_world_of_another_format_is_refused_by_number(tmp_path: Path) -> None:
    model = WorldModel(TOY.model, replace(SPEC, labels={}))
    save_pretrained(tmp_path, model, None, np.zeros((1, 32, 32, 3), np.uint8), np.zeros((1, 2), np.float32))
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"format": 3}))
    with pytest.raises(CheckpointError, match="has format 3, this version reads 4; train it anew"):
        from_pretrained(tmp_path)
