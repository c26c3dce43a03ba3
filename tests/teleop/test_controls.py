import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from demoloom.generators.realities.pusht import pusht_spec
from demoloom.generators.testing import CountingWorld
from demoloom.storage.errors import ConfigError
from demoloom.storage.spec import EpisodeSpec, Vector
from demoloom.teleop.axis_map import AXES
from demoloom.teleop.controls import AxisMap, Binding, Controls, Shaping, default_axis_map
from demoloom.teleop.pusht.task import PUSHT

PUSHT_SPEC = pusht_spec()
COUNTING = CountingWorld(1).episode_spec
#: No dead zone, no curve, no smoothing: half the range (of 512) in a second.
PLAIN = Shaping(speed=0.5, reach=1.0, dead_zone=0.0, curve=0.0, smoothing_s=0.0)
HERE = np.array([100.0, 200.0], np.float32)
FAR = np.array([500.0, 500.0], np.float32)


def plain_controls(**shaping):
    controls = Controls(PUSHT_SPEC, PUSHT.controls, Shaping(**{**PLAIN.__dict__, **shaping}))
    controls.begin(HERE)
    return controls


def robot(*action_names, state_names=("joint",)):
    """A robot of those names, all within ±1."""
    state, action = (Vector(names, (-1.0,) * len(names), (1.0,) * len(names)) for names in (state_names, action_names))
    return EpisodeSpec(10, PUSHT_SPEC.cameras, state, action, {}, "robot")


def test_full_deflection_moves_the_target_by_speed_times_time():
    # Half of 512 in a second is 25.6 in a tenth of it.
    action = plain_controls().command({"x": 1.0}, None, HERE, 0.1)
    assert action.tolist() == pytest.approx([125.6, 200.0])
    assert action.dtype == np.float32


def test_a_hand_at_rest_commands_the_very_place_where_the_robot_was():
    controls = plain_controls()
    actions = [controls.command({}, None, HERE + step, 0.1) for step in range(5)]
    assert np.array_equal(actions, [HERE] * 5)
    assert not controls.moving


def test_letting_go_stops_the_target_at_once_whatever_the_smoothing():
    controls = plain_controls(smoothing_s=0.5)
    for _ in range(3):
        pushed = controls.command({"x": 1.0}, None, HERE, 0.1)
    assert controls.moving
    assert np.array_equal(controls.command({}, None, HERE, 0.1), pushed)
    assert np.array_equal(controls.command({}, None, HERE, 0.1), pushed)


def test_smoothing_lets_the_speed_follow_the_hand():
    controls = plain_controls(smoothing_s=0.1)
    steps = np.diff([100.0, *(controls.command({"x": 1.0}, None, HERE, 0.1)[0] for _ in range(3))])
    # 1 - 1/e of full speed after one time constant, 1 - 1/e² after two.
    assert steps == pytest.approx([25.6 * 0.632, 25.6 * 0.865, 25.6 * 0.950], rel=1e-3)


def test_a_take_begins_where_the_robot_is_and_not_where_the_last_one_pointed():
    controls = plain_controls(smoothing_s=0.5)
    controls.command({"x": 1.0, "y": 1.0}, None, HERE, 0.1)
    controls.begin(FAR)
    assert np.array_equal(controls.command({}, None, FAR, 0.1), FAR)


def test_a_target_runs_no_further_ahead_than_the_reach():
    controls = plain_controls(reach=0.1)
    actions = [controls.command({"x": 1.0, "y": 0.5}, None, HERE, 0.1) for _ in range(20)]
    # A tenth of 512; y stays on the line that the hand shows.
    assert actions[-1].tolist() == pytest.approx([151.2, 225.6], rel=1e-3)


def test_what_the_hand_does_not_move_stays_however_far_the_robot_is_from_it():
    controls = plain_controls(reach=0.1)
    assert controls.command({"x": 1.0}, None, FAR, 0.1)[1] == 200.0


def test_the_pointer_is_a_place_in_the_picture():
    controls = plain_controls()
    assert controls.command({}, (0.25, 0.75), HERE, 0.1).tolist() == [128.0, 384.0]
    assert controls.moving
    assert controls.command({}, None, HERE, 0.1).tolist() == [128.0, 384.0]


def test_a_pointer_far_off_draws_the_robot_straight_towards_it():
    controls = plain_controls(reach=0.1)
    action = controls.command({}, ((100 + 300) / 512, (200 + 150) / 512), HERE, 0.1)
    assert action.tolist() == pytest.approx([151.2, 225.6], rel=1e-3)


def test_targets_stay_within_the_bounds():
    controls = plain_controls()
    for _ in range(30):
        action = controls.command({"x": -1.0}, None, HERE, 0.1)
    assert action[0] == 0.0
    assert controls.command({"x": 1.0}, None, HERE, 0.1)[0] == pytest.approx(25.6)


