"""A LeRobot policy folder, loaded so that a part that is missing is an error and never a guess."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from safetensors import SafetensorError

from ..storage.atomic import read_json
from ..storage.errors import CheckpointError, PluginError, SpecMismatch, StoreError
from ..storage.plugins import load_plugin
from ..storage.spec import EpisodeSpec
from ..storage.spec import read_spec as read_stored_spec

if TYPE_CHECKING:
    import torch
    from lerobot.policies.pretrained import PreTrainedPolicy
    from lerobot.processor import PolicyProcessorPipeline

FILES = ("config.json", "model.safetensors", "policy_preprocessor.json", "policy_postprocessor.json")
SPEC_FILE = "spec.json"
#: What each of LeRobot's ways to normalise needs to know.
NEEDED = {
    "MEAN_STD": ("mean", "std"),
    "MIN_MAX": ("min", "max"),
    "QUANTILES": ("q01", "q99"),
    "QUANTILE10": ("q10", "q90"),
}


@dataclass(frozen=True)
class PolicyCheckpoint:
    """A policy with what normalises its inputs and outputs, and the spec it was trained for (None if unknown)."""

    policy: PreTrainedPolicy
    preprocessor: PolicyProcessorPipeline[dict[str, Any], dict[str, Any]]
    postprocessor: PolicyProcessorPipeline[Any, Any]
    spec: EpisodeSpec | None

    @property
    def num_observations(self) -> int:
        """O, how many observations the policy looks at."""
        return int(self.policy.config.n_obs_steps)

    @property
    def noise_shape(self) -> tuple[int, int] | None:
        """(T, A) of the noise that a plan starts from, None for a policy without."""
        if "noise" not in inspect.signature(self.policy.predict_action_chunk).parameters:
            return None
        config = self.policy.config
        return getattr(config, "horizon", None) or config.chunk_size, config.action_feature.shape[0]

    def plan(self, observations: Mapping[str, np.ndarray], noise: np.ndarray | None) -> np.ndarray:
        """Plan the next actions of B episodes.

        Args:
            observations: `observation.images.<camera>` (B, O, H, W, 3) uint8 and `observation.state` (B, O, S), the
                present one last.
            noise: (B, *noise_shape) float32, None for a policy without.

        Returns:
            (B, T, A) float32 in the robot's units, the first to be executed now.
        """
        import torch

        batch = self.preprocessor(as_batch(observations, self.policy.config))
        given = {} if noise is None else {"noise": torch.as_tensor(noise).to(self.policy.config.device)}
        with torch.inference_mode():
            chunk = self.policy.predict_action_chunk(batch, **given)
        return np.asarray(self.postprocessor(chunk).float().cpu())


def as_batch(observations: Mapping[str, np.ndarray], config: Any) -> dict[str, torch.Tensor]:
    """Observations of B episodes as LeRobot's policies take them: float CHW images in [0, 1].

    A policy that names no observation steps (ACT) sees no axis for them either.
    """
    import torch

    timed = config.observation_delta_indices is not None
    batch = {}
    for key, values in observations.items():
        tensor = torch.as_tensor(values if timed else values[:, -1])
        batch[key] = tensor.movedim(-1, -3).float() / 255 if key.startswith("observation.images.") else tensor.float()
    return batch


def stay_offline() -> None:
    """Keep LeRobot from asking the hub; call it before LeRobot is first imported."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")


def load_policy(path: Path, device: str = "cpu") -> PolicyCheckpoint:
    """Load a LeRobot `pretrained_model` folder in evaluation mode.

    Raises:
        CheckpointError: a file, a weight or a normalisation statistic is missing. LeRobot itself would run on, with
            random weights or unnormalised numbers.
    """
    _check_files(path)
    stay_offline()
    register_kind(str(_config(path).get("type", "")))
    from lerobot.configs import PreTrainedConfig
    from lerobot.policies import get_policy_class, make_pre_post_processors

    try:
        config = PreTrainedConfig.from_pretrained(path, cli_overrides=[f"--device={device}"])
        with redirect_stdout(sys.stderr):  # LeRobot prints that it loads
            policy = get_policy_class(config.type).from_pretrained(path, config=config, strict=True)
        preprocessor, postprocessor = make_pre_post_processors(
            config, str(path), preprocessor_overrides={"device_processor": {"device": device}}
        )
    except (OSError, ValueError, RuntimeError, KeyError, TypeError, SafetensorError) as error:
        reason = " ".join(str(error).split()).partition(" Available ")[0]
        raise CheckpointError(f"the policy in {path} cannot be loaded, copy or train it again: {reason}") from error
    for pipeline in (preprocessor, postprocessor):
        _check_statistics(path, pipeline)
    return PolicyCheckpoint(policy, preprocessor, postprocessor, read_spec(path))


def _config(path: Path) -> dict[str, Any]:
    try:
        return read_json(path / "config.json")
    except StoreError as error:
        raise CheckpointError(f"the policy in {path} is damaged: {error}") from error


def register_kind(name: str) -> None:
    """Import the plug-in that teaches LeRobot this type of policy; LeRobot's own types need none."""
    try:
        load_plugin("policies", name).register()
    except PluginError:
        return


def read_spec(path: Path) -> EpisodeSpec | None:
    """The spec kept beside the weights, None in a folder that demoloom did not write.

    Raises:
        CheckpointError: the file is damaged.
    """
    file = path / SPEC_FILE
    try:
        return read_stored_spec(file) if file.is_file() else None
    except StoreError as error:
        raise CheckpointError(f"the policy in {path} is damaged: {error}") from error


def check_fits(path: Path, checkpoint: PolicyCheckpoint, spec: EpisodeSpec) -> None:
    """Refuse to drive a robot or world that the policy was not trained for.

    Raises:
        SpecMismatch: cameras, names, sizes or rate differ; both values are given.
    """
    if checkpoint.spec is not None:
        differences = checkpoint.spec.differences(spec)
    else:
        differences = _feature_differences(checkpoint.policy.config, spec)
    if differences:
        raise SpecMismatch(f"the policy in {path} does not fit this world: {'; '.join(differences)}")


def _feature_differences(config: Any, spec: EpisodeSpec) -> list[str]:
    offered: dict[str, tuple[int, ...]] = {
        f"observation.images.{camera.name}": (3, camera.height, camera.width) for camera in spec.cameras
    }
    offered |= {"observation.state": (spec.state.size,), "action": (spec.action.size,)}
    wanted = {key: tuple(f.shape) for key, f in {**config.input_features, **config.output_features}.items()}
    return [
        f"{key} is {shape} here and {offered.get(key, 'missing')} there"
        for key, shape in wanted.items()
        if offered.get(key) != shape
    ]


def _check_files(path: Path) -> None:
    missing = [name for name in FILES if not (path / name).is_file()]
    if missing:
        raise CheckpointError(
            f"{path} is no complete policy folder, {', '.join(missing)} is missing; copy the whole folder"
        )


def _check_statistics(path: Path, pipeline: Any) -> None:
    """LeRobot passes a feature without statistics through untouched; a policy must not run like that."""
    for step in pipeline.steps:
        for key, feature in getattr(step, "features", {}).items():
            mode = step.norm_map.get(feature.type)
            for name in NEEDED.get(mode.name if mode else "", ()):
                if name not in (step.stats or {}).get(key, {}):
                    raise CheckpointError(
                        f"{path} has no {name!r} of {key!r} to normalise with; copy the whole folder with its "
                        "*processor*.safetensors files, or train again"
                    )
