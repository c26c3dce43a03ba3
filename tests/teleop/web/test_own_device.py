import pytest

from demoloom.teleop.axis_map import AxisMap
from demoloom.teleop.devices.in_hand import Grip
from demoloom.teleop.devices.settings import DeviceSettings
from demoloom.teleop.driving import KeptTakes
from demoloom.teleop.web.messages import Input
from demoloom.teleop.web.own_device import OwnDevice
from demoloom.teleop.web.session import Tempo

from .conftest import Clock, Onlooker
from .turns import asked, steps

GONE = Grip({}, (), False, "the device was unplugged; plug it in again")


class Puck:
    """A device that is held as a test says; what is commanded is seen once."""

    settings = DeviceSettings()

    def __init__(self) -> None:
        self.grip = Grip({}, (), True, "")

    def push(self, x: float, *commands: str) -> None:
        self.grip = Grip({"x": x}, commands, True, "")

    def look(self, axis_map: AxisMap) -> Grip:
        seen = self.grip
        self.grip = Grip(seen.axes, (), seen.connected, seen.message)
        return seen


@pytest.fixture
def puck() -> Puck:
    return Puck()


@pytest.fixture
def session(make_session, puck: Puck):
    own = OwnDevice(puck, "spacemouse")
    assert own.take()
    return make_session(device=own)


def test_a_device_moves_the_robot_and_says_so_in_the_lineage(
    session, puck: Puck, clock: Clock, takes: KeptTakes
) -> None:
    asked(session, "record")
    puck.push(0.5)
    steps(session, clock, 4)
    assert session.drive.look().state.tolist() == [2]
    asked(session, "keep")
    assert takes.summaries()[0].lineage["stream"] == {"kind": "person", "name": "spacemouse"}


def test_a_device_at_rest_leaves_the_robot_to_the_keys(session, puck: Puck, clock: Clock, takes: KeptTakes) -> None:
    asked(session, "record")
    puck.push(1.0)
    steps(session, clock, 1)
    puck.push(0.0)
    session.hands.page.hear(Input(1, 0.0, ("KeyA",)), clock.now)
    steps(session, clock, 1)
    assert session.drive.look().state.tolist() == [0]
    asked(session, "keep")
    assert takes.summaries()[0].lineage["stream"]["name"] == "browser and spacemouse"


def test_buttons_record_and_keep_as_often_as_they_are_pressed(
    session, puck: Puck, clock: Clock, takes: KeptTakes
) -> None:
    for _ in range(2):
        puck.push(1.0, "record")
        steps(session, clock, 3)
        puck.push(0.0, "keep")
        steps(session, clock, 1)
    assert len(takes) == 2


def test_a_pause_button_pressed_again_goes_on(session, puck: Puck, clock: Clock) -> None:
    for paused in (True, False):
        puck.push(0.0, "pause")
        steps(session, clock, 1)
        assert session.standing_still is paused


def test_a_button_for_what_cannot_be_done_says_why_on_the_page(
    session, puck: Puck, clock: Clock, onlooker: Onlooker
) -> None:
    puck.push(0.0, "keep")
    steps(session, clock, 1)
    assert "there is no take to keep" in onlooker.states[-1]["message"]


@pytest.mark.parametrize(("choice", "kept_rows"), [("resume", [5]), ("keep", [3]), ("discard", [])])
def test_a_take_whose_device_is_unplugged_waits_and_goes_on_or_not_by_choice(
    session, puck: Puck, clock: Clock, onlooker: Onlooker, takes: KeptTakes, choice: str, kept_rows: list[int]
) -> None:
    asked(session, "record")
    puck.push(1.0)
    steps(session, clock, 3)
    puck.grip = GONE
    steps(session, clock, 10)
    assert session.drive.look().length == 3
    assert "unplugged; plug it in again" in onlooker.states[-1]["message"]
    puck.push(1.0)
    steps(session, clock, 10)
    assert session.drive.look().length == 3
    assert "spacemouse is back" in onlooker.states[-1]["message"]
    assert asked(session, choice) is None
    if choice == "resume":
        steps(session, clock, 2)
        assert asked(session, "keep") is None
    assert [summary.length for summary in takes.summaries()] == kept_rows


def test_a_world_that_steps_on_input_steps_when_the_device_moves(make_session, puck: Puck, clock: Clock) -> None:
    session = make_session(device=OwnDevice(puck, "spacemouse"), tempo=Tempo(10, on_input=True))
    steps(session, clock, 3)
    assert session.drive.look().step == 0
    puck.push(0.5)
    steps(session, clock, 3)
    assert session.drive.look().step == 3


def test_one_session_at_a_time_has_the_device(puck: Puck) -> None:
    own = OwnDevice(puck, "spacemouse")
    assert own.take()
    assert not own.take()
    own.give_back()
    assert own.take()


def test_a_session_that_ends_gives_the_device_back(make_session, puck: Puck) -> None:
    own = OwnDevice(puck, "spacemouse")
    assert own.take()
    session = make_session(device=own)
    session.close()
    session.run()
    assert own.take()
