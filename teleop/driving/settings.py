"""What a session of one person keeps to."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...storage.errors import ConfigError
from ...storage.trim import TrimSettings


@dataclass(frozen=True)
class DriveSettings:
    """How takes are recorded.

    Args:
        max_steps: a take of so many steps ends by itself.
        min_trust: a take whose trust falls below this is kept apart as untrusted.
        memory: steps outside of a take that can be gone back to.
        trim: what of a take's ends is idle, and how much of it stays.

    Raises:
        ConfigError: a number is out of its range.
    """

    max_steps: int = 1000
    min_trust: float = 0.2
    memory: int = 100
    trim: TrimSettings = field(default_factory=TrimSettings)

    def __post_init__(self) -> None:
        for name in ("max_steps", "memory"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} of a drive must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.min_trust <= 1:
            raise ConfigError(f"min_trust of a drive must lie in [0, 1], got {self.min_trust}")
