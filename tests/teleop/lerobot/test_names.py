from demoloom.teleop.lerobot.names import bare, joint_names


def test_a_name_that_says_it_is_a_position_or_a_speed_stays_and_any_other_becomes_a_position():
    assert joint_names(["elbow.pos", "base.vel", "target_x"]) == ("elbow.pos", "base.vel", "target_x.pos")


def test_a_joint_has_one_bare_name_with_and_without_its_suffix():
    assert [bare(name) for name in ("elbow.pos", "base.vel", "target_x")] == ["elbow", "base", "target_x"]
