"""What the parts of one worker cost: a step of the world, the stream, the rollout loop, and storing a frame."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from fleet_model import Costs
from fleet_standins import waiting_plan

from demoloom.generators.plan import RolloutPlan
from demoloom.generators.rollout import rollout
from demoloom.generators.world import World
from demoloom.storage.zarr_store import ZarrStore

_LOOP_STEPS = 200
_STORED_SLOTS, _STORED_STEPS = 4, 60


@dataclass(frozen=True)
class Stored:
    """What storing a frame takes: seconds of a core, and bytes in the store."""

    seconds: float
    num_bytes: float


def worker_costs(plan: RolloutPlan, num_slots: int, store_s: float, seconds: float) -> Costs:
    """Measure a world and a stream on this core for about so many seconds; medians, after one step to warm up."""
    world = plan.world.build(num_envs=num_slots)
    stream = plan.stream.build(spec=world.episode_spec)
    seeds = [plan.episode_seed(index) for index in range(num_slots)]
    stream.reset(seeds, np.ones(num_slots, bool))
    observation, _ = world.reset(seed=seeds)
    spent: list[tuple[float, float]] = []
    until = time.perf_counter() + seconds
    while len(spent) < 3 or time.perf_counter() < until:
        begun = time.perf_counter()
        actions = stream.act(observation)
        acted = time.perf_counter()
        observation, *_ = world.step(actions)
        spent.append((acted - begun, time.perf_counter() - acted))
    act_s, step_s = np.median(spent[1:], axis=0)
    return Costs(num_slots, float(step_s), float(act_s) + loop_s(num_slots), store_s)


def loop_s(num_slots: int) -> float:
    """Seconds of the rollout loop itself for a step of all slots: of a world and a stream that do next to nothing."""
    plan = waiting_plan(num_slots, _LOOP_STEPS, step_s=0.0)
    world = plan.world.build(num_envs=num_slots)
    stream = plan.stream.build(spec=world.episode_spec)
    begun = time.perf_counter()
    for _ in rollout(world, stream, plan, range(num_slots)):
        pass
    return (time.perf_counter() - begun) / _LOOP_STEPS


def storing(plan: RolloutPlan) -> Stored:
    """Store a few episodes of this plan's world, cut short."""
    short = replace(plan, num_slots=_STORED_SLOTS, max_steps=_STORED_STEPS)
    world: World = plan.world.build(num_envs=_STORED_SLOTS)
    stream = plan.stream.build(spec=world.episode_spec)
    episodes = list(rollout(world, stream, short, range(_STORED_SLOTS)))
    num_frames = sum(len(episode) for episode in episodes)
    with tempfile.TemporaryDirectory() as folder:
        store = ZarrStore.create(Path(folder) / "store", world.episode_spec)
        begun = time.perf_counter()
        for episode in episodes:
            store.append(episode)
        seconds = time.perf_counter() - begun
        num_bytes = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
    return Stored(seconds / num_frames, num_bytes / num_frames)
