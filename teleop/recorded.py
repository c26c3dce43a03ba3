"""Recorded episodes as streams use them: what was commanded, and where the robot was then."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..storage.columns import ACTION, STATE
from ..storage.dataset import EpisodeReader, open_dataset
from ..storage.errors import SpecMismatch, StoreError
from ..storage.spec import EpisodeSpec


@dataclass(frozen=True)
class Recorded:
    """One episode of T steps.

    Args:
        id: of the episode.
        state: (T, S) float64, on seeing which the action was commanded.
        action: (T, A) float64.
    """

    id: str
    state: np.ndarray
    action: np.ndarray

    def __len__(self) -> int:
        return len(self.action)


class Recordings:
    """The episodes of a dataset, for a stream to draw on.

    Args:
        stream: name of the stream, for messages.
        dataset: folder.
        spec: of the world to drive; cameras may be others.

    Raises:
        StoreError: there is no dataset, or it has no episode.
        SpecMismatch: it is of another robot or rate.
    """

    def __init__(self, stream: str, dataset: str, spec: EpisodeSpec) -> None:
        self.reader: EpisodeReader = open_dataset(dataset)
        if not len(self.reader):
            raise StoreError(f"the dataset at {dataset} has no episode for {stream} to take actions from; name another")
        if found := list(_differences(self.reader.spec, spec)):
            raise SpecMismatch(f"{stream} cannot drive this world with the actions in {dataset}: {'; '.join(found)}")

    @cached_property
    def ids(self) -> list[str]:
        """Of all episodes, in the order of the dataset."""
        return self.reader.ids()

    def read(self, id: str) -> Recorded:
        """One episode without its frames; StoreError if it is not there or damaged."""
        columns = self.reader.columns(id)
        return Recorded(id, columns[STATE].astype(np.float64), columns[ACTION].astype(np.float64))


def _differences(there: EpisodeSpec, here: EpisodeSpec) -> Iterator[str]:
    for name in ("state", "action"):
        names = [", ".join(getattr(spec, name).names) for spec in (there, here)]
        if names[0] != names[1]:
            yield f"{name} is {names[0]} there and {names[1]} here"
    if there.fps != here.fps:
        yield f"fps is {there.fps} there and {here.fps} here (`demoloom retime` writes it anew)"
