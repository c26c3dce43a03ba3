"""The rollout loop: one world and one stream make episodes, in as many slots as the plan says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ..storage.episode import Episode
from ..storage.errors import ConfigError
from ..storage.lineage import code_version
from ..storage.spec import EpisodeSpec
from .plan import RolloutPlan
from .recording import Recording, Step, seeds_of
from .stream import ActionStream, Correcting, Intervening, Observation, Watching
from .world import World, action_bounds, bounded_actions

__all__ = ["RolloutPlan", "recorded_spec", "rollout"]

Slots = list[Recording | None]

#: In the lineage of an episode under `actions`: its actions are not those that led to its frames (see `Correcting`).
CORRECTIVE = "corrective"


def rollout(
    world: World, stream: ActionStream, plan: RolloutPlan, indices: Iterable[int], start_world: World | None = None
) -> Iterator[Episode]:
    """Make the episodes `indices` and yield each as it ends; a slot that becomes free starts the next index.

    All slots are stepped to the very end, those without an episode with their last action, so that an episode's
    bytes do not depend on which others run beside it.

    Args:
        world: built from `plan.world` with `num_envs=plan.num_slots`.
        stream: built from `plan.stream` for the world's spec.
        plan: what an episode is seeded with and when it ends.
        indices: which episodes; asked for the next only when a slot is free for it.
        start_world: built from `plan.start_world`, as large as `world`.

    Raises:
        ConfigError: a world has another number of slots than the plan.
        Whatever the world or the stream raises; the episodes that were under way are lost, and can be made again.
    """
    _check_slots(plan, world, start_world)
    lineage = _lineage(plan, world, stream, start_world)
    queue, slots = iter(indices), Slots([None] * plan.num_slots)
    held = np.tile(_rest(world), (plan.num_slots, 1))
    first = True
    while True:
        started = _fill(slots, queue, plan)
        active = np.array([recording is not None for recording in slots])
        if not active.any():
            return
        if started.any():
            observation, info = _reset(world, stream, slots, started | first, start_world)
            _note_starts(slots, started, observation, info, world.episode_spec)
            first = False
        if isinstance(stream, Watching):
            stream.watch(info["score"], info["trust"])
        held = _commanded(stream.act(observation), active, held, world)
        taught, drove = _recorded(stream, active, held, world)
        after, reward, _, _, info_after = world.step(held)
        _record(slots, Step(observation, info.get("labels", {}), taught, reward, info_after, drove))
        observation, info = after, info_after
        yield from _ended(slots, stream.finished(), world.task, lineage)


def recorded_spec(world: World, stream: ActionStream) -> EpisodeSpec:
    """The spec of the episodes that `stream` makes in `world`; they say who drove if the stream does."""
    return replace(world.episode_spec, intervention=isinstance(stream, Intervening))


def _check_slots(plan: RolloutPlan, *worlds: World | None) -> None:
    for world in worlds:
        if world is not None and world.num_envs != plan.num_slots:
            raise ConfigError(
                f"the plan has {plan.num_slots} slots but {type(world).__name__} has {world.num_envs}; "
                f"build it with num_envs={plan.num_slots}"
            )


def _lineage(plan: RolloutPlan, world: World, stream: ActionStream, start_world: World | None) -> dict[str, Any]:
    return {
        **plan.lineage,
        "code": code_version(),
        "plan": plan.to_dict(),
        "content": plan.identity,
        "world": world.identity(),
        "start_world": start_world.identity() if start_world else None,
        **({"actions": CORRECTIVE} if isinstance(stream, Correcting) else {}),
    }


def _rest(world: World) -> np.ndarray:
    """The action of a slot that never had an episode: the middle of the bounds."""
    low, high = action_bounds(world.episode_spec)
    return (low + high) / 2


def _fill(slots: Slots, queue: Iterator[int], plan: RolloutPlan) -> np.ndarray:
    """Give each free slot the next index; (N,) bool: which slots start anew."""
    started = np.zeros(len(slots), bool)
    free = (slot for slot, recording in enumerate(slots) if recording is None)
    for slot, index in zip(free, queue, strict=False):
        slots[slot] = Recording(plan, index)
        started[slot] = True
    return started


def _reset(
    world: World, stream: ActionStream, slots: Slots, mask: np.ndarray, start_world: World | None
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    seeds = seeds_of(slots)
    options: dict[str, Any] = {"reset_mask": mask}
    if start_world is not None:
        options["start"], _ = start_world.reset(seed=seeds, options={"reset_mask": mask})
    stream.reset(seeds, mask)
    return world.reset(seed=seeds, options=options)


def _note_starts(
    slots: Slots, started: np.ndarray, observation: Observation, info: dict[str, Any], spec: EpisodeSpec
) -> None:
    """Keep by name where each new episode starts: its state, and what the world knows besides."""
    columns = dict(zip(spec.state.names, observation["observation.state"].T, strict=True))
    for label, vector in spec.labels.items():
        values = zip(vector.names, info["labels"][label].T, strict=True)
        columns |= {f"{label}.{name}": column for name, column in values}
    columns |= info.get("start", {})
    for slot in np.flatnonzero(started):
        recording = slots[slot]
        if recording is not None:
            recording.start = {name: round(float(column[slot]), 4) for name, column in columns.items()}


def _commanded(acted: np.ndarray, active: np.ndarray, held: np.ndarray, world: World) -> np.ndarray:
    """The stream's actions within the spec's bounds; slots without an episode hold what they had."""
    actions = np.array(acted, np.float32)
    if actions.shape == held.shape:
        actions[~active] = held[~active]
    return bounded_actions(actions, world.episode_spec, world.num_envs)


def _recorded(
    stream: ActionStream, active: np.ndarray, held: np.ndarray, world: World
) -> tuple[np.ndarray, np.ndarray | None]:
    """The actions (N, A) to record where `held` was commanded, and who drove (N,), if the stream says."""
    taught = _commanded(stream.corrective(), active, held, world) if isinstance(stream, Correcting) else held
    return taught, np.array(stream.intervening(), bool) if isinstance(stream, Intervening) else None


def _record(slots: Slots, step: Step) -> None:
    for slot, recording in enumerate(slots):
        if recording is not None:
            recording.add(step.row(slot))


def _ended(slots: Slots, stream_finished: np.ndarray, task: str, lineage: dict[str, Any]) -> Iterator[Episode]:
    """Yield the episodes that the last step ended, and free their slots."""
    for slot, recording in enumerate(slots):
        verdict = recording.verdict(bool(stream_finished[slot])) if recording else None
        if recording and verdict:
            slots[slot] = None
            yield recording.episode(verdict, task, lineage)
