"""What went wrong while episodes were made, kept beside the store so that it outlives the driver."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ...storage.atomic import refusals_named
from ...storage.zarr_store import ZarrStore, is_store


@dataclass(frozen=True)
class Lost:
    """An episode that was under way, or waited behind one, when its worker was lost or its world raised.

    Args:
        id: of the episode.
        index: its number in the run.
        seed: which makes it again.
        cause: what happened, as a clause.
        given_up: whether it will not be tried again in this run.
        time: of the event, ISO 8601 in UTC.
    """

    id: str
    index: int
    seed: int
    cause: str
    given_up: bool
    time: str


def losses_file(store: Path) -> Path:
    """Where the losses of a store are kept."""
    return store.with_name(f"{store.name}.losses.jsonl")


def note_losses(store: Path, losses: Iterable[Lost]) -> None:
    """Add to the losses of a store.

    Raises:
        StoreError: the disk is full, or the folder cannot be written.
    """
    lines = "".join(json.dumps(asdict(loss)) + "\n" for loss in losses)
    with refusals_named(losses_file(store)), losses_file(store).open("a", encoding="utf-8") as file:
        file.write(lines)


def read_losses(store: Path) -> list[Lost]:
    """All losses of a store, in order; a line that a killed driver left half written is passed over."""
    try:
        lines = losses_file(store).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return []
    return [loss for line in lines if (loss := _parsed(line))]


def lost_and_redone(store: Path) -> list[dict[str, Any]]:
    """One row for each episode that was ever lost: `index`, `seed`, `times`, `cause` (the most frequent) and `became`.

    `became` is `made again`, `given up`, or `not made yet` after a run that was stopped.
    """
    by_id: dict[str, list[Lost]] = {}
    for loss in read_losses(store):
        by_id.setdefault(loss.id, []).append(loss)
    made = ZarrStore.open(store) if is_store(store) else ()
    rows = [_row(losses, id in made) for id, losses in by_id.items()]
    return sorted(rows, key=lambda row: int(row["index"]))


def now() -> str:
    """The time for a loss."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _row(losses: Sequence[Lost], made: bool) -> dict[str, Any]:
    last = losses[-1]
    left = "given up" if last.given_up else "not made yet"
    return {
        "index": last.index,
        "seed": last.seed,
        "times": max(1, sum(not loss.given_up for loss in losses)),
        "cause": Counter(loss.cause for loss in losses).most_common(1)[0][0],
        "became": "made again" if made else left,
    }


def _parsed(line: str) -> Lost | None:
    try:
        return Lost(**json.loads(line))
    except (ValueError, TypeError):
        return None
