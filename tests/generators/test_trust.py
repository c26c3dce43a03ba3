import numpy as np
import pytest
import torch

from demoloom.generators.learned.trust import MEMORY, Trust, more_doubt


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
