import numpy as np
import pytest
import torch

from demoloom.generators.learned.trust import MEMORY, Trust, more_doubt, more_slip


def test_trust_in_drawing_is_whole_up_to_the_limit_and_falls_beyond() -> None:
    trust = Trust()
    trust.learn_drawing(np.linspace(0.1, 0.3, 101))
    assert trust.usual.item() == pytest.approx(0.2)
    assert trust.limit.item() == pytest.approx(0.298)
    error = torch.tensor([0.1, 0.298, 0.298 + 0.098])
    assert trust.in_drawing(error).tolist() == pytest.approx([1, 1, np.exp(-1)], abs=1e-4)


def test_trust_in_motion_is_the_share_that_was_right_at_such_doubt() -> None:
    rng = np.random.default_rng(0)
    doubt = np.exp(rng.uniform(-6, 0, 5000))
    chance = 1 / (1 + np.exp(2 * (np.log(doubt) + 3)))
    trust = Trust()
    trust.learn_motion(doubt, rng.random(5000) < chance)
    found = trust.in_motion(torch.tensor([np.exp(-4), np.exp(-3), np.exp(-2)]))
    assert found.tolist() == pytest.approx([0.88, 0.5, 0.12], abs=0.03)


def test_where_all_were_right_only_greater_doubts_lower_trust() -> None:
    trust = Trust()
    trust.learn_motion(np.linspace(0.01, 0.02, 50), np.ones(50, bool))
    seen, beyond = trust.in_motion(torch.tensor([0.02, 1.0])).tolist()
    assert seen > 0.9
    assert beyond < 0.1


def test_more_doubt_never_means_more_trust_even_where_the_data_say_so() -> None:
    trust = Trust()
    trust.learn_motion(np.array([0.01, 0.1, 1.0]), np.array([False, False, True]))
    least, most = trust.in_motion(torch.tensor([0.01, 1.0])).tolist()
    assert least >= most


def test_a_world_that_was_never_compared_with_reality_is_not_doubted() -> None:
    assert Trust().in_motion(torch.tensor([0.0, 1e6])).tolist() == [1, 1]


def test_doubt_adds_up_and_fades() -> None:
    doubt = more_doubt(torch.tensor([1.0, 0.0]), torch.tensor([0.0, 5.0]))
    assert doubt.tolist() == pytest.approx([1 - 1 / MEMORY, 5])


def test_each_action_is_misread_by_its_own_measure() -> None:
    trust = Trust(num_actions=2)
    told = torch.zeros(100, 2)
    trust.learn_following(torch.tensor([[0.1, 0.4]]).expand(100, 2), told, np.arange(100) % 10 == 0)
    assert trust.usual_misreading.tolist() == pytest.approx([0.1, 0.4])
    # The first as usual, the second three times as far off: twice as far in the mean.
    assert trust.misread(torch.tensor([[0.1, 1.2]]), told[:1]).item() == pytest.approx(2)


def _taught(misreading: float) -> Trust:
    """Of one action of 1 or -1, which real video shows but for an exponential error."""
    rng = np.random.default_rng(0)
    told = torch.from_numpy(rng.choice([-1.0, 1.0], (2000, 1))).float()
    error = torch.from_numpy(rng.exponential(misreading, (2000, 1))).float()
    trust = Trust(num_actions=1)
    trust.learn_following(told + error, told, np.arange(2000) % 20 == 0)
    return trust


def test_trust_in_following_falls_from_what_real_video_rarely_shows_to_what_any_other_action_would() -> None:
    trust = _taught(0.1)
    most, ignorant = trust.most_slip.item(), trust.ignorant_slip.item()
    # Another action is off by 2 in half of all cases, ten times the usual in the mean.
    assert 1.2 < most < 3 < 8 < ignorant < 12
    found = trust.in_following(torch.tensor([1.0, most, (most * ignorant) ** 0.5, ignorant, 99]))
    assert found.tolist() == pytest.approx([1, 1, 0.5, 0, 0], abs=1e-4)


def test_actions_that_real_video_does_not_show_say_nothing() -> None:
    trust = Trust(num_actions=1)
    told = torch.from_numpy(np.random.default_rng(0).choice([-1.0, 1.0], (2000, 1))).float()
    trust.learn_following(torch.zeros(2000, 1), told, np.arange(2000) % 20 == 0)
    assert trust.in_following(torch.tensor([1.0, 99.0])).tolist() == [1, 1]


def test_a_world_that_does_something_else_slips_in_a_few_steps() -> None:
    slip = torch.ones(1)
    for _ in range(16):
        slip = more_slip(slip, torch.tensor([10.0]))
    # 1 + 9 (1 - (15/16)^16)
    assert slip.item() == pytest.approx(6.8, abs=0.1)


def test_without_what_reads_actions_nothing_is_said_of_following() -> None:
    assert Trust().in_following(torch.tensor([99.0])).tolist() == [1]
