"""How far a training is, and its losses and measurements over time."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...storage.atomic import replace_file
from ...storage.progress import Progress, silent
from .trackers import Tracker

#: One step of so many is written down.
_INTERVAL = 20


@dataclass
class TrainingLog:
    """Tells how far a training is, and keeps its losses as lines of JSON for the report.

    Args:
        path: file to append to.
        total: steps of all stages together, for the progress.
        progress: told twice a second at most.
        tracker: given the same numbers, TensorBoard or another; None for none.
    """

    path: Path
    total: int
    progress: Progress = silent
    tracker: Tracker | None = None
    done: int = 0
    _told: float = field(default=0.0, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def step(self, stage: str, step: int, loss: float, lr: float) -> None:
        """Count one step, tell of it if it is time, and write down one in 20."""
        self.done += 1
        if step % _INTERVAL == 0:
            self.measure(stage, step, {"loss": round(loss, 6), "lr": lr})
        if time.monotonic() - self._told > 0.5:
            self._told = time.monotonic()
            self.progress(self.done, self.total, f"{stage}: loss {loss:.4f}")

    def measure(self, stage: str, step: int, values: Mapping[str, float]) -> None:
        """Write down what was measured at a step."""
        with self._lock:
            with self.path.open("a") as lines:
                lines.write(json.dumps({"stage": stage, "step": step, **values}) + "\n")
            if self.tracker is not None:
                self.tracker.track(stage, step, values)

    def go_on(self, stage: str, step: int) -> None:
        """Count the steps of a stage that an earlier try did, and forget what it wrote of later ones."""
        self.done += step
        with self._lock:
            if self.path.exists():
                kept = [line for line in self.path.read_text().splitlines(True) if _counts(line, stage, step)]
                with replace_file(self.path) as temporary:
                    temporary.write_text("".join(kept))


def _counts(line: str, stage: str, step: int) -> bool:
    """Whether a line is whole and of another stage, or of a step before this one."""
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError:
        return False
    return row["stage"] != stage or row["step"] < step
