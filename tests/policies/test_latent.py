from dataclasses import replace

import pytest
import torch

from demoloom.policies.latent import LatentConfig
from demoloom.policies.latent.eyes import POSE, ProbeEyes, planar_poses
from demoloom.policies.latent.flow import FlowHead
from demoloom.policies.latent.modeling_latent import anchor
from demoloom.policies.latent.observers import ReadingObserver, SpatialSoftmax, from_pose
from demoloom.storage.spec import Vector

from .toy import SPEC


def test_the_anchor_is_the_state_in_the_actions_units() -> None:
    stats = {
        "observation.state": {"mean": [100.0, 10.0], "std": [50.0, 2.0]},
        "action": {"mean": [90.0, 0.0], "std": [25.0, 1.0]},
    }
    scale, shift = anchor([0, -1], 2, stats)
    # A state of 150 is 1 normalised; the action "go to 150" is (150 - 90) / 25 = 2.4.
    assert (scale @ torch.tensor([1.0, 0.0]) + shift).tolist() == pytest.approx([2.4, 0.0])


def test_spatial_softmax_finds_the_hot_cell() -> None:
    layer = SpatialSoftmax(1, 1)
    torch.nn.init.constant_(layer.heat.weight, 50.0)
    maps = torch.zeros(1, 1, 3, 5)
    maps[0, 0, 2, 1] = 1
    # x runs over 5 columns whose centres lie at -0.8, -0.4, ..., y over 3 rows.
    assert layer(maps)[0].tolist() == pytest.approx([-0.4, 2 / 3], abs=1e-4)


def test_a_body_turned_by_a_quarter_sees_what_lies_ahead_of_it() -> None:
    # A body at (10, 0) that faces along +y sees the point (10, 5) five units ahead, along its own x.
    assert from_pose(torch.tensor([10.0, 5.0]), torch.tensor([10.0, 0.0, 0.0, 1.0])).tolist() == [5.0, 0.0]


def test_moving_the_whole_scene_leaves_the_view_from_the_body_alone() -> None:
    observer = ReadingObserver(4, 1, 2, [0], embedding=8, dropout=0.0)
    seen, state = torch.tensor([[[1.0, 2.0, 0.0, 1.0]]]), torch.tensor([[[3.0, 4.0]]])
    views: list[torch.Tensor] = []
    observer.join[0].register_forward_pre_hook(lambda module, inputs: views.append(inputs[0]))
    observer(seen, state)
    observer(seen + torch.tensor([5.0, 7.0, 0.0, 0.0]), state + torch.tensor([5.0, 7.0]))
    assert views[0][0, 6:].tolist() == views[1][0, 6:].tolist() == [2.0, -2.0]


def test_only_poses_in_the_plane_of_the_robot_are_seen_from() -> None:
    pose = Vector(POSE, (0.0, 0.0, -1.0, -1.0), (16.0, 16.0, 1.0, 1.0))
    elsewhere = replace(pose, high=(1.0, 1.0, 1.0, 1.0))
    labels = {"colour": Vector(("c",), (0.0,), (1.0,)), "block": pose, "other": elsewhere}
    assert planar_poses(labels, SPEC.state) == [1]


def test_the_flow_depends_on_time_and_observation() -> None:
    torch.manual_seed(0)
    head, noisy, seen = FlowHead(4, 2, 16, 1, 0.0), torch.randn(3, 4, 2), torch.randn(3, 16)
    early, late = torch.zeros(3), torch.ones(3)
    assert head(noisy, early, seen).shape == (3, 4, 2)
    assert not torch.allclose(head(noisy, early, seen), head(noisy, late, seen))
    assert not torch.allclose(head(noisy, early, seen), head(noisy, early, -seen))


def test_more_executed_than_predicted_actions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"between 1 and chunk_size \(8\), got 9"):
        LatentConfig(device="cpu", n_action_steps=9)


def test_a_frame_unlike_all_others_cannot_be_read_as_far_away() -> None:
    eyes = ProbeEyes(num_cameras=1, height=16, width=16, num_outputs=2, features=4, blocks=1)
    last = [layer for layer in eyes.modules() if isinstance(layer, torch.nn.Linear)][-1]
    torch.nn.init.zeros_(last.weight)
    last.bias.data = torch.tensor([3.0, -2e6])
    assert eyes(torch.zeros(1, 3, 16, 16)).tolist() == [[3.0, -10.0]]
