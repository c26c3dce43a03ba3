"""What a store holds, to compare two of them."""

from __future__ import annotations

from pathlib import Path

from demoloom.storage.zarr_store import ZarrStore


def contents(store: Path) -> list[tuple[str, str | None]]:
    """(id, digest of all its content) of each episode, by index."""
    opened = ZarrStore.open(store)
    return [(id, opened.digest(id)) for id in opened.ids()]
