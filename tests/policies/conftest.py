"""What several policy tests start from, made once: LeRobot alone takes seconds to import."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from demoloom.policies import PolicyTrainingConfig, train_policy

from .toy import POSE, SETTINGS, SPEC, walk, write_store, write_world


@pytest.fixture(scope="session")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("data") / "walks", [walk(index) for index in range(24)])


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world") / "world")


@pytest.fixture(scope="session")
def world_with_probe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world") / "world", replace(SPEC, labels={"pose": POSE}))


@pytest.fixture(scope="session")
def policies(
    tmp_path_factory: pytest.TempPathFactory, demonstrations: Path, world: Path, world_with_probe: Path
) -> dict[str, Path]:
    """A policy of each kind, trained for a few steps."""
    folder = tmp_path_factory.mktemp("policies")
    for name, settings in SETTINGS.items():
        kind, num_steps = name.split("-")[0], 300 if name.startswith("latent") else 3
        config = PolicyTrainingConfig(
            kind, num_steps, batch_size=32, settings=settings, num_validations=3, ema_decay=0.98, num_threads=1
        )
        train_policy(demonstrations, folder / name, config, world_with_probe if "probe" in name else world)
    return {name: folder / name for name in SETTINGS}
