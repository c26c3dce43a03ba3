"""What one server offers: a world, its starts, its sessions and the takes that were kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ...storage.episode import EpisodeSummary
from ...storage.spec import EpisodeSpec
from ..controls import Controls
from ..driving import DriveSettings, KeptTakes, Starts
from ..keys import MOVEMENT_KEYS
from .page_files import PageFile, read_page
from .rules import Rules
from .session import Tempo
from .sessions import Sessions


@dataclass(frozen=True)
class Offer:
    """What is driven here, as it is told to pages.

    Args:
        spec: of the world.
        text: of the task.
        task: its name.
        world: a name for the world.
        controls: what a hand commands here.
        tempo: when worlds move.
        settings: how takes are recorded.
        has_reality: whether reality can be shown beside the world.
    """

    spec: EpisodeSpec
    text: str
    task: str
    world: str
    controls: Controls
    tempo: Tempo
    settings: DriveSettings
    has_reality: bool = False


@dataclass(frozen=True)
class Server:
    """All that requests are answered from."""

    offer: Offer
    starts: Starts
    takes: KeptTakes
    sessions: Sessions
    rules: Rules
    page: Mapping[str, PageFile] = field(default_factory=read_page)


def about(server: Server) -> dict[str, Any]:
    """What a page has to know before it draws anything."""
    offer, spec = server.offer, server.offer.spec
    return {
        "task": offer.task,
        "text": offer.text,
        "world": offer.world,
        "fps": spec.fps,
        "tempo": asdict(offer.tempo),
        "cameras": [asdict(camera) for camera in spec.cameras],
        "action": asdict(spec.action),
        "controls": {
            "map": offer.controls.axis_map.to_dict(),
            "shaping": asdict(offer.controls.shaping),
            "min_trust": offer.settings.min_trust,
        },
        "keys": _keys(offer),
        "max_steps": offer.settings.max_steps,
        "max_sessions": server.sessions.most,
        "sessions": len(server.sessions),
        "has_reality": offer.has_reality,
        "num_starts": len(server.starts),
        "dataset": str(server.takes.demonstrations),
    }


def take_facts(summary: EpisodeSummary, fps: int) -> dict[str, Any]:
    """What a page shows of a kept take."""
    return {
        "id": summary.id,
        "length": summary.length,
        "success": summary.success,
        "score_max": summary.score_max,
        "trust_min": summary.trust_min,
        "seconds": summary.length / fps,
        "outcome": summary.outcome,
        "reason": summary.reason,
        "made_by": summary.lineage.get("stream", {}).get("name", "unknown"),
    }


def _keys(offer: Offer) -> dict[str, str]:
    """Code -> which dimension of the action it moves, and which way; of axes that move something here."""
    moved = offer.controls.axis_map.axes
    return {
        code: f"{moved[axis].to} {'+' if sign * moved[axis].scale > 0 else '-'}"
        for code, (axis, sign) in MOVEMENT_KEYS.items()
        if axis in moved
    }
