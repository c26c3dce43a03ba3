from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import TypeAdapter

from demoloom.pipeline.form import Form, bounds_of
from demoloom.storage.errors import ConfigError


@dataclass(frozen=True)
class Wheel:
    """One of four.

    Args:
        spokes: how many it has.
        wear: from new to gone.
        width_m: across, in metres.
        offset: to either side.
    """

    spokes: int = 12
    wear: float | None = None
    width_m: float = 0.2
    offset: float = 0.0

    def __post_init__(self) -> None:
        if self.spokes < 1 or not self.width_m > 0 or not 0 <= (self.wear or 0) <= 1:
            raise ConfigError("no such wheel")


@dataclass(frozen=True)
class Cart:
    """What rolls.

    Args:
        colour: as seen from
            above.
        wheel: all four.
        load: what lies on it.
    """

    colour: Literal["red", "blue"] = "red"
    wheel: Wheel = field(default_factory=Wheel)
    load: tuple[str, ...] = field(default_factory=lambda: ("hay",))


def schema() -> dict[str, Any]:
    return TypeAdapter(Annotated[Cart, Form(Cart())]).json_schema()


def test_each_field_says_what_its_docstring_says() -> None:
    assert schema()["properties"]["colour"]["description"] == "as seen from above."
    assert schema()["$defs"]["Wheel"]["properties"]["spokes"]["description"] == "how many it has."


def test_a_default_that_a_factory_makes_is_shown() -> None:
    assert schema()["properties"]["load"]["default"] == ["hay"]


def test_choices_are_listed_and_other_fields_refused() -> None:
    assert schema()["properties"]["colour"]["enum"] == ["red", "blue"]
    assert schema()["additionalProperties"] is schema()["$defs"]["Wheel"]["additionalProperties"] is False


def test_bounds_are_those_that_the_config_itself_keeps() -> None:
    fields = schema()["$defs"]["Wheel"]["properties"]
    assert fields["spokes"]["minimum"] == 1
    assert fields["width_m"]["exclusiveMinimum"] == 0
    assert fields["wear"]["anyOf"][0] == {"type": "number", "minimum": 0, "maximum": 1}
    assert bounds_of(Wheel(), "offset", step=1e-9) == {}
