"""An official checkpoint of the Interactive World Simulator that can be driven like reality."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from ...storage.errors import ConfigError
from ..start import given_start
from ..world import World, as_seeds, bounded_actions, reset_mask
from .checkpoint import load_checkpoint
from .simulator import WINDOW
from .spec import simulator_spec
from .starts import Starts, read_starts

#: As the release cuts off the noise of latents; as good as never reached.
_MOST_NOISE = 6.0
_LATENT, _FRAME = 0, 1


@dataclass(frozen=True)
class Snapshot:
    """All slots at one moment.

    Args:
        latents: (N, WINDOW - 1, 4V, h, w), the present one last; those from before the start are never looked at.
        actions: (N, WINDOW - 1, A) in the spec's units, the one that led to each latent.
        seeds: what the noise of each slot is drawn with.
        ages: (N,) steps since the start.
    """

    latents: Tensor
    actions: Tensor
    seeds: tuple[int, ...]
    ages: np.ndarray


class InteractiveWorldSimulator(World):
    """N episodes in a released world model (Wang et al. 2026, arXiv 2603.08546).

    The release judges nothing it predicts: score and success are always 0 and false, and trust is always 1, which
    here says only that nothing measures it. `observation.state` is the last command. Noise is drawn with the slot's
    seed and age, so that a seed and its actions give the same episode again. A window shorter than the full one is
    predicted for all slots at that length, since the networks normalise over the window: a slot's numbers depend on
    `num_envs` in the last bits, and on nothing that other slots do.

    Args:
        checkpoint: folder with `.hydra/config.yaml` and `checkpoints/best.ckpt`.
        num_envs: how many episodes are stepped together.
        starts: a dataset or a folder of images to start from, see `read_starts`; needed wherever `reset` is not
            given a start.
        task: the instruction of the episodes; the folder's name where it is empty.
        device: where the networks run; `auto` is a CUDA device where there is one.

    Raises:
        CheckpointError: the folder cannot be loaded.
        StoreError, SpecMismatch: the starts cannot be read, or do not fit.
        ConfigError: no slots are asked for, or a device that is not there.
    """

    def __init__(
        self,
        checkpoint: str,
        num_envs: int,
        starts: str | None = None,
        task: str = "",
        device: Literal["auto", "cpu", "cuda"] = "auto",
    ) -> None:
        if num_envs < 1:
            raise ConfigError(f"a world needs at least one slot, got num_envs={num_envs}")
        folder = Path(checkpoint)
        loaded = load_checkpoint(folder)
        super().__init__(simulator_spec(loaded), num_envs, task or folder.resolve().name)
        self._device = _device(device)
        self._simulator = loaded.simulator.to(self._device)
        self._scale, self._offset = (
            torch.from_numpy(vector).to(self._device) for vector in (loaded.action_scale, loaded.action_offset)
        )
        self._hash = loaded.hash
        self._starts = read_starts(Path(starts), self.episode_spec) if starts else None
        self._now: Snapshot | None = None

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """See World.reset.

        Raises:
            SpecMismatch: `options["start"]` is not an observation of this world; the message lists what differs.
            ConfigError: there is neither such a start nor a folder of them.
        """
        mask = reset_mask(options, self.num_envs, first=self._now is None)
        seeds = [_entropy() if each is None else each for each in as_seeds(seed, self.num_envs)]
        start = (options or {}).get("start")
        begun = self._begun(self._drawn(seeds) if start is None else self._given(start), seeds)
        self._now = begun if self._now is None else _choose(mask, begun, self._now)
        return self._look(self._now), self._info()

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """See World.step; the reward is the score, which is always 0."""
        bounded = torch.from_numpy(bounded_actions(actions, self.episode_spec, self.num_envs)).to(self._device)
        self._now = self._advanced(self._moment(), bounded)
        info = self._info()
        never = np.zeros(self.num_envs, bool)
        return self._look(self._now), info["score"].copy(), info["success"].copy(), never, info

    def snapshot(self) -> Snapshot:
        """All slots as they are now; nothing that follows changes it."""
        return self._moment()

    def restore(self, snapshot: Snapshot) -> dict[str, np.ndarray]:
        """Return to a snapshot; the same actions then give the same bytes again."""
        self._now = snapshot
        return self._look(snapshot)

    def identity(self) -> dict[str, Any]:
        """The hashes of the checkpoint and of the frames that it starts from."""
        starts = None if self._starts is None else _hash(self._starts)
        return {"name": "interactive-world-simulator", "checkpoint": self._hash, "starts": starts}

    def _moment(self) -> Snapshot:
        if self._now is None:
            raise ValueError("the world has no episodes yet; call reset() first")
        return self._now

    def _drawn(self, seeds: Sequence[int]) -> Starts:
        if self._starts is None:
            raise ConfigError(
                "an Interactive World Simulator checkpoint holds no frames to start from; give `starts`, a dataset or "
                "a folder of images of its task, or options={'start': observation}"
            )
        rows = [np.random.default_rng(seed).integers(len(self._starts.frames)) for seed in seeds]
        return Starts(self._starts.frames[rows], self._starts.positions[rows])

    def _given(self, start: Mapping[str, np.ndarray]) -> Starts:
        cameras, positions = given_start(start, self.episode_spec, self.num_envs)
        return Starts(np.concatenate(cameras, axis=-1), positions)

    @torch.inference_mode()
    def _begun(self, starts: Starts, seeds: Sequence[int]) -> Snapshot:
        frames = torch.from_numpy(starts.frames).to(self._device).permute(0, 3, 1, 2)
        latents = self._simulator.encode(frames / 127.5 - 1)[:, None]
        positions = torch.from_numpy(starts.positions).to(self._device)[:, None]
        return Snapshot(
            latents=latents.expand(-1, WINDOW - 1, -1, -1, -1).clone(),
            actions=positions.expand(-1, WINDOW - 1, -1).clone(),
            seeds=tuple(seeds),
            ages=np.zeros(self.num_envs, np.int64),
        )

    @torch.inference_mode()
    def _advanced(self, now: Snapshot, action: Tensor) -> Snapshot:
        actions = torch.cat([now.actions, action[:, None]], dim=1)
        noise = self._noise(now, _LATENT, now.latents.shape[2:])
        latent = torch.empty_like(noise)
        lengths = np.minimum(now.ages + 1, WINDOW - 1)
        for length in np.unique(lengths):
            scaled = actions[:, -length - 1 :] * self._scale + self._offset
            predicted = self._simulator.predict(now.latents[:, -length:], scaled, noise)
            rows = torch.from_numpy(lengths == length).to(self._device)
            latent[rows] = predicted[rows]
        latents = torch.cat([now.latents[:, 1:], latent[:, None]], dim=1)
        return Snapshot(latents, actions[:, 1:], now.seeds, now.ages + 1)

    @torch.inference_mode()
    def _look(self, now: Snapshot) -> dict[str, np.ndarray]:
        config = self._simulator.config
        noise = self._noise(now, _FRAME, (config.frame_channels, config.resolution, config.resolution))
        drawn = self._simulator.decode(now.latents[:, -1], noise)
        frames = ((drawn + 1) * 127.5).clamp(0, 255).round().byte().permute(0, 2, 3, 1).cpu().numpy()
        observation = {
            f"observation.images.{camera.name}": np.ascontiguousarray(frames[..., 3 * view : 3 * view + 3])
            for view, camera in enumerate(self.episode_spec.cameras)
        }
        observation["observation.state"] = now.actions[:, -1].cpu().numpy().copy()
        return observation

    def _noise(self, now: Snapshot, purpose: int, shape: Sequence[int]) -> Tensor:
        """(N, *shape), one drawing for each seed, age and purpose."""
        drawn = [
            np.random.default_rng((seed, int(age), purpose)).standard_normal(shape, np.float32)
            for seed, age in zip(now.seeds, now.ages, strict=True)
        ]
        return torch.from_numpy(np.stack(drawn).clip(-_MOST_NOISE, _MOST_NOISE)).to(self._device)

    def _info(self) -> dict[str, Any]:
        size = self.num_envs
        return {
            "success": np.zeros(size, bool),
            "score": np.zeros(size, np.float32),
            "trust": np.ones(size, np.float32),
        }


def _choose(mask: np.ndarray, begun: Snapshot, running: Snapshot) -> Snapshot:
    """Slots from `begun` where the mask is true, from `running` elsewhere."""
    chosen = torch.from_numpy(mask).to(begun.latents.device)[:, None, None]
    seeds = zip(mask, begun.seeds, running.seeds, strict=True)
    return Snapshot(
        latents=torch.where(chosen[..., None, None], begun.latents, running.latents),
        actions=torch.where(chosen, begun.actions, running.actions),
        seeds=tuple(new if starts else old for starts, new, old in seeds),
        ages=np.where(mask, begun.ages, running.ages),
    )


def _device(name: str) -> torch.device:
    there = torch.cuda.is_available()
    if name == "cuda" and not there:
        raise ConfigError("device is 'cuda', but PyTorch finds no CUDA device here; choose 'cpu' or 'auto'")
    if name not in ("auto", "cpu", "cuda"):
        raise ConfigError(f"device is one of auto, cpu and cuda, got {name!r}")
    return torch.device("cuda" if there and name != "cpu" else "cpu")


def _entropy() -> int:
    """A seed for an episode that was given none."""
    return int(np.random.default_rng().integers(2**63))


def _hash(starts: Starts) -> str:
    return hashlib.sha256(starts.frames.tobytes() + starts.positions.tobytes()).hexdigest()
