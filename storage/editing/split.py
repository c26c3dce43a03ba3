"""Datasets for training and for validation which share no start."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..atomic import publish_folder
from ..clips import kept_codec
from ..create import Format
from ..dataset import EpisodeReader
from ..drafts import copy_of, write_drafts
from ..episode import EpisodeSummary
from ..errors import ConfigError
from ..progress import Progress, silent

if TYPE_CHECKING:
    from ..video import Codec


def split(
    source: EpisodeReader,
    path: Path | str,
    format: Format,
    parts: Mapping[str, float],
    *,
    seed: int = 0,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> dict[str, int]:
    """Write one dataset for each part, at `path`/<name>; all stand there when all are written, or none.

    Args:
        source: what is split; every episode goes into exactly one part.
        path: where nothing stands yet.
        format: of the parts.
        parts: as in `assign`.
        seed: as in `assign`.
        codec: how a LeRobot dataset keeps frames; None keeps them as they are: what is video is not encoded anew.
        progress: told of each episode.

    Returns:
        The number of episodes of each part.

    Raises:
        ConfigError: as in `assign`, or a name is not safe as a folder's.
        StoreError: something stands at `path`, or the disk is full.
    """
    _check_names(parts)
    assigned = assign(source.summaries(), parts, seed=seed)
    with publish_folder(path) as folder:
        for name, ids in assigned.items():
            drafts = (copy_of(source, id) for id in ids)
            write_drafts(
                folder / name,
                format,
                source.spec,
                drafts,
                codec=codec or kept_codec([source]),
                total=len(ids),
                progress=progress,
            )
    return {name: len(ids) for name, ids in assigned.items()}


def assign(
    episodes: Sequence[EpisodeSummary],
    parts: Mapping[str, float],
    *,
    seed: int = 0,
    group: Callable[[EpisodeSummary], Hashable] | None = None,
) -> dict[str, list[str]]:
    """Which episodes go into which part, at random; the same seed gives the same parts.

    Episodes of one group stay together, so that a policy is not validated on a start it was trained on.

    Args:
        episodes: all of them; each goes into exactly one part.
        parts: name -> fraction (all below 1, summing to 1) or whole number of episodes (summing to all of them).
        seed: of the shuffle.
        group: what episodes that belong together share; `start_of` by default.

    Raises:
        ConfigError: the parts do not add up, or one would have no episode.
    """
    targets = _targets(parts, len(episodes))
    groups = defaultdict(list)
    for episode in episodes:
        groups[(group or start_of)(episode)].append(episode.id)
    part_of = _spread(list(groups.values()), targets, seed)
    assigned = {name: [episode.id for episode in episodes if part_of[episode.id] == name] for name in parts}
    for name, ids in assigned.items():
        if not ids:
            raise ConfigError(
                f"part {name!r} would have none of the {len(episodes)} episodes ({len(groups)} different starts); "
                "give it more, or collect more"
            )
    return assigned


def _spread(groups: list[list[str]], targets: Mapping[str, float], seed: int) -> dict[str, str]:
    """The part of each id: group after group goes to the part which lacks most."""
    order = [groups[place] for place in np.random.default_rng(seed).permutation(len(groups))]
    order.sort(key=len, reverse=True)  # the large ones first, while every part has room
    lacking = dict(targets)
    part_of: dict[str, str] = {}
    for ids in order:
        name = max(lacking, key=lambda name: lacking[name])
        lacking[name] -= len(ids)
        part_of |= dict.fromkeys(ids, name)
    return part_of


def start_of(episode: EpisodeSummary) -> Hashable:
    """What episodes from the same start share: the seed. An imported episode has none (0), and is on its own."""
    return episode.seed or episode.id


def _targets(parts: Mapping[str, float], total: int) -> dict[str, float]:
    if not parts or any(not value > 0 for value in parts.values()):
        raise ConfigError(f"every part needs a fraction or a number above 0, got {dict(parts)}")
    if all(value < 1 for value in parts.values()) and math.isclose(sum(parts.values()), 1, abs_tol=1e-9):
        return {name: value * total for name, value in parts.items()}
    if all(float(value).is_integer() for value in parts.values()) and sum(parts.values()) == total:
        return dict(parts)
    raise ConfigError(
        f"the parts must be fractions that sum to 1 or whole numbers that sum to the {total} episodes, "
        f"got {dict(parts)}"
    )


def _check_names(parts: Mapping[str, float]) -> None:
    for name in parts:
        if not name or name != Path(name).name or name.startswith("."):
            raise ConfigError(f"a part's name becomes a folder and must be safe as one, got {name!r}")
