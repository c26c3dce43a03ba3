"""The same plan gives the same bytes: in one slot or sixteen, on one worker or four, calm or killed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from demoloom.generators import RolloutPlan
from demoloom.generators.fleet import FleetConfig, run_episodes
from demoloom.generators.fleet.worker import Worker
from demoloom.storage.episode import ROW_ARRAYS
from demoloom.storage.plugins import PluginRef
from demoloom.storage.zarr_store import ZarrStore

from .own_workers import Chaos
from .stored import contents


@pytest.fixture(params=["reality", "learned world"])
def plan(request: pytest.FixtureRequest, toy_world: Path) -> RolloutPlan:
    reality = PluginRef("worlds", "pusht")
    learned = PluginRef("worlds", "learned", {"checkpoint": str(toy_world)})
    return RolloutPlan(
        stage="test",
        world=reality if request.param == "reality" else learned,
        stream=PluginRef("streams", "random"),
        run_seed=3,
        max_steps=12,
        num_slots=3,
    )


def rows(store: Path) -> list[Any]:
    """All bytes of each episode but its name, which says how many slots there were."""
    return [
        [getattr(episode, name).tobytes() for name in ROW_ARRAYS]
        + [frames.tobytes() for frames in episode.images.values()]
        for episode in ZarrStore.open(store)
    ]


def test_the_number_of_slots_does_not_show(plan: RolloutPlan, tmp_path: Path) -> None:
    made = []
    for num_slots in (1, 3, 16):
        Worker(replace(plan, num_slots=num_slots), tmp_path / str(num_slots), 3).run(range(5))
        made.append(rows(tmp_path / str(num_slots)))
    assert len(made[0]) == 5
    assert made[0] == made[1] == made[2]


@pytest.mark.slow
@pytest.mark.usefixtures("ray_open")
def test_neither_does_the_number_of_workers_nor_how_many_of_them_were_killed(plan: RolloutPlan, tmp_path: Path) -> None:
    Worker(plan, tmp_path / "alone", 3).run(range(24))
    with Chaos(num_kills=2):
        run_episodes(plan, range(24), tmp_path / "four", config=FleetConfig(num_workers=4, max_tries=10))
    assert contents(tmp_path / "four") == contents(tmp_path / "alone")
