from dataclasses import replace

import pytest

from demoloom.storage import Camera, EpisodeSpec, Vector

ARM = Vector(("x", "y"), (0.0, 0.0), (1.0, 1.0))
SPEC = EpisodeSpec(fps=10, cameras=(Camera("top", 64, 96),), state=ARM, action=ARM, labels={}, robot_type="arm")


def test_equal_specs_do_not_differ():
    assert SPEC.differences(replace(SPEC)) == []


def test_a_difference_names_the_field_and_what_it_is_on_both_sides():
    other = replace(SPEC, fps=20, cameras=(), state=Vector(("z",), (0.0,), (1.0,)), robot_type="leg")
    assert SPEC.differences(other) == [
        "fps is 10 here and 20 there",
        "cameras are top 96x64 here and none there",
        "state is x, y here and z there",
        "robot_type is 'arm' here and 'leg' there",
    ]


def test_of_bounds_only_the_dimensions_that_differ_are_named():
    other = replace(SPEC, action=Vector(("x", "y"), (0.0, -0.5), (1.0, 2.0)))
    assert SPEC.differences(other) == ["action has other bounds: 'y' 0.0 .. 1.0 here and -0.5 .. 2.0 there"]


def test_bounds_that_differ_by_less_than_is_shown_are_told_apart():
    (found,) = SPEC.differences(replace(SPEC, action=Vector(("x", "y"), (0.0, 0.0), (1.0, 1.0 + 1e-9))))
    assert "1.000000001" in found


def test_only_a_spec_that_says_who_drove_is_written_otherwise_than_before_there_was_such_a_column():
    told = replace(SPEC, intervention=True)
    assert "intervention" not in SPEC.to_dict()
    assert told.to_dict() == {**SPEC.to_dict(), "intervention": True}
    assert EpisodeSpec.from_dict(SPEC.to_dict()) == SPEC
    assert EpisodeSpec.from_dict(told.to_dict()) == told
    with pytest.raises(TypeError, match="intervention is 'yes'"):
        EpisodeSpec.from_dict({**SPEC.to_dict(), "intervention": "yes"})


def test_who_drove_makes_no_other_robot_but_another_dataset():
    told = replace(SPEC, intervention=True)
    assert SPEC.differences(told) == []
    assert told.all_differences(SPEC) == ["intervention says who drove here and does not say who drove there"]


def test_a_label_that_one_side_lacks_counts_only_among_all_differences():
    other = replace(SPEC, labels={"pose": ARM})
    assert SPEC.differences(other) == []
    assert SPEC.all_differences(other) == ["labels are [] here and ['pose'] there"]
