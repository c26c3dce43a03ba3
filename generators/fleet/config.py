"""How many workers there are, where, with what, and how much may go wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ...storage.errors import ConfigError

Placement = Literal["spread", "pack"]


@dataclass(frozen=True)
class FleetConfig:
    """The workers; they decide how fast episodes are made, never which.

    Args:
        num_workers: processes that host a world.
        address: `host:port` of a Ray cluster to join; None: RAY_ADDRESS if it is set, else start one on this machine.
        num_cpus: cores of each worker, and so the threads its networks use.
        num_gpus: GPUs of each worker; a fraction is a share of one, of its memory too. Learned worlds work on it.
        resources: what else each worker needs, under the names that the cluster's nodes give it.
        placement: `spread` puts workers on as many nodes as there are, `pack` on as few, and waits for room for all.
        ship: packages whose code is sent to a cluster's nodes, such as demoloom; the others must be installed there.
        timeout_s: a worker that has stored no episode for so long is taken for hung and replaced.
        grace_s: when a run is stopped, episodes under way may take so long to end.
        max_failures_in_a_row: the run stops after so many episodes in a row raised an exception.
        max_tries: an episode that loses its worker so many times, alone in it, is given up.
        max_deaths: the run stops once more workers than this, and than there are, were lost with no episode stored in
            between.

    Raises:
        ConfigError: a number is out of its range.
    """

    num_workers: int = 2
    address: str | None = None
    num_cpus: float = 1.0
    num_gpus: float = 0.0
    resources: Mapping[str, float] = field(default_factory=dict)
    placement: Placement = "spread"
    ship: tuple[str, ...] = ()
    timeout_s: float = 300.0
    grace_s: float = 20.0
    max_failures_in_a_row: int = 8
    max_tries: int = 2
    max_deaths: int = 20

    def __post_init__(self) -> None:
        for name in ("num_workers", "max_failures_in_a_row", "max_tries", "max_deaths"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} of a fleet must be at least 1, got {getattr(self, name)}")
        for name in ("timeout_s", "num_cpus"):
            if not getattr(self, name) > 0:  # NaN is neither
                raise ConfigError(f"{name} of a fleet must be more than 0, got {getattr(self, name)}")
        if not self.grace_s >= 0:
            raise ConfigError(f"grace_s of a fleet must be at least 0, got {self.grace_s}")
        for name, amount in {"num_cpus": self.num_cpus, "num_gpus": self.num_gpus, **self.resources}.items():
            _refuse_split(name, amount)

    @property
    def needs(self) -> dict[str, float]:
        """What one worker occupies, under Ray's names."""
        return {"CPU": self.num_cpus, "GPU": self.num_gpus, **self.resources}


def _refuse_split(name: str, amount: float) -> None:
    """Ray shares out one piece of a resource or gives several whole ones."""
    if not amount >= 0 or (amount > 1 and amount != int(amount)):
        raise ConfigError(f"{name} of a worker must be a fraction of 1 or a whole number, got {amount}")
