import math

import pytest
import torch

from demoloom.generators.learned.body_frames import BodyFrames, cosines_in

NAMES = ["agent_x", "agent_y", "x", "y", "cos", "sin"]


def moment(turn, shift, agent=(0.1, 0.2), block=(0.3, -0.1), angle=0.4):
    """A vector with everything turned about the origin and shifted."""
    rotation = torch.tensor([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    places = [rotation @ torch.tensor(place) + torch.tensor(shift) for place in (agent, block)]
    return torch.cat([*places, torch.tensor([math.cos(angle + turn), math.sin(angle + turn)])])[None], rotation


def test_what_a_body_sees_does_not_change_when_all_is_turned_and_shifted():
    frames = BodyFrames(NAMES, 2)
    seen = []
    for turn, shift in ((0.0, (0.0, 0.0)), (1.1, (0.2, -0.3))):
        present, rotation = moment(turn, shift)
        before, _ = moment(turn, shift, agent=(0.05, 0.2), block=(0.29, -0.1), angle=0.38)
        commands = torch.tensor([[0.3, 0.1], [0.02, -0.04]]) @ rotation.T
        seen.append(frames(present, before, commands[:1], commands[1:]))
    assert seen[0].shape == (1, frames.size)
    torch.testing.assert_close(seen[0], seen[1])


def test_a_body_that_faces_up_sees_what_is_above_it_ahead():
    present = torch.tensor([[0.0, 0.5, 0.0, 0.0, 0.0, 1.0]])  # the agent half a unit along +y, the body turned to +y
    seen = BodyFrames(NAMES, 2)(present, present, torch.zeros(1, 2), torch.zeros(1, 2))
    along = seen[0, 0].item()
    assert along == pytest.approx(4 * 0.5)
    assert seen.abs().sum().item() == pytest.approx(4 * 0.5)


def test_without_a_pose_nothing_is_seen():
    frames = BodyFrames(["x", "y", "z"], 2)
    assert frames.size == 0
    assert frames(torch.ones(4, 3), torch.ones(4, 3), torch.ones(4, 2), torch.ones(4, 2)).shape == (4, 0)


def test_two_bodies_see_each_other():
    frames = BodyFrames([*NAMES, *NAMES[2:]], 3)
    assert frames(torch.ones(2, 10), torch.ones(2, 10), torch.ones(2, 3), torch.ones(2, 3)).shape == (2, frames.size)


def test_cosines_are_found_by_their_names():
    assert cosines_in([*NAMES, "cos", "z", "sin"]) == [4]


def test_a_bodys_place_is_a_place_whatever_stands_before_it():
    frames = BodyFrames(["gripper", *NAMES[2:]], 2)
    assert frames(torch.ones(2, 5), torch.ones(2, 5), torch.ones(2, 2), torch.ones(2, 2)).shape == (2, frames.size)
