"""The model of throughput beside what is measured: real workers, many waiting workers, and a slow store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from fleet_costs import loop_s, storing
from fleet_model import Costs, fill, frames_per_s, seconds_beside_store
from fleet_standins import SlowStore, waiting_plan

from demoloom.generators.fleet import FleetConfig, ray_session, run_episodes
from demoloom.generators.fleet.writer import EpisodeWriter
from demoloom.generators.plan import RolloutPlan
from demoloom.generators.rollout import rollout
from demoloom.storage.zarr_store import ZarrStore

_STEP_S, _SLOTS, _STEPS = 0.04, 16, 60
#: Batches of slots of the longer of two runs.
_BATCHES = 4


@dataclass(frozen=True)
class Check:
    """Frames a second, as the model says and as measured."""

    name: str
    predicted: float
    measured: float


def check_workers(name: str, costs: Costs, lengths: Sequence[int], num_workers: int, seconds: float) -> Check:
    """Real workers that made episodes of these lengths in `seconds`, starts left out."""
    filled = replace(costs, fill=fill(parts_of(lengths, costs.num_slots, num_workers), costs.num_slots))
    return Check(name, frames_per_s(filled, num_workers), sum(lengths) / seconds)


def parts_of(lengths: Sequence[int], num_slots: int, num_workers: int) -> list[Sequence[int]]:
    """What each worker makes of a fixed number of episodes: calls in turns, which follow each other in its slots."""
    rounds = -(-len(lengths) // (num_slots * num_workers))
    size = -(-len(lengths) // (rounds * num_workers))
    calls = [lengths[start : start + size] for start in range(0, len(lengths), size)]
    return [list(chain.from_iterable(calls[worker::num_workers])) for worker in range(num_workers)]


def check_waiting(num_workers: int, work: Path) -> Check:
    """Workers whose world waits as for a GPU; from runs of one and of four batches, so that starts cancel out."""
    plan = waiting_plan(_SLOTS, _STEPS, _STEP_S)
    config = FleetConfig(num_workers=num_workers, num_cpus=0.25)
    seconds = {}
    with ray_session(config):
        for num_batches in (1, _BATCHES):
            begun = time.perf_counter()
            store = work / f"waiting-{num_workers}-{num_batches}"
            run_episodes(plan, range(num_batches * _SLOTS * num_workers), store, config=config)
            seconds[num_batches] = time.perf_counter() - begun
    num_frames = (_BATCHES - 1) * _SLOTS * num_workers * _STEPS
    predicted = frames_per_s(_waiting_costs(plan, storing(plan).seconds), num_workers)
    name = f"{num_workers} workers whose world waits {_STEP_S * 1000:.0f} ms a step"
    return Check(name, predicted, num_frames / (seconds[_BATCHES] - seconds[1]))


def check_slow_store(latency_s: float, num_episodes: int, work: Path) -> Check:
    """One waiting worker, without Ray, that keeps waiting for its store as well; its episodes are of many lengths."""
    plan = waiting_plan(_SLOTS, 100, _STEP_S / 2, goal=25)
    world = plan.world.build(num_envs=_SLOTS)
    stream = plan.stream.build(spec=world.episode_spec)
    folder = work / f"slow-{latency_s:g}"
    ZarrStore.create(folder, world.episode_spec)
    lengths: list[int] = []
    begun = time.perf_counter()
    with EpisodeWriter(SlowStore(folder, world.episode_spec, latency_s), lambda made: None, lambda *_: None) as writer:
        for episode in rollout(world, stream, plan, range(num_episodes)):
            lengths.append(len(episode))
            writer.put(episode)
    measured = sum(lengths) / (time.perf_counter() - begun)
    costs = _waiting_costs(plan, storing(plan).seconds)
    episode_s = latency_s + costs.store_s * sum(lengths) / num_episodes
    seconds = seconds_beside_store(lengths, _SLOTS, costs.step_s + costs.core_s, episode_s)
    return Check(f"1 worker whose store waits {latency_s * 1000:.0f} ms an episode", sum(lengths) / seconds, measured)


def _waiting_costs(plan: RolloutPlan, store_s: float) -> Costs:
    step_s = float(plan.world.kwargs["step_s"])
    return Costs(plan.num_slots, step_s, loop_s(plan.num_slots), store_s, has_device=True)
