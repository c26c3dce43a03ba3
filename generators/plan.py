"""Which episodes a rollout makes, as plain data that travels to workers and into lineage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..storage.errors import ConfigError
from ..storage.lineage import hash_folder
from ..storage.plugins import PluginRef
from .seeds import episode_id, episode_seed


@dataclass(frozen=True)
class RolloutPlan:
    """Everything that decides the bytes of episode i, besides i.

    Args:
        stage: which stage of a run makes these episodes.
        world: built with `num_envs=num_slots` added to its keyword arguments.
        stream: built with `spec=world.episode_spec` added.
        run_seed: episode i is seeded with `episode_seed(run_seed, i)`.
        max_steps: after so many steps an unsolved episode is a failure.
        num_slots: how many episodes are stepped together.
        stop_on_success: end an episode once it is solved; otherwise it runs on, and stays solved.
        success_hold: an episode is solved after so many successful steps in a row.
        success_score: a step is successful from this score on; None: when the world says so.
        min_trust: an episode is untrusted once its trust falls below this.
        start_world: reset with the same seed to get each episode's first observation; None: the world's own starts.
        lineage: what else is to be kept about how the episodes were made.

    Raises:
        ConfigError: a number is out of its range.
    """

    stage: str
    world: PluginRef
    stream: PluginRef
    run_seed: int
    max_steps: int
    num_slots: int = 16
    stop_on_success: bool = True
    success_hold: int = 1
    success_score: float | None = None
    min_trust: float = 0.0
    start_world: PluginRef | None = None
    lineage: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, least in (("run_seed", 0), ("max_steps", 1), ("num_slots", 1), ("success_hold", 1)):
            if getattr(self, name) < least:
                raise ConfigError(f"{name} of a rollout must be at least {least}, got {getattr(self, name)}")
        if self.success_hold > self.max_steps:
            raise ConfigError(f"success_hold={self.success_hold} cannot be met within max_steps={self.max_steps}")
        for name in ("min_trust", "success_score"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= 1:
                raise ConfigError(f"{name} of a rollout must lie in [0, 1], got {value}")

    @cached_property
    def identity(self) -> dict[str, Any]:
        """What tells two plans' episodes apart; a folder among the arguments counts by what it holds, not by name."""
        made_with = {name: value for name, value in self.to_dict().items() if name != "lineage"}
        return _by_content(made_with)

    def episode_id(self, index: int) -> str:
        """The id of episode `index`."""
        return episode_id(self.identity, index)

    def episode_seed(self, index: int) -> int:
        """The seed of episode `index`."""
        return episode_seed(self.run_seed, index)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> RolloutPlan:
        """Inverse of `to_dict`, also after a round trip through JSON."""
        refs = {name: PluginRef(**data[name]) for name in ("world", "stream", "start_world") if data[name]}
        return cls(**{**data, **refs})


def _by_content(value: Any) -> Any:
    """`value` with the path of each folder replaced by the hash of its files, so that a moved run keeps its ids."""
    if isinstance(value, Mapping):
        return {key: _by_content(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_by_content(entry) for entry in value]
    if isinstance(value, str | Path) and "/" in str(value) and Path(value).is_dir():
        return hash_folder(Path(value))
    return str(value) if isinstance(value, Path) else value
