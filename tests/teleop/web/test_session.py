import random

import pytest

from demoloom.generators.testing import CountingWorld, FaultyWorld
from demoloom.storage import ConfigError, open_dataset
from demoloom.teleop.axis_map import AxisMap, Binding
from demoloom.teleop.driving import KeptTakes
from demoloom.teleop.web.framing import parse_frame
from demoloom.teleop.web.messages import Command, Input
from demoloom.teleop.web.session import Tempo

from .conftest import Clock, Onlooker
from .turns import asked, steps


class NotingWorld(CountingWorld):
    """A counting world that notes each action it was stepped by."""

    def step(self, actions):
        self.actions.append(float(actions[0, 0]))
        return super().step(actions)

    def __init__(self, num_envs: int) -> None:
        super().__init__(num_envs)
        self.actions: list[float] = []


def jittering(chance: random.Random, start: float, period: float, seconds: float) -> list[float]:
    """Moments whose distances are anything up to twice the period."""
    moments = [start]
    while moments[-1] < start + seconds:
        moments.append(moments[-1] + chance.uniform(0, 2 * period))
    return moments[1:]


@pytest.mark.parametrize("device_hz", [5, 60, 1000])
def test_every_step_of_the_world_is_one_row_whatever_the_rate_of_the_device(
    make_session, clock: Clock, takes: KeptTakes, device_hz: int
) -> None:
    chance, world = random.Random(device_hz), NotingWorld(1)
    session = make_session(world, max_steps=10_000)
    asked(session, "record")
    reports = jittering(chance, clock.now, 1 / device_hz, seconds=8)
    looks = jittering(chance, clock.now, 0.06, seconds=8)
    moments = sorted([(at, True) for at in reports] + [(at, False) for at in looks])
    for seq, (clock.now, is_report) in enumerate(moments):
        if is_report:
            session.hands.page.hear(Input(seq, 0.0, axes={"x": chance.choice([-1.0, -0.5, 0.5, 1.0])}), clock.now)
        else:
            session.turn()
    kept = session.keep()
    recorded = open_dataset(takes.others if kept.outcome != "success" else takes.demonstrations).read(kept.id)
    assert recorded.action[:, 0].tolist() == world.actions
    assert 70 <= len(world.actions) <= 80


def test_what_is_held_at_a_step_is_what_is_done(make_session, clock: Clock) -> None:
    session = make_session()
    session.hands.page.hear(Input(1, 0.0, ("KeyD",)), clock.now)
    steps(session, clock, 2)
    session.hands.page.hear(Input(2, 0.0, ("KeyA",)), clock.now)
    steps(session, clock, 1)
    assert session.drive.look().state.tolist() == [1]


def test_a_hand_that_falls_silent_stops_the_motion_and_then_the_world(
    make_session, clock: Clock, onlooker: Onlooker
) -> None:
    session = make_session()
    session.hands.page.hear(Input(1, 0.0, ("KeyD",)), clock.now)
    steps(session, clock, 30)
    assert session.drive.look().state.tolist() == [2]
    assert session.paused
    assert "nothing was heard" in [state["message"] for state in onlooker.states if state["message"]][-1]


def test_a_frame_says_which_input_is_in_it(make_session, clock: Clock, onlooker: Onlooker) -> None:
    session = make_session()
    session.hands.page.hear(Input(7, 1234.5, ("KeyD",)), clock.now)
    steps(session, clock, 1)
    header, pictures = parse_frame(onlooker.frames[-1][1])
    assert (header["seq"], header["t"], header["step"]) == (7, 1234.5, 1)
    assert header["views"] == [{"camera": "top", "world": "imagined", "size": len(pictures[0])}]
    assert pictures[0][:2] == b"\xff\xd8"


def test_ticks_of_frames_grow_also_when_the_world_goes_back(make_session, clock: Clock, onlooker: Onlooker) -> None:
    session = make_session()
    asked(session, "record")
    steps(session, clock, 3)
    asked(session, "undo", steps=2)
    ticks = [tick for tick, _ in onlooker.frames]
    assert ticks == sorted(set(ticks))
    assert parse_frame(onlooker.frames[-1][1])[0]["step"] == 1


def test_a_paused_world_stands_still_and_steps_one_by_one(make_session, clock: Clock) -> None:
    session = make_session()
    asked(session, "pause")
    steps(session, clock, 5)
    assert session.drive.look().step == 0
    asked(session, "step")
    steps(session, clock, 5)
    assert session.drive.look().step == 1
    asked(session, "resume")
    steps(session, clock, 1)
    assert session.drive.look().step == 2


def test_a_world_that_steps_on_input_stands_still_while_no_hand_moves(make_session, clock: Clock) -> None:
    session = make_session(tempo=Tempo(10, on_input=True))
    steps(session, clock, 5)
    assert session.drive.look().step == 0
    session.hands.page.hear(Input(1, 0.0, ("KeyD",)), clock.now)
    steps(session, clock, 2)
    assert session.drive.look().step == 2


