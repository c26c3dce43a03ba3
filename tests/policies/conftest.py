"""What several policy tests start from, made once: LeRobot alone takes seconds to import."""

from __future__ import annotations

from pathlib import Path

import pytest

from demoloom.policies import PolicyTrainingConfig, train_policy

from .toy import SETTINGS, walk, write_store, write_world


@pytest.fixture(scope="session")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("data") / "walks", [walk(index) for index in range(24)])


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world") / "world")


@pytest.fixture(scope="session")
def policies(tmp_path_factory: pytest.TempPathFactory, demonstrations: Path, world: Path) -> dict[str, Path]:
    """A policy of each kind, trained for a few steps."""
    folder = tmp_path_factory.mktemp("policies")
    for kind, settings in SETTINGS.items():
        num_steps = 300 if kind == "latent" else 3
        config = PolicyTrainingConfig(
            kind, num_steps, batch_size=32, settings=settings, num_validations=3, ema_decay=0.98, num_threads=1
        )
        train_policy(demonstrations, folder / kind, config, world)
    return {kind: folder / kind for kind in SETTINGS}
