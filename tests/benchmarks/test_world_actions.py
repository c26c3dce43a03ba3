import numpy as np
import pytest
from world_actions import _inverse, _response


def test_a_world_that_answers_a_frame_late_has_a_lag_of_two() -> None:
    real = np.zeros((17, 1, 2))
    real[5:, 0, 0] = 50.0
    late = np.concatenate([real[:1], real[:-1]])
    assert _response(late, real) == {"lag": 2.0, "lag_real": 1.0, "off": pytest.approx(50 / 12)}


def test_actions_are_read_from_a_linear_system_to_the_bit_and_not_from_another() -> None:
    rng = np.random.default_rng(0)
    real = rng.normal(size=(12, 4, 2))
    commands = np.zeros((12, 4, 2))
    commands[2:] = 2 * real[2:] - real[1:-1] + 3
    found = _inverse(real * 2, real, commands)
    assert found["inverse_real"] == pytest.approx(0, abs=1e-9)
    assert found["inverse"] > 0.5
