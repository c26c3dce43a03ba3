"""What a page may say over the line: JSON texts, checked to the last field before anything acts on them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from ...storage.errors import ConfigError
from ..axis_map import AXES

#: Bytes of one message.
MOST_BYTES = 4096
#: Numbers up to which JavaScript counts exactly.
_MOST_NUMBER = 2**53
_MOST_HELD, _MOST_NAME = 16, 32


@dataclass(frozen=True)
class Input:
    """What the person holds now.

    Args:
        seq: grows with each input.
        t: milliseconds of the page's own clock, to be echoed.
        keys: codes of the keys that are down (`KeyboardEvent.code`).
        pointer: (u, v) in [0, 1]² of the first camera's picture; None if it is up.
        axes: deflections in [-1, 1] of a stick; None if there is none.
        buttons: names of those that are down.
    """

    seq: int
    t: float
    keys: tuple[str, ...] = ()
    pointer: tuple[float, float] | None = None
    axes: Mapping[str, float] | None = None
    buttons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Command:
    """Something to do once, whatever the number of times it arrives; `id` is the page's."""

    id: int
    name: str
    args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ack:
    """All frames up to `tick` have arrived."""

    tick: int


def parse(text: str) -> Input | Command | Ack:
    """The message that a page sent.

    Raises:
        ConfigError: it is too long, no JSON, or no message; the sentence says what is wrong with it.
    """
    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise ConfigError(f"a message has at most {MOST_BYTES} bytes, got {len(text)} characters; send less")
    try:
        data = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"a message must be JSON ({error})") from error
    kind = data.get("type") if isinstance(data, dict) else None
    if not isinstance(kind, str) or kind not in _PARSERS:
        raise ConfigError(f"a message has one of the types {', '.join(_PARSERS)}, got {_shown(kind)}")
    return _PARSERS[kind](data)


def _input(data: Mapping[str, Any]) -> Input:
    pointer, axes = data.get("pointer"), data.get("axes")
    return Input(
        seq=_count("seq", data.get("seq")),
        t=_number("t", data.get("t"), 0, _MOST_NUMBER),
        keys=_names("keys", data.get("keys", [])),
        pointer=None if pointer is None else _point(pointer),
        axes=None if axes is None else _axes(axes),
        buttons=_names("buttons", data.get("buttons", [])),
    )


def _command(data: Mapping[str, Any]) -> Command:
    name, args = data.get("name"), data.get("args", {})
    if not isinstance(name, str) or len(name) > _MOST_NAME:
        raise ConfigError(f"name of a command must be a word, got {_shown(name)}")
    if not isinstance(args, dict):
        raise ConfigError(f"args of a command must be an object, got {_shown(args)}")
    return Command(_count("id", data.get("id")), name, args)


def _ack(data: Mapping[str, Any]) -> Ack:
    return Ack(_count("tick", data.get("tick")))


_PARSERS: Mapping[Any, Callable[[Mapping[str, Any]], Input | Command | Ack]] = {
    "input": _input,
    "command": _command,
    "ack": _ack,
}


def _point(value: Any) -> tuple[float, float]:
    if not isinstance(value, list) or len(value) != 2:
        raise ConfigError(f"pointer must be two numbers or null, got {_shown(value)}")
    u, v = (_number("pointer", entry, 0, 1) for entry in value)
    return u, v


def _axes(value: Any) -> dict[str, float]:
    if not isinstance(value, dict) or not value.keys() <= set(AXES):
        raise ConfigError(f"axes must be some of {', '.join(AXES)}, got {_shown(value)}")
    return {axis: _number(f"axis {axis}", entry, -1, 1) for axis, entry in value.items()}


def _names(what: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > _MOST_HELD:
        raise ConfigError(f"{what} must be a list of at most {_MOST_HELD} names, got {_shown(value)}")
    if not all(isinstance(entry, str) and len(entry) <= _MOST_NAME for entry in value):
        raise ConfigError(f"{what} must be names of at most {_MOST_NAME} letters, got {_shown(value)}")
    return tuple(value)


def _number(what: str, value: Any, low: float, high: float) -> float:
    """A finite number, brought within its range."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ConfigError(f"{what} must be a finite number, got {_shown(value)}")
    return min(max(float(value), low), high)


def _count(what: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MOST_NUMBER:
        raise ConfigError(f"{what} must be an integer from 0 to 2^53, got {_shown(value)}")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
