from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from demoloom.generators.learned.training_log import TrainingLog


class Remembering:
    """A tracker that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[str, int, dict[str, float]]] = []

    def track(self, stage: str, step: int, values: Mapping[str, float]) -> None:
        self.told.append((stage, step, dict(values)))

    def close(self) -> None: ...


def rows(path: Path) -> list[tuple[str, int]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["stage"], row["step"]) for row in found]


def test_one_step_in_twenty_is_written_and_tracked(tmp_path: Path) -> None:
    tracker = Remembering()
    log = TrainingLog(tmp_path / "metrics.jsonl", 50, tracker=tracker)
    for step in range(50):
        log.step("dynamics", step, 0.5, 1e-3)
    assert rows(log.path) == [("dynamics", 0), ("dynamics", 20), ("dynamics", 40)]
    assert tracker.told[1] == ("dynamics", 20, {"loss": 0.5, "lr": 1e-3})


def test_progress_counts_the_steps_of_all_stages(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    log = TrainingLog(tmp_path / "metrics.jsonl", 8, lambda *now: told.append(now))
    log.go_on("autoencoder", 5)
    log.step("dynamics", 0, 0.25, 1e-3)
    assert told == [(6, 8, "dynamics: loss 0.2500")]


def test_going_on_forgets_later_steps_of_that_stage_and_what_a_kill_cut_off(tmp_path: Path) -> None:
    log = TrainingLog(tmp_path / "metrics.jsonl", 100)
    for step in (0, 20, 40):
        log.measure("dynamics", step, {"loss": 1.0})
        log.measure("probe", step, {"loss": 1.0})
    with log.path.open("a") as file:
        file.write('{"stage": "dynam')
    log.go_on("dynamics", 30)
    assert rows(log.path) == [("dynamics", 0), ("probe", 0), ("dynamics", 20), ("probe", 20), ("probe", 40)]
