"""A learned world that can be driven like reality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...storage.errors import SpecMismatch
from ..world import World, as_seeds, bounded_actions, reset_mask
from .checkpoint import from_pretrained
from .model import to_uint8
from .trust import cycle_error, trust_of


@dataclass(frozen=True)
class Snapshot:
    """All slots of a learned world at one moment.

    Args:
        history: (N, history, C, H, W) latents, the present one last.
        actions: (N, history, A) scaled; the last led to the present latent.
        fresh: (N,) bool, slots that have not been stepped since their start.
    """

    history: Tensor
    actions: Tensor
    fresh: Tensor


class LearnedWorld(World):
    """N episodes in a trained world model.

    A slot starts from a real frame at rest, drawn by its seed from those in the checkpoint or given as
    `options["start"]`. What it shows is always decoded, the first frame too, so that frames look alike.
    State and score are read from the latent. Numbers depend on `num_envs` in the last bits, as matrix products
    of another size add up in another order.

    Args:
        checkpoint: folder of a trained world.
        num_envs: how many episodes are stepped together.

    Raises:
        CheckpointError: the folder cannot be loaded.
    """

    def __init__(self, checkpoint: str, num_envs: int) -> None:
        self._checkpoint = from_pretrained(Path(checkpoint))
        self._model = self._checkpoint.model
        # Labels are what only reality knows: nothing a world model makes up may pass for them.
        super().__init__(replace(self._model.spec, labels={}), num_envs, self._checkpoint.task)
        self._now: Snapshot | None = None

    def reset(  # type: ignore[override]
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """See World.reset.

        Raises:
            SpecMismatch: `options["start"]` is not an observation of this world; the message lists what differs.
        """
        mask = reset_mask(options, self.num_envs, first=self._now is None)
        given = (options or {}).get("start")
        frames = self._drawn_starts(as_seeds(seed, self.num_envs)) if given is None else self._given_starts(given)
        with torch.inference_mode():
            begun = self._at_rest(self._model.encode(frames))
        self._now = begun if self._now is None else _choose(torch.from_numpy(mask), begun, self._now)
        return self._look()

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """See World.step; the reward is the score."""
        bounded = torch.from_numpy(bounded_actions(actions, self.episode_spec, self.num_envs))
        with torch.inference_mode():
            self._now = self._advance(self._moment(), self._model.scale_actions(bounded))
        observation, info = self._look()
        return observation, info["score"].copy(), info["success"].copy(), np.zeros(self.num_envs, bool), info

    def snapshot(self) -> Snapshot:
        """All slots as they are now; nothing that follows changes it."""
        return self._moment()

    def restore(self, snapshot: Snapshot) -> dict[str, np.ndarray]:
        """Return to a snapshot; the same actions then give the same bytes again."""
        self._now = snapshot
        return self._look()[0]

    def identity(self) -> dict[str, Any]:
        """The hash of the checkpoint."""
        return {"name": "learned", "checkpoint": self._checkpoint.hash}

    def _moment(self) -> Snapshot:
        if self._now is None:
            raise ValueError("the world has no episodes yet; call reset() first")
        return self._now

    def _drawn_starts(self, seeds: list[int | None]) -> np.ndarray:
        frames = self._checkpoint.start_frames
        return frames[[np.random.default_rng(seed).integers(len(frames)) for seed in seeds]]

    def _given_starts(self, start: Mapping[str, np.ndarray]) -> np.ndarray:
        names = [f"observation.images.{camera.name}" for camera in self.episode_spec.cameras]
        wrong = [sentence for name in names if (sentence := self._difference(name, start))]
        if wrong:
            raise SpecMismatch(f"this world cannot start from the given observation: {'; '.join(wrong)}")
        return np.concatenate([np.asarray(start[name]) for name in names], axis=-1)

    def _difference(self, name: str, start: Mapping[str, np.ndarray]) -> str:
        camera = next(camera for camera in self.episode_spec.cameras if name.endswith(f".{camera.name}"))
        expected = (self.num_envs, camera.height, camera.width, 3)
        if name not in start:
            return f"{name} is missing"
        frames = np.asarray(start[name])
        if frames.shape == expected and frames.dtype == np.uint8:
            return ""
        return f"{name} is {frames.dtype} {frames.shape}, expected uint8 {expected}"

    def _at_rest(self, latents: Tensor) -> Snapshot:
        length, action_size = self._model.config.history, self.episode_spec.action.size
        history = latents[:, None].expand(-1, length, -1, -1, -1).clone()
        actions = torch.zeros(self.num_envs, length, action_size)
        return Snapshot(history, actions, torch.ones(self.num_envs, dtype=torch.bool))

    def _advance(self, now: Snapshot, action: Tensor) -> Snapshot:
        # At rest the action before the first is taken to be the first, as in training.
        shifted = torch.cat([now.actions[:, 1:], action[:, None]], 1)
        repeated = action[:, None].expand_as(shifted)
        actions = torch.where(now.fresh[:, None, None], repeated, shifted)
        following = self._model.predict(now.history, actions)
        history = torch.cat([now.history[:, 1:], following[:, None]], 1)
        return Snapshot(history, actions, torch.zeros_like(now.fresh))

    def _look(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        latents = self._moment().history[:, -1]
        model = self._model
        with torch.inference_mode():
            decoded = model.decode_float(latents)
            state, score = model.read(latents)
            trust = trust_of(cycle_error(model.autoencoder, latents, decoded), model.trust_usual, model.trust_limit)
            success = score > model.success_threshold
        frames = to_uint8(decoded)
        observation = {
            f"observation.images.{camera.name}": np.ascontiguousarray(frames[..., 3 * i : 3 * i + 3])
            for i, camera in enumerate(self.episode_spec.cameras)
        }
        observation["observation.state"] = state.numpy().copy()
        info = {"success": success.numpy(), "score": score.numpy().copy(), "trust": trust.numpy().copy()}
        return observation, info


def _choose(mask: Tensor, begun: Snapshot, running: Snapshot) -> Snapshot:
    """Slots from `begun` where the mask is true, from `running` elsewhere."""
    wide = mask[:, None, None]
    return Snapshot(
        history=torch.where(wide[..., None, None], begun.history, running.history),
        actions=torch.where(wide, begun.actions, running.actions),
        fresh=torch.where(mask, begun.fresh, running.fresh),
    )
