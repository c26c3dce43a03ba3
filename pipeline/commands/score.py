"""`demoloom score`: quality scores of a dataset's episodes, kept with it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from ...storage.quality.table import NUMERIC_SCORES, QualitySettings
from ..choices import Given, refuse_preset
from ..console import show_progress

if TYPE_CHECKING:
    from ...storage.quality import QualityTable


@dataclass(frozen=True)
class Options:
    """Score how each episode moves and how alike episodes are, and keep the scores with the dataset.

    Scores of the present content and settings are not computed again.
    """

    path: Annotated[Path, tyro.conf.Positional]
    """Folder of the dataset, LeRobot or Zarr."""
    settings: Annotated[QualitySettings, tyro.conf.arg(name="")] = field(default_factory=QualitySettings)


def default_options(given: Given) -> object:
    """The path has no default."""
    refuse_preset("score", given)
    return tyro.MISSING_NONPROP


def main(options: Options) -> None:
    """Score, keep the scores and print how they spread."""
    from ...storage.dataset import open_dataset
    from ...storage.quality import quality_of, write_quality

    with show_progress("score") as progress:
        table = quality_of(open_dataset(options.path), progress, options.settings)
    write_quality(options.path, table)
    print("\n".join(describe(table)))


def describe(table: QualityTable) -> Iterable[str]:
    """Least, median and greatest value of each score, and how well starts cover their space."""
    import numpy as np

    yield f"{'score':<20} {'least':>10} {'median':>10} {'greatest':>10}"
    for name in NUMERIC_SCORES if table.episodes else ():
        values = np.array([getattr(scores, name) for scores in table.episodes.values()], np.float64)
        yield f"{name:<20} {values.min():>10.4g} {np.median(values):>10.4g} {values.max():>10.4g}"
    cells = " x ".join(table.start_dimensions) or "no dimension"
    yield f"{len(table.episodes)} episodes; their starts cover {table.start_coverage:.0%} of the cells of {cells}"
