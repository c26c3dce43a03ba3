"""One thing that is wrong with a dataset."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

Severity = Literal["error", "warning"]

#: What `repair` can do: recompute a field's entry of `meta/stats.json`; correct `meta/info.json`; count the pixels in
#: `meta/demoloom` anew; move a file or folder to the quarantine; drop episodes beyond those counted in; stamp rows
#: t / fps.
Mend = Literal["stats", "info", "pixels", "quarantine", "tail", "retime"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What is wrong, where, and what to do about it.

    Args:
        field: the column, camera or file at fault.
        message: a sentence that names the fault, and after a semicolon the remedy.
        severity: `error` where what is read is wrong or cannot be read; `warning` where it may mislead.
        episode: id of the episode; None for the dataset as a whole.
        mend: how `repair` mends it; None where it cannot without inventing data.
        file: what a quarantine takes, relative to the dataset.
    """

    field: str
    message: str
    severity: Severity = "error"
    episode: str | None = None
    mend: Mend | None = None
    file: str | None = None

    def __post_init__(self) -> None:
        if self.severity not in get_args(Severity):
            raise ValueError(f"severity must be one of {', '.join(get_args(Severity))}, got {self.severity!r}")
        if self.mend is not None and self.mend not in get_args(Mend):
            raise ValueError(f"mend must be None or one of {', '.join(get_args(Mend))}, got {self.mend!r}")
        if self.mend == "quarantine" and not self.file:
            raise ValueError(f"a quarantine needs the file it takes, got {self.file!r}")

    @property
    def repairable(self) -> bool:
        """Whether `repair` can mend it."""
        return self.mend is not None

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**asdict(self), "repairable": self.repairable}

    def __str__(self) -> str:
        where = f"episode {self.episode!r}, " if self.episode is not None else ""
        return f"{self.severity}: {where}{self.field}: {self.message}"
