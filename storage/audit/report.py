"""What an audit came to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .finding import Finding


@dataclass(frozen=True, kw_only=True)
class Report:
    """All that was found, and how much was read to find it.

    Args:
        format: `lerobot` or `zarr`.
        findings: errors first.
        episodes, rows, frames: how many were read; a row of three cameras has three frames.
        seconds: how long it took.
    """

    format: str
    findings: tuple[Finding, ...]
    episodes: int
    rows: int
    frames: int
    seconds: float

    @property
    def errors(self) -> int:
        """Number of findings of severity `error`."""
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def warnings(self) -> int:
        """Number of findings of severity `warning`."""
        return len(self.findings) - self.errors

    def is_clean(self, strict: bool = False) -> bool:
        """Whether there is no error, and with `strict` no warning either."""
        return not (self.findings if strict else self.errors)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "format": self.format,
            "errors": self.errors,
            "warnings": self.warnings,
            "episodes": self.episodes,
            "rows": self.rows,
            "frames": self.frames,
            "seconds": round(self.seconds, 3),
            "findings": [finding.to_dict() for finding in self.findings],
        }
