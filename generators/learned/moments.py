"""Saved moments of a training: where each stage goes on after a kill."""

from __future__ import annotations

import hashlib
import json
import logging
import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from ...storage.atomic import make_folder, read_json, replace_file, write_json
from ...storage.errors import CheckpointError, StoreError
from .interaction import Interaction
from .tensor_bytes import from_bytes, to_bytes

_FINGERPRINT = "fingerprint.json"
_SECONDS = "seconds.json"


@dataclass
class Moments:
    """The last saved moment of each stage, as files `<stage>.pt` in a folder.

    Args:
        folder: of one training; None keeps nothing.
        every_s: seconds between two moments of a stage.
        began: when this try began, on the monotonic clock.
    """

    folder: Path | None = None
    every_s: float = math.inf
    began: float = field(default_factory=time.monotonic)
    _saved: dict[str, float] = field(default_factory=dict, repr=False)
    _earlier_s: float = field(default=0.0, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.folder is not None and (self.folder / _SECONDS).exists():
            self._earlier_s = float(read_json(self.folder / _SECONDS)["seconds"])

    @property
    def seconds(self) -> float:
        """How long this try and the earlier ones have taken, each of those up to its last saved moment."""
        return self._earlier_s + time.monotonic() - self.began

    def due(self, stage: str) -> bool:
        """Whether it is time to save a moment of this stage; the first time asked starts its clock."""
        if self.folder is None:
            return False
        now = time.monotonic()
        return now - self._saved.setdefault(stage, now) >= self.every_s

    def save(self, stage: str, moment: Mapping[str, Any]) -> None:
        """Replace the stage's last moment; a kill meanwhile leaves the old one."""
        if self.folder is None:
            return
        with replace_file(self._path(self.folder, stage)) as temporary:
            temporary.write_bytes(to_bytes(dict(moment)))
        write_json(self.folder / _SECONDS, {"seconds": self.seconds})
        self._saved[stage] = time.monotonic()

    def load(self, stage: str) -> dict[str, Any] | None:
        """The stage's last moment, if there is one; CheckpointError if it cannot be read."""
        if self.folder is None or not (path := self._path(self.folder, stage)).exists():
            return None
        try:
            return dict(from_bytes(path.read_bytes()))
        except Exception as error:
            raise CheckpointError(
                f"the saved moment {path} is damaged ({type(error).__name__}); delete {self.folder} to train from "
                "the beginning"
            ) from error

    @staticmethod
    def _path(folder: Path, stage: str) -> Path:
        return folder / f"{stage.replace(' ', '_')}.pt"


def claim_folder(folder: Path, fingerprint: str) -> None:
    """Make a folder ready for a training; what it holds of another one is deleted, and that is said."""
    try:
        same = read_json(folder / _FINGERPRINT)["fingerprint"] == fingerprint
    except (StoreError, KeyError):
        same = False
    if not same and folder.exists():
        logging.getLogger(__name__).warning(
            "%s holds the beginning of a training with another config or on other data; training begins anew", folder
        )
        shutil.rmtree(folder)
    make_folder(folder)
    write_json(folder / _FINGERPRINT, {"fingerprint": fingerprint})


def fingerprint_of(data: Interaction, config: Mapping[str, Any]) -> str:
    """SHA-256 over what the weights follow from: config, every row of the data, and torch, whose sums may change."""
    digest = hashlib.sha256(
        json.dumps([config, data.spec.to_dict(), data.tasks, torch.__version__], sort_keys=True).encode()
    )
    for array in (
        data.starts,
        data.state,
        data.action,
        data.score,
        data.success,
        data.final_score,
        data.task,
        *data.labels.values(),
    ):
        digest.update(array.tobytes())
    for at in range(0, len(data.frames), 512):
        digest.update(data.frames[at : at + 512].tobytes())
    return digest.hexdigest()