def test_an_action_that_is_a_difference_is_what_the_hand_says():
    controls = Controls(COUNTING, shaping=PLAIN)
    controls.begin(np.array([3.0], np.float32))
    commanded = [controls.command({"x": x}, None, np.array([3.0], np.float32), 0.1)[0] for x in (0.5, -1.0, 0.0)]
    assert commanded == [0.5, -1.0, 0.0]


def test_a_state_of_the_same_name_makes_an_action_a_position():
    spec = robot("shoulder", "wheel", state_names=("shoulder",))
    controls = Controls(spec, AxisMap.from_dict({"x": "shoulder", "y": "wheel"}), PLAIN)
    controls.begin(np.array([0.5], np.float32))
    action = controls.command({"x": 1.0, "y": 0.0}, None, np.array([0.5], np.float32), 0.1)
    assert action.tolist() == pytest.approx([0.6, 0.0])


def test_a_map_can_make_a_rate_of_what_looks_like_a_position_and_turn_it_round():
    controls = Controls(PUSHT_SPEC, AxisMap({"x": Binding("target_x", scale=-0.5, mode="rate")}), PLAIN)
    controls.begin(HERE)
    assert controls.command({"x": 1.0}, None, HERE, 0.1).tolist() == [0.0, 200.0]


def test_names_of_an_action_say_which_axis_moves_it():
    names = ("shoulder_pan.pos", "elbow.pos", "wrist_roll.pos", "gripper.pos")
    bound = {axis: binding.to for axis, binding in default_axis_map(robot(*names)).axes.items()}
    assert bound == dict(zip(("x", "y", "roll", "gripper"), names, strict=True))
    assert {a: b.to for a, b in default_axis_map(PUSHT_SPEC).axes.items()} == {"x": "target_x", "y": "target_y"}


def test_a_robot_with_more_dimensions_than_axes_leaves_the_last_ones_alone():
    assert len(default_axis_map(robot(*(f"joint_{i}" for i in range(9)))).axes) == len(AXES)


def test_the_frame_of_a_robot_is_a_rotation_of_the_hand():
    spec = robot("x", "y", "z", "roll", "pitch", "yaw")
    bound = {b.to: (axis, b.scale) for axis, b in default_axis_map(spec, frame="robot").axes.items()}
    for words in (("x", "y", "z"), ("roll", "pitch", "yaw")):
        matrix = np.zeros((3, 3))
        for row, word in enumerate(words):
            axis, scale = bound[word]
            matrix[row, words.index(axis)] = scale
        assert np.linalg.det(matrix) == pytest.approx(1.0)
    # Pushed away from the person, a robot that faces away from them goes forward.
    assert bound["x"] == ("y", -1.0)


def test_a_map_survives_the_way_through_plain_data():
    axis_map = AxisMap({"x": Binding("target_x", -2.0, "rate")}, pointer=("target_x", "target_y"))
    assert AxisMap.from_dict(axis_map.to_dict()) == axis_map


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ({"yow": "target_x"}, r"no axis 'yow'; did you mean 'yaw'\?"),
        ({"x": "target_z"}, r"no dimension 'target_z'; did you mean 'target_[xy]'\?"),
        ({"x": "target_x", "y": "target_x"}, "two axes move 'target_x'"),
        ({"x": {"to": "target_x", "sign": -1}}, "axis 'x' takes the name of a dimension, or to, scale and mode"),
        ({"x": 3}, "axis 'x' takes the name of a dimension"),
        ({"x": {"to": "target_x", "scale": 0}}, "scale of the axis to 'target_x' must be within ±10 and not 0, got 0"),
        ({"x": {"to": "target_x", "mode": "fast"}}, "mode of the axis to 'target_x' is absolute or rate, got 'fast'"),
        ({"pointer": ["target_x"]}, "two dimensions of the action, got"),
        ({"pointer": 7}, "two dimensions of the action, got 7"),
    ],
)
def test_a_map_that_cannot_be_used_is_refused(data, sentence):
    with pytest.raises(ConfigError, match=sentence):
        Controls(PUSHT_SPEC, AxisMap.from_dict(data))


numbers = st.floats(-2, 2)


@given(st.lists(st.dictionaries(st.sampled_from(AXES), numbers), max_size=8), st.booleans())
def test_actions_are_finite_and_within_bounds_whatever_the_hand_does(script, pointed):
    controls = Controls(PUSHT_SPEC, PUSHT.controls)
    controls.begin(HERE)
    for axes in script:
        action = controls.command(axes, (axes.get("z", 0.0), 0.5) if pointed else None, HERE, 0.1)
        assert ((action >= 0) & (action <= 512)).all()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_deflection_that_is_no_number_is_refused_and_moves_nothing(bad):
    controls = plain_controls()
    with pytest.raises(ValueError, match="axis 'x' is"):
        controls.command({"x": bad}, None, HERE, 0.1)
    with pytest.raises(ValueError, match="the pointer is at"):
        controls.command({}, (0.5, bad), HERE, 0.1)
    assert np.array_equal(controls.command({}, None, HERE, 0.1), HERE)
