"""The inspection as a page, rendered from `page.html`; what does not fit is left out, and the page says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Template

from ...storage.atomic import replace_file
from ...storage.dataset import EpisodeReader
from ...storage.episode import EpisodeSummary
from ...storage.progress import Progress, silent
from ..report.plots import histogram
from ..report.templates import template_environment
from .choice import spread_first
from .distributions import Distribution
from .film import film
from .inspection import Inspection
from .picture import Picture
from .stills import stills
from .table import clip, episode_table

#: Size of a page at most. The table and the stills each get a part of it, the films what is left.
MOST_BYTES = 8 << 20
TABLE_SHARE, STILLS_SHARE = 0.25, 0.3
#: What stands around a picture.
CAPTION_BYTES = 1000


@dataclass(frozen=True)
class Shown:
    """An episode and its picture."""

    summary: EpisodeSummary
    picture: Picture


def write_page(
    reader: EpisodeReader,
    inspection: Inspection,
    path: Path | str,
    progress: Progress = silent,
    most_bytes: int = MOST_BYTES,
) -> None:
    """Write the page; one that is there is replaced.

    Args:
        reader: of the dataset, for its frames.
        inspection: of the same dataset.
        path: of the HTML file.
        progress: counts the pictures.
        most_bytes: size of the page; plots and figures are not cut, pictures and the table are.

    Raises:
        StoreError: an episode is damaged, or the file cannot be written.
    """
    with replace_file(path) as temporary:
        temporary.write_text(render(reader, inspection, progress, most_bytes), encoding="utf-8")


def render(reader: EpisodeReader, inspection: Inspection, progress: Progress, most_bytes: int) -> str:
    """The whole page as text."""
    template = _template()
    parts = {"it": inspection, "table": episode_table(inspection.summaries, TABLE_SHARE * most_bytes)}
    parts |= {"stills": [], "films": []}
    seen = inspection.shown if inspection.spec.cameras else []
    for name, make, share in (("stills", stills, STILLS_SHARE), ("films", film, 1.0)):
        room = min(share * most_bytes, most_bytes - len(template.render(parts).encode()))
        progress(0, len(seen), name)
        parts[name] = _fitting(reader, seen, make, room, progress)
    return template.render(parts)


def _template() -> Template:
    environment = template_environment(Path(__file__).parent)
    environment.filters.update(clip=clip, described=describe)
    environment.globals["plot"] = plot
    return environment.get_template("page.html")


def _fitting(
    reader: EpisodeReader,
    summaries: Sequence[EpisodeSummary],
    make: Callable[[EpisodeReader, EpisodeSummary], Picture],
    room: float,
    progress: Progress,
) -> list[Shown]:
    """Pictures of evenly spread episodes, until the next one does not fit."""
    shown: dict[int, Shown] = {}
    for number in spread_first(len(summaries)):
        picture = make(reader, summaries[number])
        room -= len(picture.source) + len(picture.poster) + CAPTION_BYTES
        if room < 0:
            break
        shown[number] = Shown(summaries[number], picture)
        progress(len(shown), len(summaries), summaries[number].id)
    return [shown[number] for number in sorted(shown)]


def plot(distribution: Distribution) -> str:
    """The histogram of a quantity that varies."""
    counts, edges = distribution.bars()
    return histogram(counts.tolist(), edges.tolist())


def describe(distribution: Distribution) -> str:
    """Range, mean and limits of a quantity in a line."""
    values = distribution.values
    if len(values) == 0:
        parts = ["no number"]
    elif distribution.is_constant:
        parts = [f"always {values[0]:.3g}"]
    else:
        parts = [f"{values.min():.3g} to {values.max():.3g}, mean {values.mean():.3g}"]
    if distribution.limits is not None:
        parts.append("limits {:.3g} to {:.3g}".format(*distribution.limits))
    if distribution.num_unfit:
        parts.append(f"{distribution.num_unfit} not finite")
    return "; ".join(parts)
