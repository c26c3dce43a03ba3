"""How near a learned PushT world stays to episodes that it was not trained on; a part of `benchmarks/world.py`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from demoloom.generators.learned.assessment import assess_world
from demoloom.generators.plan import RolloutPlan
from demoloom.generators.rollout import rollout
from demoloom.storage.plugins import PluginRef
from demoloom.storage.zarr_store import ZarrStore
from demoloom.teleop.pusht.task import PUSHT

#: Of the episodes that are recorded to compare with; no run has it, whose seeds are small numbers.
_SEED = 20_260_308
_STEPS = 201


def compare_with_held_out(checkpoint: Path, num_episodes: int, work: Path) -> dict[str, Any]:
    """Record play of 201 steps in gym-pusht, with a seed of its own, and run the world on its actions.

    Args:
        checkpoint: of the world.
        num_episodes: to record.
        work: an empty folder.

    Returns:
        what `assess_world` finds.
    """
    size = json.loads((checkpoint / "spec.json").read_text())["cameras"][0]["height"]
    world = PluginRef("worlds", PUSHT.reality.name, {**PUSHT.reality.kwargs, "size": size})
    plan = RolloutPlan(
        stage="held-out", world=world, stream=PUSHT.play(None), run_seed=_SEED, max_steps=_STEPS,
        num_slots=16, stop_on_success=False,
    )  # fmt: skip
    reality = world.build(num_envs=plan.num_slots)
    store = ZarrStore.create(work / "held-out", reality.episode_spec)
    stream = plan.stream.build(spec=reality.episode_spec)
    for episode in rollout(reality, stream, plan, range(num_episodes)):
        store.append(episode)
    return assess_world(checkpoint, work / "held-out", num_episodes)
