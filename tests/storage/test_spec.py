from dataclasses import replace

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


def test_a_label_that_one_side_lacks_counts_only_among_all_differences():
    other = replace(SPEC, labels={"pose": ARM})
    assert SPEC.differences(other) == []
    assert SPEC.all_differences(other) == ["labels are [] here and ['pose'] there"]
