"""Named trainings of a world, each a file beside this one."""

from __future__ import annotations

import tomllib
from pathlib import Path

from ...probe_config import ProbeTrainingConfig
from ..config import WorldConfig
from ..training_config import DynamicsTrainingConfig, VectorTrainingConfig, WorldTrainingConfig

_PARTS = {
    "model": WorldConfig,
    "dynamics": DynamicsTrainingConfig,
    "vectors": VectorTrainingConfig,
    "probe": ProbeTrainingConfig,
}


def read_preset(path: Path) -> WorldTrainingConfig:
    """The training that a TOML file names; what it leaves out is as by default.

    Raises:
        ConfigError: a value cannot be used.
        TypeError: no setting is called so.
    """
    given = tomllib.loads(path.read_text(encoding="utf-8"))
    return WorldTrainingConfig(**given | {name: part(**given.get(name, {})) for name, part in _PARTS.items()})


presets: dict[str, WorldTrainingConfig] = {
    name: read_preset(Path(__file__).with_name(f"{name}.toml")) for name in ("smoke", "tiny", "cpu", "gpu")
}