def test_a_late_world_is_slow_and_does_not_hurry(make_session, clock: Clock, takes: KeptTakes) -> None:
    session = make_session()
    asked(session, "record")
    steps(session, clock, 2)
    clock.now += 5.0
    for _ in range(20):
        session.turn()
    assert session.drive.look().step == 3
    assert asked(session, "keep") is None
    assert takes.summaries()[0].lineage["tempo"] == {"rule": "real-time", "fps": 10, "num_late": 1}


def test_a_take_that_is_as_long_as_it_may_be_waits(make_session, clock: Clock, onlooker: Onlooker) -> None:
    session = make_session(max_steps=3)
    asked(session, "record")
    steps(session, clock, 10)
    assert session.drive.look().length == 3
    assert onlooker.states[-1]["paused"]
    assert "at most 3 steps" in onlooker.states[-1]["message"]


def test_resume_goes_on_with_a_take_that_was_stopped(make_session, clock: Clock) -> None:
    session = make_session()
    asked(session, "record")
    steps(session, clock, 2)
    asked(session, "record")
    steps(session, clock, 2)
    assert session.drive.look().length == 2
    asked(session, "resume")
    steps(session, clock, 2)
    assert session.drive.look().length == 4


@pytest.mark.parametrize("jump", ["undo", "seek", "redo", "discard", "keep"])
def test_after_a_jump_a_target_is_where_the_robot_is(make_session, clock: Clock, jump: str) -> None:
    world = NotingWorld(1)
    session = make_session(world, axis_map=AxisMap({"x": Binding("add", mode="absolute")}))
    asked(session, "record")
    session.hands.page.hear(Input(1, 0.0, ("KeyD",)), clock.now)
    steps(session, clock, 2)
    session.hands.page.forget()
    steps(session, clock, 1)
    assert world.actions[-1] == world.actions[-2] > 0
    assert asked(session, jump, **{"undo": {"steps": 1}, "seek": {"step": 1}}.get(jump, {})) is None
    steps(session, clock, 1)
    assert world.actions[-1] == 0


@pytest.mark.parametrize(
    ("name", "args", "sentence"),
    [
        ("eval", {}, "there is no command 'eval'"),
        ("keep", {}, "there is no take to keep"),
        ("keep", {"name": "../../x"}, "keep takes no arguments, got 'name'"),
        ("undo", {"steps": 0}, "at least 1, got 0"),
        ("undo", {"steps": 1.5}, "steps must be an integer, got 1.5"),
        ("undo", {"steps": 10**30}, "steps must be an integer"),
        ("seek", {}, "needs the step"),
        ("seek", {"step": -1}, "choose one from 0 to 0"),
        ("start", {"index": 0}, "there is no start 0"),
        ("start", {"seed": -1}, "0 or more"),
        ("reality", {"on": "yes"}, "on or off"),
        ("reality", {"on": True}, "there is no reality"),
    ],
)
def test_a_command_that_cannot_be_done_says_why_and_the_session_goes_on(
    make_session, clock: Clock, name: str, args: dict, sentence: str
) -> None:
    session = make_session()
    assert sentence in (asked(session, name, **args) or "")
    steps(session, clock, 1)
    assert session.drive.look().step == 1


def test_a_command_that_the_world_fails_at_is_answered_before_the_session_ends(
    make_session, onlooker: Onlooker
) -> None:
    session = make_session(FaultyWorld(1, "raise", at_step=1))
    answers: list[str | None] = []
    session.ask(Command(0, "step", {}), answers.append)
    session.run()
    assert "the counter broke" in (onlooker.ended or "")
    assert answers == [onlooker.ended]


def test_too_many_commands_at_once_are_refused(make_session) -> None:
    session = make_session()
    for id in range(64):
        session.ask(Command(id, "pause", {}), lambda error: None)
    with pytest.raises(ConfigError, match="more slowly"):
        session.ask(Command(64, "pause", {}), lambda error: None)


def test_a_take_says_what_was_done_with_it(make_session, clock: Clock, onlooker: Onlooker) -> None:
    session = make_session()
    asked(session, "record")
    session.hands.page.hear(Input(1, 0.0, ("KeyD",)), clock.now)
    steps(session, clock, 2)
    asked(session, "keep")
    message = onlooker.states[-1]["message"]
    assert "(2 steps) kept apart: the person ended the take after 2 steps without solving the task" in message
    assert onlooker.states[-1]["takes"] == 1


def test_who_has_just_come_is_shown_and_told_all(make_session, onlooker: Onlooker) -> None:
    session = make_session(CountingWorld(1))
    session.turn()
    num_frames, num_states = len(onlooker.frames), len(onlooker.states)
    session.look_again_soon()
    session.turn()
    assert (len(onlooker.frames), len(onlooker.states)) == (num_frames + 1, num_states + 1)


@pytest.mark.parametrize("fps", [0, -1, 1000, float("nan")])
def test_a_tempo_out_of_range_is_refused(fps: float) -> None:
    with pytest.raises(ConfigError, match="fps must be above 0"):
        Tempo(fps)
