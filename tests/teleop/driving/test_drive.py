import numpy as np
import pytest

from demoloom.generators.testing import CountingWorld, FaultyWorld
from demoloom.storage import ConfigError, open_dataset
from demoloom.teleop.driving import Drive, DriveSettings, KeptTakes, Starts, no_starts

from .one_way import ForgetfulWorld

UP, REST = np.array([1.0]), np.array([0.0])


def ticked(drive: Drive, *actions: np.ndarray) -> None:
    for action in actions:
        drive.tick(action)


def test_a_take_holds_one_row_for_each_step_from_where_recording_began(make_drive, takes: KeptTakes) -> None:
    drive = make_drive()
    ticked(drive, UP, UP)
    drive.record()
    ticked(drive, *[UP] * 6)
    kept = drive.keep()
    assert kept.state[:, 0].tolist() == [2, 3, 4, 5, 6, 7]
    assert (kept.outcome, kept.seed) == ("success", 0)
    assert open_dataset(takes.demonstrations).read(kept.id).action[:, 0].tolist() == [1] * 6


def test_rows_say_whether_a_person_drove(make_drive) -> None:
    drive = make_drive()
    drive.record()
    for by_person in (False, True, True, False):
        drive.tick(UP, intervention=by_person)
    kept = drive.keep()
    assert kept.intervention is not None
    assert kept.intervention.tolist() == [False, True, True, False]


def test_undo_drops_rows_and_goes_on_from_there(make_drive) -> None:
    drive = make_drive()
    drive.record()
    ticked(drive, *[UP] * 5)
    drive.undo(3)
    assert (drive.look().length, drive.look().state.tolist()) == (2, [2])
    ticked(drive, *[UP] * 6)
    kept = drive.keep()
    assert kept.state[:, 0].tolist() == [0, 1, 2, 3, 4, 5, 6, 7]
    assert kept.lineage["num_undone"] == 3


def test_undo_of_a_take_stops_where_it_began(make_drive) -> None:
    drive = make_drive()
    ticked(drive, UP)
    drive.record()
    ticked(drive, UP, UP)
    seen = drive.undo(99)
    assert (seen.step, seen.length, seen.state.tolist()) == (1, 0, [1])


def test_seek_goes_to_any_earlier_frame_and_to_no_later_one(make_drive) -> None:
    drive = make_drive()
    drive.record()
    ticked(drive, *[UP] * 5)
    assert drive.seek(2).state.tolist() == [2]
    with pytest.raises(ConfigError, match="choose one from 0 to 2"):
        drive.seek(3)


def test_a_take_that_was_ended_can_be_gone_on_with(make_drive) -> None:
    drive = make_drive()
    drive.record()
    ticked(drive, UP)
    assert drive.record().ended
    with pytest.raises(ConfigError, match="the take has ended"):
        drive.tick(UP)
    drive.record()
    ticked(drive, UP)
    assert len(drive.keep()) == 2


def test_a_take_ends_by_itself_when_it_is_as_long_as_it_may_be(make_drive) -> None:
    drive = make_drive(max_steps=3)
    drive.record()
    ticked(drive, UP, UP, UP)
    assert drive.look().ended
    with pytest.raises(ConfigError, match="at most 3 steps"):
        drive.record()
    assert len(drive.keep()) == 3


def test_redo_records_again_from_the_same_start(make_drive, takes: KeptTakes) -> None:
    drive = make_drive()
    drive.start(seed=3)
    drive.record()
    ticked(drive, UP, UP)
    seen = drive.redo()
    assert (seen.state.tolist(), seen.length, seen.recording) == ([3], 0, True)
    assert len(takes) == 0


def test_discard_keeps_nothing(make_drive, takes: KeptTakes) -> None:
    drive = make_drive()
    drive.record()
    ticked(drive, UP)
    assert not drive.discard().recording
    assert takes.summaries() == []


def test_a_start_is_not_taken_while_a_take_is_under_way(make_drive) -> None:
    drive = make_drive()
    drive.record()
    with pytest.raises(ConfigError, match="keep it or discard it first"):
        drive.start()


@pytest.mark.parametrize("command", ["keep", "discard"])
def test_without_a_take_there_is_nothing_to_keep_or_discard(make_drive, command: str) -> None:
    with pytest.raises(ConfigError, match="record one first"):
        getattr(make_drive(), command)()


def test_idle_ends_are_trimmed_to_two_steps_and_pauses_within_stay(make_drive) -> None:
    drive = make_drive()
    drive.record()
    ticked(drive, *[REST] * 9, UP, UP, *[REST] * 4, UP, *[REST] * 9)
    kept = drive.keep()
    assert kept.state[:, 0].tolist() == [0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 3, 3, 3]
    assert kept.lineage["edits"][0]["rows"] == {"start": 6, "stop": 19, "length": 25}


def test_a_failure_is_kept_apart_with_the_reason(make_drive, takes: KeptTakes) -> None:
    drive = make_drive()
    drive.record()
    ticked(drive, UP)
    kept = drive.keep()
    assert (kept.outcome, kept.reason) == ("failure", "the person ended the take after 1 step without solving the task")
    assert not takes.demonstrations.exists()
    assert open_dataset(takes.others).ids() == [kept.id]


def test_a_success_in_a_world_that_is_not_trusted_is_kept_apart(make_drive) -> None:
    drive = make_drive(FaultyWorld(1, "doubt", at_step=3))
    drive.record()
    ticked(drive, *[UP] * 8)
    kept = drive.keep()
    assert kept.outcome == "untrusted"
    assert kept.reason == "trust fell to 0.00 (below 0.2) at step 3"


def test_a_world_that_does_not_repeat_itself_leaves_the_take_to_be_kept(takes: KeptTakes) -> None:
    drive = Drive(ForgetfulWorld(1), takes, no_starts())
    drive.record()
    ticked(drive, UP, UP)
    with pytest.raises(ConfigError, match="cannot be taken back"):
        drive.undo(1)
    with pytest.raises(ConfigError, match="no longer where the take ended"):
        drive.record()
    assert len(drive.keep()) == 1


def test_two_sessions_do_not_start_at_the_same_place(takes: KeptTakes) -> None:
    starts = no_starts()
    first, second = CountingWorld(1), CountingWorld(1)
    for world in (first, second):
        Drive(world, takes, starts)
    assert first.seeds != second.seeds


def test_a_take_starts_at_the_recorded_frame_that_was_chosen(takes: KeptTakes) -> None:
    frames = {"top": np.zeros((3, 16, 16, 3), np.uint8)}
    starts = Starts(frames, np.array([[0], [2], [4]], np.float32))
    drive = Drive(CountingWorld(1), takes, starts)
    assert drive.start(index=2).state.tolist() == [4]
    drive.record()
    ticked(drive, *[UP] * 4)
    assert drive.keep().lineage["start"] == {"frame": 2.0}


def test_settings_out_of_range_are_refused() -> None:
    for settings, name in ({"max_steps": 0}, "max_steps"), ({"memory": 0}, "memory"), ({"min_trust": 2.0}, "min_trust"):
        with pytest.raises(ConfigError, match=name):
            DriveSettings(**settings)
