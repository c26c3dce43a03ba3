"""`demoloom validate`: what is wrong with a dataset, and mending of what can be mended."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from ...storage.errors import ConfigError
from ..choices import Given, refuse_preset
from ..console import show_progress

if TYPE_CHECKING:
    from ...storage.audit import Finding, Report


@dataclass(frozen=True)
class Options:
    """Find what is wrong with a dataset, LeRobot or Zarr, and name it by episode and field.

    The exit code is 0 if it is clean, 1 if there is an error, 2 if there is no dataset.
    """

    path: Annotated[Path, tyro.conf.Positional]
    """Folder of the dataset."""
    repair: bool = False
    """Mend what can be mended without inventing data; what is taken out goes to quarantine/ beside the dataset."""
    retime: bool = False
    """With --repair, also stamp every row t / fps where stamps follow no rate; wrong if frames are missing."""
    strict: bool = False
    """Let warnings count as errors."""
    json: Path | None = None
    """Write all findings to this file too."""
    limit: int = 50
    """Print at most so many findings; 0 prints all."""


def default_options(given: Given) -> object:
    """The path has no default."""
    refuse_preset("validate", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> int:
    """Print what is wrong, after a repair what is still wrong, and return the exit code."""
    from ...storage.atomic import write_json
    from ...storage.audit import Repaired, audit, repair

    if options.retime and not options.repair:
        raise ConfigError("--retime changes rows, which only --repair does; give both")
    with show_progress("validate") as progress:
        if options.repair:
            result = repair(options.path, retime=options.retime, progress=progress)
        else:
            result = Repaired((), audit(options.path, progress))
    for line in result.done:
        print(line)
    show(result.report.findings[: max(0, options.limit) or None])
    if 0 < options.limit < len(result.report.findings):
        print(f"... and {len(result.report.findings) - options.limit} more; --limit 0 prints all")
    print(totals(result.report))
    if options.json is not None:
        write_json(options.json, {"path": str(options.path), **result.to_dict()})
    return 0 if result.report.is_clean(options.strict) else 1


def show(findings: tuple[Finding, ...]) -> None:
    """A table on a terminal, else a line for each finding."""
    if not sys.stdout.isatty():
        for finding in findings:
            print(finding)
    elif findings:
        show_table(findings)


def show_table(findings: tuple[Finding, ...]) -> None:
    """One row for each finding, as wide as the terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("severity", "episode", "field", "finding", show_lines=False)
    for finding in findings:
        style = "red" if finding.severity == "error" else "yellow"
        cells = (finding.episode or "", finding.field, finding.message)
        # As text: square brackets in a name are no mark-up.
        table.add_row(Text(finding.severity, style), *map(Text, cells))
    Console().print(table)


def totals(report: Report) -> str:
    """How many findings there are and how many --repair would mend, and how much was read how fast."""
    mendable = sum(finding.repairable for finding in report.findings)
    found = (
        f"{count(report.errors, 'error')}, {count(report.warnings, 'warning')}" if report.findings else "nothing wrong"
    )
    hint = f" ({mendable} of them --repair can mend)" if mendable else ""
    rate = report.frames / max(report.seconds, 1e-9)
    read = f"{count(report.episodes, 'episode')}, {count(report.rows, 'row')}, {count(report.frames, 'frame')}"
    return f"{found}{hint} in {read}, read in {report.seconds:.1f} s ({rate:.0f} frames/s)"


def count(number: int, noun: str) -> str:
    """Such as `1 row` or `2 rows`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
