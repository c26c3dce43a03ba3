import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.storage import ConfigError
from demoloom.teleop.web.messages import Ack, Command, Input, parse


def said(**message: Any) -> str:
    return json.dumps(message)


def test_an_input_says_what_is_held() -> None:
    text = said(type="input", seq=3, t=12.5, keys=["KeyW"], pointer=[0.25, 1], axes={"x": -0.5}, buttons=["a"])
    assert parse(text) == Input(3, 12.5, ("KeyW",), (0.25, 1.0), {"x": -0.5}, ("a",))


def test_commands_and_acknowledgements_are_told_apart() -> None:
    assert parse(said(type="command", id=1, name="undo", args={"steps": 3})) == Command(1, "undo", {"steps": 3})
    assert parse(said(type="ack", tick=9)) == Ack(9)


def test_what_lies_beyond_its_range_is_brought_within() -> None:
    assert parse(said(type="input", seq=0, t=0, pointer=[-3, 3], axes={"x": 9})) == Input(
        0, 0.0, pointer=(0.0, 1.0), axes={"x": 1.0}
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "must be JSON"),
        ("[" * 2000, "must be JSON"),
        ("[]", "one of the types"),
        (said(type="eval"), "one of the types"),
        (said(type=["input"]), "one of the types"),
        ('{"type": "input", "seq": 1, "t": NaN}', "NaN is no number"),
        ('{"type": "input", "seq": 1, "t": 0, "axes": {"x": Infinity}}', "Infinity is no number"),
        ('{"type": "input", "seq": 1, "t": 0, "axes": {"x": 1e999}}', "axis x must be a finite number"),
        (said(type="input", seq=-1, t=0), "seq must be an integer"),
        (said(type="input", seq=True, t=0), "seq must be an integer"),
        (said(type="input", seq=1, t="0"), "t must be a finite number"),
        (said(type="input", seq=1, t=0, axes={"w": 1}), "axes must be some of x, y"),
        (said(type="input", seq=1, t=0, pointer=[1]), "pointer must be two numbers"),
        (said(type="input", seq=1, t=0, keys=["K"] * 17), "at most 16 names"),
        (said(type="input", seq=1, t=0, keys="KeyW"), "keys must be a list"),
        (said(type="command", id=1, name=7), "name of a command must be a word"),
        (said(type="command", id=1, name="undo", args=[1]), "args of a command must be an object"),
        (said(type="ack"), "tick must be an integer"),
        (said(type="input", seq=1, t=0, keys=["K" * 5000]), "at most 4096 bytes"),
    ],
)
def test_what_is_no_message_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        parse(text)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=8,
    ),
    st.sampled_from(["type", "seq", "t", "keys", "pointer", "axes", "buttons"]),
)
def test_no_value_of_any_field_does_more_than_being_refused(value: Any, field: str) -> None:
    message = {"type": "input", "seq": 1, "t": 0, field: value}
    try:
        held = parse(json.dumps(message))
    except ConfigError:
        return
    assert isinstance(held, Input)
    assert all(-1 <= axis <= 1 for axis in (held.axes or {}).values())
