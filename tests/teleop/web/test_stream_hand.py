import numpy as np
import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.pipeline.commands.teleop import Options, plan_of
from demoloom.storage import ConfigError, PluginRef, open_dataset
from demoloom.storage.errors import DeviceError
from demoloom.teleop.controls import Controls
from demoloom.teleop.driving import Drive, DriveSettings, KeptTakes, no_starts
from demoloom.teleop.task import load_task
from demoloom.teleop.web.hands import Hands
from demoloom.teleop.web.messages import Command
from demoloom.teleop.web.opening import TeleopPlan
from demoloom.teleop.web.session import Session, Tempo
from demoloom.teleop.web.stream_hand import StreamHand

from .conftest import PLAIN, RIGHT_ADDS, Clock, Onlooker


class Arm:
    """Adds a tenth of what it sees, plus one; it is gone for one step where it is told to."""

    def __init__(self, gone_at=None):
        self.resets, self.num_acts, self.gone_at, self.closed = [], 0, gone_at, False

    def reset(self, seeds, mask):
        self.resets.append((list(seeds), mask.tolist()))

    def act(self, observation):
        assert observation["observation.images.top"].shape == (1, 16, 16, 3)
        self.num_acts += 1
        if self.num_acts == self.gone_at:
            raise DeviceError("the arm is gone; plug it in")
        return np.clip(observation["observation.state"] / 10 + 0.5, 0, 1).astype(np.float32)

    def finished(self):
        return np.zeros(1, bool)

    def close(self):
        self.closed = True


class PersonsArm(Arm):
    """One that says who drives: a person, from the third step on."""

    def intervening(self):
        return np.array([self.num_acts > 2])


@pytest.fixture
def drive_with(takes: KeptTakes, clock: Clock, onlooker: Onlooker):
    """Makes a session of a counting world, which a stream drives."""

    def make(arm: Arm) -> Session:
        world = CountingWorld(1)
        drive = Drive(world, takes, no_starts(), DriveSettings())
        drive.start(seed=0)
        controls = Controls(world.episode_spec, RIGHT_ADDS, PLAIN)
        return Session(drive, Hands(controls, StreamHand(arm, "lerobot:arm")), Tempo(10), onlooker, clock=clock)

    return make


def go(session: Session, clock: Clock, count: int) -> None:
    for _ in range(count):
        clock.now += 0.10001
        session.turn()


def ask(session: Session, name: str, **args) -> None:
    session.ask(Command(0, name, args), lambda error: None)
    session.turn()


def test_what_the_stream_does_on_what_it_sees_is_what_the_world_does(drive_with, clock: Clock) -> None:
    session = drive_with(Arm())
    go(session, clock, 2)
    assert session.drive.look().state[0] == pytest.approx(0.5 + 0.55)


def test_a_take_says_which_stream_and_at_which_steps_a_person_drove(drive_with, clock: Clock, takes: KeptTakes) -> None:
    session = drive_with(PersonsArm())
    ask(session, "record")
    go(session, clock, 4)
    kept = session.keep()
    assert kept.lineage["stream"] == {"kind": "stream", "name": "lerobot:arm"}
    stored = open_dataset(takes.demonstrations if kept.is_demonstration else takes.others).read(kept.id)
    assert stored.intervention is not None
    assert stored.intervention.tolist() == [False, False, True, True]


def test_a_device_that_goes_pauses_the_take_which_then_goes_on(drive_with, clock: Clock, onlooker: Onlooker) -> None:
    session = drive_with(Arm(gone_at=3))
    ask(session, "record")
    go(session, clock, 5)
    assert (session.paused, session.drive.length) == (True, 2)
    assert "paused: the arm is gone; plug it in" in [state["message"] for state in onlooker.states]
    ask(session, "resume")
    go(session, clock, 3)
    assert session.drive.length >= 4


def test_the_stream_starts_anew_where_the_robot_is_suddenly_elsewhere(drive_with, clock: Clock) -> None:
    arm = Arm()
    session = drive_with(arm)
    go(session, clock, 3)
    ask(session, "start", seed=4)
    go(session, clock, 1)
    assert arm.resets == [([0], [True]), ([1], [True])]


def test_the_device_is_let_go_of_with_the_session(drive_with) -> None:
    arm = Arm()
    session = drive_with(arm)
    session.close()
    session.run()
    assert arm.closed


def test_one_device_is_for_one_person(tmp_path) -> None:
    task, stream = load_task("pusht"), PluginRef("streams", "lerobot:so101_leader")
    with pytest.raises(ConfigError, match="for one person and all the time; leave out max_sessions"):
        TeleopPlan(task.reality, task, tmp_path, max_sessions=2, stream=stream)


def test_a_stream_is_named_on_the_command_line_with_its_settings() -> None:
    plan = plan_of(Options(stream="lerobot:so101_leader", settings=("port=/dev/ttyACM0",)))
    assert plan.stream == PluginRef("streams", "lerobot:so101_leader", {"port": "/dev/ttyACM0", "paced": False})
    assert plan.max_sessions == 1
    with pytest.raises(ConfigError, match="stream 'idle' does not take"):
        plan_of(Options(stream="idle", settings=("port=1",)))
