"""What a stage of a run is, and the digest by which its result is known."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..storage.progress import Progress
from .plain import to_plain

#: Called with the stage's work folder, which outlives a failed try, and a progress; returns metrics for the manifest.
StageFunction = Callable[[Path, Progress], dict[str, Any]]


@dataclass(frozen=True)
class Stage:
    """One step of a run, from the outputs of the stages it needs to its own.

    Args:
        name: as on the command line.
        run: does the work; publishes each output whole or not at all.
        config: what the result depends on, besides the stages needed.
        outputs: files and folders it makes, relative to the run folder.
        needs: stages whose outputs it reads; they stand before it.
        version: raised when the same config and inputs would now give another result.
        uses_fleet: whether it needs Ray workers.
        work_config: the part of `config` that decides what a later try can go on from; None: all of it.
    """

    name: str
    run: StageFunction
    config: Any
    outputs: tuple[str, ...]
    needs: tuple[str, ...] = ()
    version: int = 1
    uses_fleet: bool = False
    work_config: Any = None


def stage_digests(stages: Sequence[Stage]) -> dict[str, str]:
    """Stage name -> sha256 of all that its result depends on: name, version, config and the digests it needs."""
    digests: dict[str, str] = {}
    for stage in stages:
        identity = {
            "name": stage.name,
            "version": stage.version,
            "config": to_plain(stage.config),
            "needs": {name: digests[name] for name in stage.needs},
        }
        digests[stage.name] = hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()
    return digests


def stage_seed(seed: int, stage: str) -> int:
    """The run seed of one stage, so that a run never evaluates on the starts it generated from (63 bits)."""
    digest = hashlib.sha256(f"{stage}:{seed}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1
