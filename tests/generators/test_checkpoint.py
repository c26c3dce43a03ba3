"""Folders that cannot be a world, down to the file at fault; no weights are needed to tell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from demoloom.generators.learned.checkpoint import from_pretrained
from demoloom.storage.errors import CheckpointError

from .moving_square import SPEC

CONFIG = json.dumps({"format": 3, "tasks": [""], "model": {}}).encode()
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
