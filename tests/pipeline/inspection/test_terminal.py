from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
from rich.console import Console

from demoloom.pipeline.inspection import inspect_dataset
from demoloom.pipeline.inspection.distributions import Distribution
from demoloom.pipeline.inspection.terminal import bars, print_inspection
from demoloom.storage import Episode, open_dataset

from ..runs import dot_episode, write_store


def printed(folder: Path, episodes: list[Episode], num_episodes: int = 48) -> str:
    write_store(folder / "store", episodes)
    text = io.StringIO()
    print_inspection(
        inspect_dataset(open_dataset(folder / "store"), num_episodes), Console(file=text, width=160, color_system=None)
    )
    return text.getvalue()


def test_the_highest_bar_is_full_and_a_rare_value_is_seen() -> None:
    values = np.concatenate([np.zeros(1000), np.linspace(0.5, 1, 2)])
    drawn = bars(Distribution.of("x", values))
    assert (drawn[0], drawn[8], drawn[15]) == ("█", "▁", "▁")
    assert set(drawn[1:8]) == {" "}


def test_the_tables_hold_facts_quantities_and_episodes(tmp_path: Path) -> None:
    failed = dot_episode(1, outcome="failure", reason="not solved within 12 steps")
    lines = printed(tmp_path, [dot_episode(0), failed]).splitlines()
    assert lines[0].split() == ["robot", "dot,", "10", "Hz"]
    assert any(line.split()[:5] == ["Action", "x", "0", "1", "0.5"] for line in lines)
    assert any(line.split()[:4] == ["1", "dot-000001", "12", "failure"] for line in lines)
    assert lines[-1] == "2 episodes, 24 steps: 1 success, 1 failure"


def test_the_runs_that_fed_the_dataset_are_listed(tmp_path: Path) -> None:
    def of(stage: str, seed: int | None, index: int) -> Episode:
        return replace(dot_episode(index), lineage={"plan": {"stage": stage, "run_seed": seed}})

    lines = printed(tmp_path, [of("collect", None, 0), of("generate", 7, 1), of("generate", 7, 2)]).splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("made by"))
    assert [line.split() for line in lines[first : first + 2]] == [
        ["made", "by", "collect", "(1)"],
        ["generate,", "seed", "7", "(2)"],
    ]


def test_episodes_that_are_not_listed_are_counted(tmp_path: Path) -> None:
    assert "... and 2 more; --episodes 0 lists all" in printed(tmp_path, [*map(dot_episode, range(3))], 1)


def test_what_others_wrote_cannot_steer_the_terminal(tmp_path: Path) -> None:
    shown = printed(tmp_path, [replace(dot_episode(0), task='\x1b[2J "go"\n[bold]now')])
    assert "\x1b" not in shown
    assert '\\u001b[2J "go"\\n[bold]now (1)' in shown


def test_a_dataset_without_episodes_has_no_tables(tmp_path: Path) -> None:
    assert printed(tmp_path, []).splitlines()[-1] == "0 episodes, 0 steps: none"
