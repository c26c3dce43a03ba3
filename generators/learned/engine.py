"""What a world computes at each step, in parts that take and give tensors and choose nothing, so that they compile."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .dynamics import follow
from .model import WorldModel, as_bytes
from .trust import more_doubt


class Engine(nn.Module):
    """The parts of a step of N episodes, in their order: `guess`, `settle`, `move`, `show`.

    Only `settle` decides what to compute by looking at numbers. Shapes are those of a `Snapshot`.
    """

    def __init__(self, model: WorldModel) -> None:
        super().__init__()
        self.model = model

    def guess(self, vectors: Tensor, actions: Tensor, action: Tensor, ages: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What comes of a command.

        Args:
            vectors, actions, ages: of the present moment.
            action: (N, A) commanded now, in the units of the robot.

        Returns:
            The actions with the new one, the guess of the next vector (N, D), and the doubt (N,) about it.
        """
        # At rest the action before the first is taken to be the first, as in training.
        newest = self.model.scale_actions(action)[:, None]
        shifted = torch.cat([actions[:, 1:], newest], 1)
        commanded = torch.where((ages == 0)[:, None, None], newest.expand_as(shifted), shifted)
        return commanded, *self.model.guess_vector(vectors, commanded)

    def settle(self, vector: Tensor, doubt: Tensor) -> tuple[Tensor, Tensor]:
        """The next vector, led back to what occurs, and the doubt about it."""
        return self.model.settle_vector(vector, doubt)

    def move(
        self, latents: Tensor, vectors: Tensor, doubt: Tensor, slip: Tensor, actions: Tensor, vector: Tensor,
        new_doubt: Tensor, task: Tensor, noise: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
        """The next latents, vectors, doubt and slip.

        Args:
            latents, vectors, doubt, slip: of the present moment.
            actions: with the new one.
            vector, new_doubt: (N, D) and (N,), what `settle` found.
            task: (N,) int64.
            noise: see `WorldModel.draw`.
        """
        latent = self.model.draw(latents, vector, actions, task, noise)
        return (
            follow(latents, latent, self.model.config.anchor),
            torch.cat([vectors[:, 1:], vector[:, None]], 1),
            more_doubt(doubt, new_doubt),
            self.model.slip(slip, latents[:, -1], latent, actions[:, -1]),
        )

    def show(
        self, latents: Tensor, vectors: Tensor, doubt: Tensor, slip: Tensor, task: Tensor, noise: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """What there is to see of a moment.

        Args:
            noise: see `WorldModel.decode_float`.

        Returns:
            The frame as it is decoded (N, 3V, H, W) float32 and to be looked at (N, H, W, 3V) uint8, the state (N, S)
            in the units of the robot, the score (N,), and trust (N,) in what led here.
        """
        model, latent, vector = self.model, latents[:, -1], vectors[:, -1]
        decoded = model.decode_float(latent, noise)
        trust = torch.minimum(model.trust.in_motion(doubt), model.trust.in_following(slip))
        return decoded, as_bytes(decoded), model.state_of(vector), model.score(latent, vector, task), trust
