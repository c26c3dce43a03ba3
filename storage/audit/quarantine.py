"""Where a repair puts what it takes out of a dataset, and the originals of what it rewrites: nothing is deleted."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..atomic import make_folder, refusals_named


class Quarantine:
    """The folder `quarantine/<dataset>/` beside a dataset, with the same paths inside."""

    def __init__(self, dataset: Path) -> None:
        self._dataset = dataset.resolve()
        self.folder = self._dataset.parent / "quarantine" / self._dataset.name

    def take(self, file: str) -> Path:
        """Move a file or folder of the dataset, given by its path in it, here; return where it is now.

        Raises:
            StoreError: the disk is full, or the folder beside the dataset cannot be written.
        """
        place = self._free(file)
        with refusals_named(place):
            shutil.move(self._dataset / file, place)
        return place

    def keep(self, file: str) -> Path:
        """Copy a file that is about to be rewritten; otherwise as `take`."""
        place = self._free(file)
        with refusals_named(place):
            shutil.copy2(self._dataset / file, place)
        return place

    def _free(self, file: str) -> Path:
        wanted = place = self.folder / file
        number = 0
        while place.exists():
            number += 1
            place = wanted.with_name(f"{wanted.name}.{number}")
        make_folder(place.parent)
        return place
