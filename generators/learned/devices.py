"""Networks on an accelerator, all else on the CPU."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from ...storage.errors import ConfigError
from .config import Device
from .crops import Crops

_CPU = torch.device("cpu")


def choose_device(wanted: Device) -> torch.device:
    """The device that a setting names; `auto` is a CUDA GPU where there is one.

    Raises:
        ConfigError: a GPU is asked for, and torch finds none.
    """
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise ConfigError("device is cuda, and torch finds no CUDA GPU here; set device to auto or cpu")
    return torch.device("cuda" if available and wanted != "cpu" else "cpu")


def run_on(device: torch.device, *networks: nn.Module) -> None:
    """Let these networks live and work on a device, in bfloat16, while they still take and give tensors of the CPU.

    On the CPU nothing is changed. Elsewhere the data, the losses and the random numbers stay where they are, so that
    everything around a network is the same on every machine; a batch travels to the device and what comes of it back.
    """
    if device == _CPU:
        return
    for network in networks:
        _wrap(network.to(device), device)


def _wrap(network: nn.Module, device: torch.device) -> None:
    inner = network.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        given, named = moved((args, kwargs), device)
        with torch.autocast(device.type, torch.bfloat16):
            return moved(inner(*given, **named), _CPU)

    network.forward = forward


def moved(value: Any, device: torch.device) -> Any:
    """`value` with all tensors in it on a device: in tuples, dicts and dataclasses, but for windows, which index."""
    if isinstance(value, Tensor):
        return value.to(device)
    if isinstance(value, tuple):
        return tuple(moved(one, device) for one in value)
    if isinstance(value, dict):
        return {name: moved(one, device) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, Crops | type):
        return replace(value, **{field.name: moved(getattr(value, field.name), device) for field in fields(value)})
    return value
