"""On which nodes of a cluster workers are put."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .config import FleetConfig


@contextmanager
def placed(config: FleetConfig) -> Iterator[Any]:
    """What tells Ray where to put a worker; needs an open `ray_session`.

    Workers that are spread start one by one, as there is room. Those that are packed are one placement group, which
    waits for room for all of them; when a node goes, Ray finds other room for those that were there.
    """
    if config.placement == "spread":
        yield "SPREAD"
        return
    from ray.util import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    needs = {name: amount for name, amount in config.needs.items() if amount}
    group = placement_group([needs] * config.num_workers, strategy="PACK")
    try:
        yield PlacementGroupSchedulingStrategy(group)
    finally:
        remove_placement_group(group)
