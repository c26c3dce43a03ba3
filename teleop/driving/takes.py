"""What becomes of recorded rows: idle ends cut, judged, and named as one episode."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from ...generators.world import World
from ...storage.columns import columns_of
from ...storage.drafts import with_edit
from ...storage.episode import Episode, Outcome, Rows
from ...storage.lineage import code_version
from ...storage.spec import EpisodeSpec
from ...storage.trim import busy_rows
from .settings import DriveSettings
from .starts import Start


@dataclass(frozen=True)
class Made:
    """How a take was made.

    Args:
        world: in which it was recorded.
        start: where the world had started.
        notes: what else is to be kept in its lineage.
    """

    world: World
    start: Start
    notes: Mapping[str, Any]


def take_of(rows: Rows, index: int, made: Made, spec: EpisodeSpec, settings: DriveSettings) -> Episode:
    """Recorded rows, at least one, as an episode without its idle ends.

    Args:
        rows: all of the take.
        index: number of the take.
        made: how.
        spec: of the dataset.
        settings: what is cut, and what is trusted.
    """
    first, stop = busy_rows(columns_of(rows), spec, settings.trim)
    lineage = _lineage(made, index)
    if (first, stop) != (0, len(rows)):
        cut = {"start": first, "stop": stop, "length": len(rows)}
        lineage = with_edit(lineage, "trim", **asdict(settings.trim), rows=cut)
    kept = rows.rows(first, stop)
    outcome, reason = _judged(kept, settings.min_trust)
    return Episode(
        # By chance, so that takes of two servers can be merged.
        id=f"take-{index:06d}-{secrets.token_hex(4)}",
        index=index,
        seed=made.start.seed,
        task=made.world.task,
        outcome=outcome,
        reason=reason,
        lineage=lineage,
        **{field.name: getattr(kept, field.name) for field in fields(Rows)},
    )


def _judged(rows: Rows, min_trust: float) -> tuple[Outcome, str]:
    """The outcome and the reason; an untrusted success is not believed."""
    trust = float(rows.trust.min())
    if trust < min_trust:
        return "untrusted", f"trust fell to {trust:.2f} (below {min_trust:g}) at step {int(rows.trust.argmin()) + 1}"
    if rows.success.any():
        return "success", ""
    return (
        "failure",
        f"the person ended the take after {len(rows)} step{'s' * (len(rows) != 1)} without solving the task",
    )


def _lineage(made: Made, index: int) -> dict[str, Any]:
    return {
        "stage": "teleop",
        "code": code_version(),
        "world": made.world.identity(),
        "seed": made.start.seed,
        "index": index,
        "start": {} if made.start.index is None else {"frame": float(made.start.index)},
        **made.notes,
    }
