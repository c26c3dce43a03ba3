"""Tensors, numbers, and lists and dicts of them, as bytes."""

from __future__ import annotations

import io
from typing import Any

import torch


def to_bytes(value: Any) -> bytes:
    """What `from_bytes` turns back; in memory first, since torch does not say of a full disk that it is full."""
    buffer = io.BytesIO()
    torch.save(value, buffer)
    return buffer.getvalue()


def from_bytes(data: bytes) -> Any:
    """Load to the CPU, without running what a file may hold besides data.

    Damaged bytes raise whatever they happen to mean.
    """
    return torch.load(io.BytesIO(data), map_location="cpu", weights_only=True)
