import numpy as np
import pytest

from demoloom.storage.errors import DeviceError, SpecMismatch
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.teleop.lerobot.hand import Movements, Positions, feature_names, is_movement
from demoloom.teleop.shaping import Shaping

STATE = np.array([50.0, 50.0], np.float32)


def a_spec(*names: str) -> EpisodeSpec:
    vector = Vector(names, (0.0,) * len(names), (100.0,) * len(names))
    return EpisodeSpec(
        fps=10, cameras=(Camera("top", 8, 8),), state=vector, action=vector, labels={}, robot_type="two joints"
    )


def test_joints_are_matched_by_name_in_whatever_order_and_with_or_without_pos():
    hand = Positions(a_spec("elbow.pos", "wrist"), ("wrist.pos", "elbow.pos"), {})
    assert hand({"wrist.pos": 2.0, "elbow.pos": 1.0}, STATE).tolist() == [1.0, 2.0]


def test_a_joint_of_another_name_is_found_through_the_mapping():
    hand = Positions(a_spec("elbow", "wrist"), ("joint_1", "joint_2"), {"elbow": "joint_2", "wrist": "joint_1"})
    assert hand({"joint_1": 1.0, "joint_2": 2.0}, STATE).tolist() == [2.0, 1.0]


def test_a_joint_that_says_nothing_is_held():
    hand = Positions(a_spec("elbow", "wrist"), ("elbow", "wrist"), {})
    hand({"elbow": 1.0, "wrist": 2.0}, STATE)
    assert hand({}, STATE).tolist() == [1.0, 2.0]
    assert hand({"wrist": 3.0}, STATE).tolist() == [1.0, 3.0]


def test_what_was_held_is_not_carried_into_the_next_episode():
    hand = Positions(a_spec("elbow"), ("elbow",), {})
    hand({"elbow": 1.0}, STATE)
    hand.begin(STATE)
    with pytest.raises(DeviceError, match="no value of elbow; check its cable"):
        hand({}, STATE)


def test_a_joint_that_is_no_number_is_an_error_and_never_an_action():
    with pytest.raises(DeviceError, match="no value of elbow"):
        Positions(a_spec("elbow"), ("elbow",), {})({"elbow": float("nan")}, STATE)


@pytest.mark.parametrize(
    ("names", "joints", "sentence"),
    [
        (("elbow",), {}, "gives elbow and the world takes elbow, wrist; name the joint of wrist in the mapping"),
        (("elbow", "wrist"), {"wrist": "hand"}, "name the joint of wrist in the mapping `joints`"),
        (("elbow", "wrist"), {"ankle": "wrist"}, "name the joint of ankle in the mapping `joints`"),
        (("elbow", "wrist", "thumb"), {}, "thumb would move nothing; drive a world of the same robot"),
    ],
)
def test_joints_that_do_not_fit_are_named(names, joints, sentence):
    with pytest.raises(SpecMismatch, match=sentence):
        Positions(a_spec("elbow", "wrist"), names, joints)


def test_both_ways_in_which_lerobot_lists_what_a_device_gives_are_read():
    gamepad = {"dtype": "float32", "shape": (2,), "names": {"delta_x": 0, "delta_y": 1}}
    assert feature_names(gamepad) == ("delta_x", "delta_y")
    assert feature_names({"elbow.pos": float, "wrist.pos": float}) == ("elbow.pos", "wrist.pos")


def test_a_gamepad_moves_and_a_leader_arm_says_where():
    assert is_movement(("delta_x", "delta_y", "delta_z", "gripper"))
    assert not is_movement(("elbow.pos", "gripper.pos"))


def test_forward_and_right_on_a_gamepad_are_up_and_right_in_the_picture():
    hand = Movements(a_spec("x", "y"), None, Shaping(speed=0.5, smoothing_s=0.0))
    hand.begin(STATE)
    forward_right = {"delta_x": 1.0, "delta_y": -1.0, "delta_z": 0.0}
    x, y = hand(forward_right, STATE)
    assert x > 50
    assert y < 50


def test_a_gamepad_at_rest_leaves_the_robot_where_it_is():
    hand = Movements(a_spec("x", "y"), None, None)
    hand.begin(STATE)
    assert hand({"delta_x": 0.0, "delta_y": 0.0, "gripper": 1}, STATE).tolist() == [50.0, 50.0]


def test_the_gripper_opens_at_2_closes_at_0_and_stays_at_1():
    spec = a_spec("gripper", "other")
    moved = []
    for command in (0, 1, 2):
        hand = Movements(spec, None, Shaping(speed=0.5, smoothing_s=0.0))
        hand.begin(STATE)
        moved.append(hand({"gripper": command}, STATE)[0] - 50)
    assert moved == [-5.0, 0.0, 5.0]  # half the range of 100 in a second, of which a step is a tenth
