"""The kinds of policy that can be trained, each by a LeRobot policy type and settings that suit a CPU."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..storage.errors import ConfigError
from ..storage.spec import EpisodeSpec

if TYPE_CHECKING:
    from lerobot.configs import PreTrainedConfig


@dataclass(frozen=True)
class PolicyKind:
    """A LeRobot policy type.

    Args:
        name: as LeRobot knows it.
        package: the import that registers it with LeRobot.
        settings: (spec, world checkpoint or None, changes asked for) -> keyword arguments of its LeRobot config.
        adopt: called with a new policy and the world checkpoint, to take over trained weights.
    """

    name: str
    package: str
    settings: Callable[[EpisodeSpec, Path | None, Mapping[str, Any]], Mapping[str, Any]]
    adopt: Callable[[Any, Path | None], None] = lambda policy, world: None

    def register(self) -> None:
        """Make LeRobot know this type."""
        importlib.import_module(self.package)

    def make_config(self, spec: EpisodeSpec, world: Path | None, changes: Mapping[str, Any]) -> PreTrainedConfig:
        """Its LeRobot config with `changes` on top of the settings that suit a CPU.

        Raises:
            ConfigError: a change names no setting, or its value cannot be used.
        """
        self.register()
        from lerobot.configs import PreTrainedConfig

        made = PreTrainedConfig.get_choice_class(self.name)
        _check_names(self.name, changes, [field.name for field in fields(made)])
        settings = {**self.settings(spec, world, changes), "push_to_hub": False, **changes}
        try:
            return made(**settings)
        except (ValueError, NotImplementedError, TypeError) as error:
            raise ConfigError(f"these settings of a {self.name} policy cannot be used: {error}") from error


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """`("chunk_size=16", ...)` -> {"chunk_size": 16, ...}; values are JSON, or else text."""
    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigError(f"a policy setting is written name=value, got {setting!r}")
        parsed[name.strip()] = _json_or_text(value)
    return parsed


def relative_dimensions(spec: EpisodeSpec) -> list[int]:
    """For each action dimension the state dimension it sets a target for, -1 where there is none.

    That is the one with the same name or, failing that, the one at the same place with the same bounds.
    """
    state, action = spec.state, spec.action
    bounds = list(zip(state.low, state.high, strict=True))
    found = []
    for place, name in enumerate(action.names):
        same_bounds = place < state.size and bounds[place] == (action.low[place], action.high[place])
        found.append(state.names.index(name) if name in state.names else place if same_bounds else -1)
    return found


def _check_names(kind: str, changes: Mapping[str, Any], known: list[str]) -> None:
    for name in changes:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            raise ConfigError(
                f"a {kind} policy has no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            )


def _json_or_text(value: str) -> Any:
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        return value


def _latent_settings(spec: EpisodeSpec, world: Path | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    if world is None:
        raise ConfigError(
            "a latent policy sees through a world model's networks; give a world checkpoint, or train kind 'act'"
        )
    from .latent.eyes import eyes_settings

    return {**eyes_settings(world, spec, changes.get("eyes")), "relative_to": relative_dimensions(spec)}


def _adopt_eyes(policy: Any, world: Path | None) -> None:
    policy.adopt(world)


def _act_settings(spec: EpisodeSpec, world: Path | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "chunk_size": 16,
        "n_action_steps": 8,
        "pretrained_backbone_weights": None,
        "dim_model": 128,
        "n_heads": 4,
        "dim_feedforward": 512,
        "n_encoder_layers": 2,
        "n_vae_encoder_layers": 2,
        "latent_dim": 16,
        "optimizer_lr": 1e-4,
        "optimizer_lr_backbone": 1e-4,
    }


def _diffusion_settings(spec: EpisodeSpec, world: Path | None, changes: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "horizon": 16,
        "n_action_steps": 8,
        "pretrained_backbone_weights": None,
        "use_group_norm": True,
        "down_dims": (64, 128),
        "diffusion_step_embed_dim": 64,
        # DDIM draws no noise on the way, so that a plan follows from its first noise alone.
        "noise_scheduler_type": "DDIM",
        "num_inference_steps": 10,
    }


LATENT = PolicyKind("latent", "demoloom.policies.latent", _latent_settings, _adopt_eyes)
ACT = PolicyKind("act", "lerobot.policies", _act_settings)
DIFFUSION = PolicyKind("diffusion", "lerobot.policies", _diffusion_settings)
