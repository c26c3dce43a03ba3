"""How many workers there are, where, and how much may go wrong."""

from __future__ import annotations

from dataclasses import dataclass

from ..storage.errors import ConfigError


@dataclass(frozen=True)
class FleetConfig:
    """The workers; they decide how fast episodes are made, never which.

    Args:
        num_workers: processes that host a world, one CPU core each.
        address: `host:port` of a Ray cluster to join; None: RAY_ADDRESS if it is set, else start one on this machine.
        timeout_s: a worker that has stored no episode for so long is taken for hung and replaced.
        max_failures_in_a_row: the run stops after so many episodes in a row raised an exception.
        max_tries: an episode that loses its worker so many times, alone in it, is given up.
        max_deaths: the run stops after so many workers were lost.

    Raises:
        ConfigError: a number is out of its range.
    """

    num_workers: int = 2
    address: str | None = None
    timeout_s: float = 300.0
    max_failures_in_a_row: int = 8
    max_tries: int = 2
    max_deaths: int = 20

    def __post_init__(self) -> None:
        for name in ("num_workers", "max_failures_in_a_row", "max_tries", "max_deaths"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} of a fleet must be at least 1, got {getattr(self, name)}")
        if not self.timeout_s > 0:  # NaN is neither
            raise ConfigError(f"timeout_s of a fleet must be more than 0, got {self.timeout_s}")
