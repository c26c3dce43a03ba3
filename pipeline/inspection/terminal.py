"""The inspection as tables for a terminal."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...storage.episode import EpisodeSummary
from ...storage.runs import FeedingRun
from ..spoken import spoken_time
from .distributions import Distribution
from .inspection import Inspection

_LEVELS = "▁▂▃▄▅▆▇█"
_BARS = 16
#: Columns of a log file or a pipe, which has no width of its own.
PLAIN_WIDTH = 160
#: Runs that are listed at most.
MOST_RUNS = 8


def print_inspection(inspection: Inspection, console: Console | None = None) -> None:
    """Print the facts, the quantities, the episodes that are shown and, last, how the outcomes add up."""
    console = console or make_console()
    console.print(facts(inspection), "")
    if inspection.summaries:
        console.print(quantities(inspection), "", episodes(inspection.shown))
    left_out = len(inspection.summaries) - len(inspection.shown)
    if left_out:
        console.print(f"... and {left_out} more; --episodes 0 lists all", highlight=False)
    console.print(totals(inspection), highlight=False, markup=False)


def make_console() -> Console:
    """Of stdout."""
    console = Console()
    return console if console.is_terminal else Console(width=PLAIN_WIDTH)


def facts(inspection: Inspection) -> Table:
    """Robot, rate, cameras, state, action, labels, tasks, content and the runs that fed the dataset."""
    spec = inspection.spec
    table = Table(box=None, show_header=False, pad_edge=False)
    labels = [f"{name} ({', '.join(vector.names)})" for name, vector in spec.labels.items()]
    rows = {
        "robot": f"{spec.robot_type}, {spec.fps} Hz",
        "cameras": inspection.cameras or "none",
        "state": ", ".join(spec.state.names),
        "action": ", ".join(spec.action.names),
        "labels": ", ".join(labels) or "none",
        "tasks": "; ".join(f"{task} ({count})" for task, count in inspection.tasks[:5]) or "none",
        "length": spoken_time(inspection.duration_s),
        "content": inspection.content or "not known without decoding every frame",
    }
    for name, value in rows.items():
        table.add_row(Text(name, "bold"), _text(value))
    for number, run in enumerate(inspection.runs[:MOST_RUNS]):
        table.add_row("" if number else Text("made by", "bold"), _text(_made_by(run)))
    if len(inspection.runs) > MOST_RUNS:
        table.add_row("", f"and {len(inspection.runs) - MOST_RUNS} others")
    return table


def _made_by(run: FeedingRun) -> str:
    parts = {"world": run.world, "stream": run.stream, "from": run.source, "code": run.code, "seed": run.seed}
    words = [run.stage, *(f"{name} {value}" for name, value in parts.items() if value not in ("", None))]
    return f"{', '.join(filter(None, words)) or 'unknown'} ({run.num_episodes})"


def quantities(inspection: Inspection) -> Table:
    """Range, limits and histogram of every quantity."""
    table = _table("", "quantity", "from", "to", "mean", "limits", "histogram", right=(2, 3, 4))
    for title, group in inspection.distributions.groups.items():
        table.add_section()
        for number, quantity in enumerate(group):
            table.add_row(_text("" if number else title), _text(quantity.name), *_cells(quantity))
    return table


def episodes(summaries: Sequence[EpisodeSummary]) -> Table:
    """A row for each episode."""
    table = _table("index", "id", "steps", "outcome", "best score", "least trust", "reason", right=(0, 2, 4, 5))
    for one in summaries:
        figures = (f"{one.score_max:.2f}", f"{one.trust_min:.2f}")
        table.add_row(str(one.index), _text(one.id), str(one.length), one.outcome, *figures, _text(one.reason))
    return table


def totals(inspection: Inspection) -> str:
    """How many episodes and steps there are, and how many of each outcome."""
    counts = ", ".join(f"{count} {outcome}" for outcome, count in inspection.outcomes)
    number = len(inspection.summaries)
    return f"{number} episode{'' if number == 1 else 's'}, {inspection.num_steps} steps: {counts or 'none'}"


def bars(distribution: Distribution) -> str:
    """A histogram as one line of blocks; what occurs at all is at least the lowest block."""
    counts, _ = distribution.bars(_BARS)
    levels = np.ceil(counts / counts.max() * len(_LEVELS)).astype(int)
    return "".join(" " if level == 0 else _LEVELS[level - 1] for level in levels)


def _cells(quantity: Distribution) -> list[str]:
    limits = "" if quantity.limits is None else "{:.3g} .. {:.3g}".format(*quantity.limits)
    if len(quantity.values) == 0:
        return ["", "", "", limits, "no number"]
    values = quantity.values
    drawn = "always the same" if quantity.is_constant else bars(quantity)
    unfit = f"  {quantity.num_unfit} not finite" if quantity.num_unfit else ""
    return [f"{values.min():.3g}", f"{values.max():.3g}", f"{values.mean():.3g}", limits, drawn + unfit]


def _table(*heads: str, right: Sequence[int]) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, head in enumerate(heads):
        table.add_column(head, justify="right" if number in right else "left", overflow="fold")
    return table


def _text(words: str) -> Text:
    """Text on one line that cannot steer a terminal, whoever wrote it."""
    return Text(json.dumps(words, ensure_ascii=False)[1:-1].replace('\\"', '"'))
