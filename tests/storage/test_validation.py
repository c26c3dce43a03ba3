from dataclasses import replace

import numpy as np
import pytest

from demoloom.storage import Camera, ConfigError, InvalidEpisode, Vector, validate_episode, validate_spec


def with_value(array, position, value):
    changed = array.copy()
    changed[position] = value
    return changed


def test_a_whole_episode_passes(spec, make_episode):
    validate_episode(make_episode(), spec)


def test_an_episode_of_one_row_passes_and_of_none_is_refused(spec, make_episode):
    validate_episode(make_episode(length=1), spec)
    with pytest.raises(InvalidEpisode, match="'run-000000': it has no rows"):
        validate_episode(make_episode(length=0), spec)


def test_nan_in_an_action_is_named_with_episode_step_and_dimension(spec, make_episode):
    episode = make_episode(3)
    broken = replace(episode, action=with_value(episode.action, (4, 1), np.nan))
    with pytest.raises(InvalidEpisode, match="'run-000003': action 'y' is nan at step 4"):
        validate_episode(broken, spec)


def test_an_action_outside_its_limits_is_named(spec, make_episode):
    episode = make_episode()
    broken = replace(episode, action=with_value(episode.action, (2, 0), 100.5))
    with pytest.raises(InvalidEpisode, match=r"action 'x' is 100\.5 at step 2, outside 0\.0 \.\. 100\.0"):
        validate_episode(broken, spec)


def test_an_action_clipped_to_a_limit_that_float32_cannot_hold_passes(spec, make_episode):
    narrow = replace(spec, action=Vector(("x", "y"), (0.0, 0.0), (0.1, 0.1)))
    validate_episode(replace(make_episode(), action=np.full((7, 2), 0.1, np.float32)), narrow)


def test_an_infinite_state_is_named(spec, make_episode):
    episode = make_episode()
    broken = replace(episode, state=with_value(episode.state, (5, 1), np.inf))
    with pytest.raises(InvalidEpisode, match="'y axis' is inf at step 5"):
        validate_episode(broken, spec)


def test_a_row_without_the_axis_of_rows_is_refused_with_the_remedy(spec, make_episode):
    episode = make_episode()
    single = replace(episode, action=episode.action[0], state=episode.state[0])
    with pytest.raises(InvalidEpisode, match=r"action needs shape \(rows, 2\), got \(2,\).*`action\[None\]`"):
        validate_episode(single, spec)


@pytest.mark.parametrize(("name", "column"), [("reward", "next.reward"), ("action", "action")])
def test_what_is_no_array_is_refused_by_name(spec, make_episode, name, column):
    with pytest.raises(InvalidEpisode, match=f"{column} must be a numpy array with a value for each row, got float"):
        validate_episode(replace(make_episode(), **{name: 0.5}), spec)


@pytest.mark.parametrize("name", ["score", "trust"])
def test_a_score_or_trust_above_one_is_named(spec, make_episode, name):
    episode = make_episode()
    broken = replace(episode, **{name: with_value(getattr(episode, name), 6, 1.5)})
    with pytest.raises(InvalidEpisode, match=f"{name} is 1.5 at step 6"):
        validate_episode(broken, spec)


def test_frames_with_channels_first_are_refused_with_the_layout(spec, make_episode):
    episode = make_episode()
    images = {**episode.images, "top": np.moveaxis(episode.images["top"], -1, 1)}
    with pytest.raises(InvalidEpisode, match=r"RGB frames of shape \(7, 16, 24, 3\).*channels first"):
        validate_episode(replace(episode, images=images), spec)


def test_float_frames_are_refused_with_the_dtype(spec, make_episode):
    episode = make_episode()
    images = {**episode.images, "top": episode.images["top"] / np.float32(255)}
    with pytest.raises(InvalidEpisode, match=r"dtype uint8, got .* float32; scale"):
        validate_episode(replace(episode, images=images), spec)


def test_a_missing_camera_is_named(spec, make_episode):
    images = {"top": make_episode().images["top"]}
    with pytest.raises(InvalidEpisode, match=r"expected the cameras \['top', 'wrist'\], got \['top'\]"):
        validate_episode(make_episode(images=images), spec)


def test_a_missing_label_is_named(spec, make_episode):
    with pytest.raises(InvalidEpisode, match=r"expected the labels \['pose'\], got \[\]"):
        validate_episode(make_episode(labels={}), spec)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"state": np.zeros((7, 2))}, "observation.state needs shape .* float32, got .* float64"),
        ({"reward": np.zeros(6, np.float32)}, r"next.reward needs shape \(7,\)"),
        ({"success": np.zeros(7, np.float32)}, "next.success needs .* bool"),
        ({"id": "../up"}, "safe as a file name"),
        ({"id": ".tmp-1"}, "safe as a file name"),
        ({"seed": -1}, "seed must be an int of 0 or more, got -1"),
        ({"index": 1.5}, "index must be an int"),
        ({"task": None}, "task must be text"),
        ({"outcome": "great"}, "outcome must be one of success, .*, got 'great'"),
        ({"outcome": "failure"}, "a reason is needed"),
        ({"lineage": {"array": np.zeros(2)}}, "lineage must be plain data"),
        ({"lineage": {"half a pair": "\ud800"}}, "lineage must be plain data"),
        ({"task": "half a pair \ud800"}, "task must be text"),
        ({"outcome": "failure", "reason": "half a pair \ud800"}, "reason must be text"),
    ],
)
def test_a_field_that_cannot_be_stored_is_named(spec, make_episode, changes, message):
    with pytest.raises(InvalidEpisode, match=message):
        validate_episode(replace(make_episode(), **changes), spec)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"fps": 29.97}, "fps must be a whole number from 1 to 100000, got 29.97"),
        ({"fps": 0}, "got 0"),
        ({"fps": 2**31}, "got 2147483648"),
        ({"cameras": (Camera("a", 4, 4), Camera("a", 4, 4))}, r"no two cameras may have one name, got \['a', 'a'\]"),
        ({"cameras": (Camera("a\n", 4, 4),)}, r"no control characters, got 'a\\n'"),
        ({"cameras": (Camera("a" * 200, 4, 4),)}, "1 to 180 bytes"),
        ({"cameras": (Camera("\ud800", 4, 4),)}, "no control characters"),
        ({"state": Vector(("\ud800",), (0.0,), (1.0,))}, "the dimensions of state need texts for names"),
        ({"cameras": (Camera("a", 0, 4),)}, "at least 1 x 1, got 0 x 4"),
        ({"labels": {"image_pose": Vector(("x",), (0,), (1,))}}, "'image' in its name"),
        ({"state": Vector(("x",), (0.0,), (float("inf"),))}, "state 'x' needs finite bounds"),
        ({"action": Vector((), (), ())}, "action needs at least one dimension"),
    ],
)
def test_a_spec_that_a_format_cannot_hold_is_refused(spec, changes, message):
    with pytest.raises(ConfigError, match=message):
        validate_spec(replace(spec, **changes))
