"""A learned world that can be driven like reality."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ...storage.errors import ConfigError
from ..start import given_start
from ..world import World, as_seeds, bounded_actions, reset_mask
from .canvas import cut_out, lay_out
from .checkpoint import from_pretrained
from .compiled import compile_for_cpu, compile_for_cuda
from .config import Device
from .consistency import white_noise
from .devices import choose_device, run_on
from .engine import Engine
from .inference import for_inference
from .trust import cycle_error


@dataclass(frozen=True)
class Snapshot:
    """All slots of a learned world at one moment.

    Args:
        latents: (N, num_latents, C, H, W), the present one last.
        vectors: (N, history, D) scaled state and labels.
        actions: (N, history, A) scaled; the last led to the present latent.
        doubt: (N,) float32, how far the dynamics did not know what happens, of late (see `trust`).
        slip: (N,) float32, how far actions read back from what happened were off, of late.
        drawing: (N,) float32, trust in how the frame is drawn.
        ages: (N,) int64, steps since the slot's start.
        chances: (N,) int64, from which, with the age, the noise of a sampled prediction follows.
    """

    latents: Tensor
    vectors: Tensor
    actions: Tensor
    doubt: Tensor
    slip: Tensor
    drawing: Tensor
    ages: Tensor
    chances: Tensor


class LearnedWorld(World):
    """N episodes in a trained world model.

    A slot starts from a real frame, at rest, drawn by its seed from those in the checkpoint or given as
    `options["start"]`; labels of it are read by the checkpoint's probe. What it shows is always decoded, the first
    frame too, so that frames look alike. Its episodes have no labels: what it believes of them is not reality.
    Numbers depend on `num_envs` in the last bits, as matrix products of another size add up in another order.

    Args:
        checkpoint: folder of a trained world.
        num_envs: how many episodes are stepped together.
        task: which task, where the checkpoint has several: its starts are those of this task, and the score is of it.
            By default the first of the interaction data.
        device: where frames are predicted and decoded; another one gives other bytes.
        compile_model: whether to compile a step, which makes one episode on a CPU half as fast again, with other
            bytes. The first time that takes a minute; see docs/world-model.md.

    Raises:
        CheckpointError: the folder cannot be loaded.
        SpecMismatch: it has several tasks, and this is none of them.
        ConfigError: the device is not there, the step cannot be compiled, or not for so many episodes.
    """

    def __init__(
        self, checkpoint: str, num_envs: int, task: str | None = None, device: Device = "cpu",
        compile_model: bool = False,
    ) -> None:  # fmt: skip
        self._checkpoint = from_pretrained(Path(checkpoint))
        model = self._model = for_inference(self._checkpoint.model)
        self._engine, self._compiled = Engine(model), compile_model
        self._prepare(choose_device(device), num_envs)
        number = 0 if task is None else model.task_number(task)
        super().__init__(replace(model.spec, labels={}), num_envs, model.tasks[number])
        self._tasks = torch.full((num_envs,), number)
        own = self._checkpoint.start_tasks == number
        # All, where none of the task's own was kept.
        self._starts = np.flatnonzero(own if own.any() else ~own)
        self._now: Snapshot | None = None

    def _prepare(self, device: torch.device, num_envs: int) -> None:
        networks = self._model.wide_networks
        if self._compiled and device.type == "cuda":
            compile_for_cuda(networks)
        elif self._compiled:
            _require_one_episode(num_envs)
            compile_for_cpu(self._engine, self._checkpoint.hash)
        run_on(device, *networks)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """See World.reset.

        Raises:
            SpecMismatch: `options["start"]` is not an observation of this world; the message lists what differs.
        """
        mask = reset_mask(options, self.num_envs, first=self._now is None)
        given = (options or {}).get("start")
        rngs = [np.random.default_rng(one) for one in as_seeds(seed, self.num_envs)]
        start = self._drawn_starts(rngs) if given is None else self._given_starts(given)
        begun = self._at_rest(*start, chances=torch.tensor([int(rng.integers(2**62)) for rng in rngs]))
        self._now = begun if self._now is None else _choose(torch.from_numpy(mask), begun, self._now)
        observation, info = self._look()
        return observation, {**info, "start": self._believed(begun)}

    def step(
        self, actions: np.ndarray
    ) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """See World.step; the reward is the score."""
        bounded = torch.from_numpy(bounded_actions(actions, self.episode_spec, self.num_envs))
        self._now = self._advance(self._moment(), bounded)
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
        """The hash of the checkpoint, and whether it is compiled."""
        compiled = {"compile_model": True} if self._compiled else {}
        return {"name": "learned", "checkpoint": self._checkpoint.hash, **compiled}

    def _moment(self) -> Snapshot:
        if self._now is None:
            raise ValueError("the world has no episodes yet; call reset() first")
        return self._now

    def _drawn_starts(self, rngs: Sequence[np.random.Generator]) -> tuple[np.ndarray, np.ndarray]:
        """Frames (N, H, W, 3V) and states (N, S)."""
        drawn = self._starts[[rng.integers(len(self._starts)) for rng in rngs]]
        return self._checkpoint.start_frames[drawn], self._checkpoint.start_states[drawn]

    def _given_starts(self, start: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        cameras, state = given_start(start, self.episode_spec, self.num_envs)
        return lay_out(cameras, *self._model.canvas), state

    @torch.inference_mode()
    def _at_rest(self, frames: np.ndarray, states: np.ndarray, chances: Tensor) -> Snapshot:
        probe, config = self._checkpoint.probe, self._model.config
        vectors = self._model.scale_vectors(states, {} if probe is None else probe(frames))
        latents = self._model.encode(frames)
        return Snapshot(
            latents=latents[:, None].expand(-1, config.num_latents, -1, -1, -1).clone(),
            vectors=vectors[:, None].expand(-1, config.history, -1).clone(),
            actions=torch.zeros(self.num_envs, config.history, self.episode_spec.action.size),
            doubt=torch.zeros(self.num_envs),
            slip=torch.ones(self.num_envs),
            drawing=torch.ones(self.num_envs),
            ages=torch.zeros(self.num_envs, dtype=torch.int64),
            chances=chances,
        )

    def _believed(self, begun: Snapshot) -> dict[str, np.ndarray]:
        """What the probe reads of the frames that slots start from: `label.name` -> (N,), in the label's unit."""
        spec = self._model.spec
        names = [f"{label}.{name}" for label, vector in spec.labels.items() for name in vector.names]
        values = begun.vectors[:, -1] * self._model.vector_scale + self._model.vector_centre
        return dict(zip(names, values[:, spec.state.size :].T.numpy(), strict=True))

    @torch.inference_mode()
    def _advance(self, now: Snapshot, action: Tensor) -> Snapshot:
        engine = self._engine
        actions, vector, new_doubt = engine.guess(now.vectors, now.actions, action, now.ages)
        vector, new_doubt = engine.settle(vector, new_doubt)
        noise = white_noise(now.chances, now.ages, self._model.noise_shape(self.num_envs)[1:])
        latents, vectors, doubt, slip = engine.move(
            now.latents, now.vectors, now.doubt, now.slip, actions, vector, new_doubt, self._tasks, noise
        )
        return Snapshot(latents, vectors, actions, doubt, slip, now.drawing, now.ages + 1, now.chances)

    @torch.inference_mode()
    def _look(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        now = self._moment()
        noise = white_noise(now.chances, now.ages, self._model.frame_noise_shape(self.num_envs)[1:], use=1)
        shown = self._engine.show(now.latents, now.vectors, now.doubt, now.slip, self._tasks, noise)
        decoded, frames, state, score, led_here = shown
        now = self._now = self._judge_drawing(now, decoded)
        trust = torch.minimum(now.drawing, led_here)
        views = cut_out(frames.numpy(), self.episode_spec.cameras)
        observation = {f"observation.images.{name}": view for name, view in views.items()}
        observation["observation.state"] = state.numpy().copy()
        success = (score > self._model.success_threshold).numpy()
        return observation, {"success": success, "score": score.numpy().copy(), "trust": trust.numpy()}

    def _judge_drawing(self, now: Snapshot, decoded: Tensor) -> Snapshot:
        """Trust in how frames are drawn, of those that could be drawn badly.

        These are frames made of the last ones, in which errors add up. Where all are drawn from vectors it is the start
        alone, which may show what the world has never seen; to look at each frame again would take a fifth of a step.
        """
        judged = (now.ages == 0) | (not self._model.draws_anew)
        if not judged.any():
            return now
        error = cycle_error(self._model.autoencoder, now.latents[:, -1], decoded)
        return replace(now, drawing=torch.where(judged, self._model.trust.in_drawing(error), now.drawing))


def _require_one_episode(num_envs: int) -> None:
    # Compiled products add up in another order for another number of rows; in batch nothing is gained anyway.
    if num_envs != 1:
        raise ConfigError(
            f"on a CPU compile_model is for one episode at a time, got num_envs {num_envs}; leave one of them out"
        )


def _choose(mask: Tensor, begun: Snapshot, running: Snapshot) -> Snapshot:
    """Slots from `begun` where the mask is true, from `running` elsewhere."""
    wide = mask[:, None, None]
    return Snapshot(
        latents=torch.where(wide[..., None, None], begun.latents, running.latents),
        vectors=torch.where(wide, begun.vectors, running.vectors),
        actions=torch.where(wide, begun.actions, running.actions),
        doubt=torch.where(mask, begun.doubt, running.doubt),
        slip=torch.where(mask, begun.slip, running.slip),
        drawing=torch.where(mask, begun.drawing, running.drawing),
        ages=torch.where(mask, begun.ages, running.ages),
        chances=torch.where(mask, begun.chances, running.chances),
    )
