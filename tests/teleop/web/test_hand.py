import pytest

from demoloom.teleop.web.hand import STALE_S, Hand, Held
from demoloom.teleop.web.messages import Input


def test_a_held_key_is_a_deflection() -> None:
    hand = Hand()
    hand.hear(Input(1, 50.0, ("KeyD",)), now=0.0)
    assert hand.held(0.1) == Held({"x": 1.0}, None, 1, 50.0)


def test_a_hand_that_is_not_heard_of_for_a_quarter_of_a_second_has_let_go() -> None:
    hand = Hand()
    hand.hear(Input(1, 50.0, ("KeyD",), pointer=(0.5, 0.5)), now=0.0)
    assert hand.held(STALE_S).axes
    assert hand.held(STALE_S + 0.01) == Held({}, None, 1, 50.0)


def test_an_input_that_was_overtaken_is_dropped() -> None:
    hand = Hand()
    assert hand.hear(Input(5, 0.0), now=0.0)
    assert not hand.hear(Input(4, 0.0, ("KeyD",)), now=0.0)
    assert not hand.hear(Input(5, 0.0, ("KeyD",)), now=0.0)
    assert hand.held(0.0).axes == {}


def test_another_page_may_count_from_the_beginning() -> None:
    hand = Hand()
    hand.hear(Input(500, 0.0, ("KeyD",)), now=0.0)
    hand.forget()
    assert hand.held(0.0) == Held()
    assert hand.hear(Input(1, 0.0), now=0.0)


@pytest.mark.parametrize(("stick", "x"), [(0.0, 1.0), (-0.5, -0.5)])
def test_a_stick_off_rest_goes_before_a_key_and_at_rest_it_does_not(stick: float, x: float) -> None:
    hand = Hand()
    hand.hear(Input(1, 0.0, ("KeyD",), axes={"x": stick}), now=0.0)
    assert hand.held(0.0).axes == {"x": x}


def test_silence_is_counted_from_the_last_input() -> None:
    hand = Hand()
    assert hand.silent_s(99.0) == 0
    hand.hear(Input(1, 0.0), now=1.0)
    assert hand.silent_s(3.5) == 2.5
