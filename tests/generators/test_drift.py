import numpy as np
import torch

from demoloom.generators.learned.drift import Drift
from demoloom.generators.learned.timeline import Timeline


class Creeping:
    """A world whose one number grows by a hundredth in each step, whatever is done."""

    def predict_vector(self, vectors: torch.Tensor, actions: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return vectors[:, -1] + 0.01, torch.zeros(len(vectors))


def drift_of(rng: np.random.Generator) -> Drift:
    """Two real episodes of 10 rows in which the number stays 0."""
    timeline = Timeline(np.array([0, 10, 20]), np.array([0, 1]))
    return Drift(Creeping(), torch.zeros(20, 1), torch.zeros(20, 1), timeline, rng)  # type: ignore[arg-type]


def test_it_goes_on_past_the_ends_of_episodes() -> None:
    drift = drift_of(np.random.default_rng(0))
    for _ in range(50):
        drift.go_on()
    # All that was seen in 50 steps is drawn, up to 0.5, which is five episodes away from any start.
    assert drift.draw(5000).max().item() > 0.45
    assert drift.draw(5000).min().item() < 0.02


def test_it_goes_on_from_where_it_was() -> None:
    rng = np.random.default_rng(0)
    whole = drift_of(rng)
    for _ in range(30):
        whole.go_on()
    other = drift_of(np.random.default_rng(5))
    other.load_state_dict(whole.state_dict())
    other._rng.bit_generator.state = rng.bit_generator.state
    for drift in (whole, other):
        for _ in range(30):
            drift.go_on()
    assert torch.equal(whole.draw(1000), other.draw(1000))
