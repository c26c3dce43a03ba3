import logging

import numpy as np
import pytest
import torch

from demoloom.generators.learned.plausibility import Plausibility
from demoloom.generators.learned.plausibility_training import leave_out_if_harmful
from demoloom.generators.learned.timeline import Timeline

VECTORS = torch.arange(20.0)[:, None].expand(-1, 5) / 100


class Growing:
    """A world that knows that numbers grow by a hundredth, and a plausibility that leads them astray by `harm`."""

    def __init__(self, harm: float) -> None:
        self._harm = harm

    def guess_vector(self, vectors: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return vectors[:, -1] + 0.0101, torch.zeros(len(vectors))

    def predict_vector(self, vectors: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return vectors[:, -1] + 0.0101 + self._harm, torch.zeros(len(vectors))


def judged(harm: float) -> Plausibility:
    plausibility = Plausibility(["agent", "x", "y", "cos", "sin"], 1, 16)
    torch.nn.init.ones_(plausibility.alone.output.bias)
    held_out = Timeline(np.array([0, 20]), np.array([0]))
    leave_out_if_harmful(Growing(harm), plausibility, VECTORS, torch.zeros(20, 1), held_out)  # type: ignore[arg-type]
    return plausibility


def test_a_plausibility_that_does_no_harm_is_kept(caplog: pytest.LogCaptureFixture) -> None:
    assert judged(0.0).alone.output.bias.all()
    assert not caplog.records


def test_a_harmful_one_is_forgotten_and_training_says_so(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert not judged(0.01).alone.output.bias.any()
    # 19 steps of a ten-thousandth too many, or of a hundredth more.
    assert "(mean error 0.192 instead of 0.002) and is left out; record more episodes" in caplog.text
