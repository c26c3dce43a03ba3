"""The quality scores of a dataset, and the file beside its episodes that keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..atomic import read_json, write_json
from ..errors import ConfigError, StoreError

#: Raised when a measure changes, so that scores of an earlier version are computed anew.
VERSION = 1


@dataclass(frozen=True)
class QualitySettings:
    """What decides the scores besides the episodes.

    Args:
        idle_speed: a step is idle if no dimension of state and action changes faster, in ranges / s.
        saturation_margin: an action value this close to a bound is saturated, as a share of the range.
        num_points: moments at which two paths are compared.
        num_cells: parts into which each of two dimensions of the start is divided.
    """

    idle_speed: float = 0.01
    saturation_margin: float = 0.01
    num_points: int = 16
    num_cells: int = 10

    def __post_init__(self) -> None:
        for name, least in (("idle_speed", 0), ("saturation_margin", 0), ("num_points", 2), ("num_cells", 1)):
            if not getattr(self, name) >= least:
                raise ConfigError(f"{name} must be at least {least}, got {getattr(self, name)}")


@dataclass(frozen=True)
class EpisodeQuality:
    """The scores of one episode; a range is that of a dimension's bounds, so that they compare between robots.

    Args:
        length: number of rows.
        duration_s: length / fps.
        path_efficiency: net over travelled distance of the state, in [0, 1]; 1 is a straight line.
        jerk_mean: mean |third derivative| of the state, in ranges / s^3.
        jerk_p95: its 95th percentile.
        idle_share: share of steps in which neither state nor action moves.
        idle_start: idle steps before the first that is not.
        idle_end: idle steps after the last that is not.
        action_saturation: share of action values at a bound.
        score_mean: mean score of its steps.
        trust_mean: mean trust of its steps.
        nearest_distance: how far the most similar other episode is: root mean square over state and action at equal
            shares of their duration, in ranges; 1 if there is no other.
        nearest_id: which one that is; empty if there is no other.
        earlier_distance: how far the most similar earlier episode is; drops copies and keeps the first of them.
        start_share: share of all episodes that start in the same cell as this.
    """

    length: int
    duration_s: float
    path_efficiency: float
    jerk_mean: float
    jerk_p95: float
    idle_share: float
    idle_start: int
    idle_end: int
    action_saturation: float
    score_mean: float
    trust_mean: float
    nearest_distance: float
    nearest_id: str
    earlier_distance: float
    start_share: float


@dataclass(frozen=True)
class QualityTable:
    """The scores of a dataset's episodes.

    Args:
        stamp: `content.stamp` of the dataset they were computed for.
        start_dimensions: the dimensions of the state whose cells starts are counted in.
        start_coverage: share of these cells that an episode starts in.
        episodes: id -> scores, in the dataset's order.
        settings: what decides the scores besides the episodes.
    """

    stamp: str
    start_dimensions: tuple[str, ...]
    start_coverage: float
    episodes: Mapping[str, EpisodeQuality]
    settings: QualitySettings = field(default_factory=QualitySettings)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"version": VERSION, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> QualityTable:
        """Inverse of `to_dict`, also after a round trip through JSON."""
        return cls(
            stamp=str(data["stamp"]),
            start_dimensions=tuple(data["start_dimensions"]),
            start_coverage=float(data["start_coverage"]),
            episodes={id: EpisodeQuality(**scores) for id, scores in data["episodes"].items()},
            settings=QualitySettings(**data["settings"]),
        )


#: The scores that are numbers, in the order in which they are shown.
NUMERIC_SCORES = tuple(entry.name for entry in fields(EpisodeQuality) if entry.type != "str")


def quality_file(path: Path) -> Path:
    """Where the scores of the dataset at `path` are kept, in either format."""
    is_lerobot = (path / "meta" / "info.json").is_file()
    return path / "meta" / "demoloom" / "quality.json" if is_lerobot else path / "quality.json"


def write_quality(path: Path, table: QualityTable) -> None:
    """Keep the scores with the dataset at `path`; StoreError if it cannot be written."""
    write_json(quality_file(path), table.to_dict())


def read_quality(path: Path) -> QualityTable | None:
    """The scores kept with the dataset at `path`, however old; None if there are none of this version.

    Raises:
        StoreError: the file is damaged.
    """
    file = quality_file(path)
    if not file.is_file():
        return None
    data = read_json(file)
    if data.get("version") != VERSION:
        return None
    try:
        return QualityTable.from_dict(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise StoreError(
            f"cannot read the scores in {file} ({error!r}); delete it and score the dataset anew"
        ) from error
