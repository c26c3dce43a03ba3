"""What demoloom keeps beside a LeRobot dataset that it wrote (see `lerobot_layout`), read as far as it can be read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import lerobot_layout as layout
from ..episode import EpisodeSummary
from ..errors import ConfigError, StoreError
from ..lerobot_layout import read_codec
from ..spec import EpisodeSpec, read_spec
from ..validation import validate_spec
from ..video import Codec
from .finding import Finding

FOLDER = "meta/demoloom"


@dataclass(frozen=True)
class Sidecar:
    """The content of meta/demoloom.

    Args:
        spec, codec: None where they cannot be read.
        ids: of the episodes, in LeRobot's order.
        summaries, digests: by id.
    """

    spec: EpisodeSpec | None = None
    codec: Codec | None = None
    ids: tuple[str, ...] = ()
    summaries: Mapping[str, EpisodeSummary] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def lossless(self) -> bool:
        """Whether frames are stored as they were recorded, so that the digests hold for them."""
        return self.codec is not None and self.codec.is_lossless


def read_sidecar(path: Path, findings: list[Finding]) -> Sidecar | None:
    """Read the sidecar of the dataset at `path`, add what is wrong with it to `findings`; None if there is none."""
    folder = path / FOLDER
    # Scores lie there also in datasets that demoloom did not write.
    if not folder.is_dir() or {file.name for file in folder.iterdir()} <= {"quality.json"}:
        return None
    lines = _read_lines(path, findings)
    return Sidecar(
        spec=_read_spec(path, findings),
        codec=_read_codec(path, findings),
        ids=tuple(str(line.get("id")) for line in lines),
        summaries=dict(_summaries(lines)),
        digests={str(line.get("id")): str(line.get("digest")) for line in lines},
    )


def _read_spec(path: Path, findings: list[Finding]) -> EpisodeSpec | None:
    try:
        spec = read_spec(path / layout.SIDECAR_SPEC)
        validate_spec(spec)
        return spec
    except (StoreError, ConfigError, TypeError, AttributeError) as error:
        findings.append(Finding(field=layout.SIDECAR_SPEC, message=str(error)))
        return None


def _read_codec(path: Path, findings: list[Finding]) -> Codec | None:
    try:
        return read_codec(path)
    except (StoreError, ConfigError, TypeError) as error:
        message = f"{error}; without it no digest can be compared and nothing be added"
        findings.append(Finding(field=layout.SIDECAR_CODEC, message=message, severity="warning"))
        return None


def _read_lines(path: Path, findings: list[Finding]) -> list[dict[str, Any]]:
    try:
        *lines, _half = (path / layout.SIDECAR_EPISODES).read_bytes().split(b"\n")
        # A killed writer may have left half a line, which is of no episode that counts.
        return [dict(json.loads(line)) for line in lines if line]
    except (OSError, ValueError, TypeError) as error:
        message = f"it cannot be read ({error}); restore it, or delete {FOLDER} to read a plain LeRobot dataset"
        findings.append(Finding(field=layout.SIDECAR_EPISODES, message=message))
        return []


def _summaries(lines: list[dict[str, Any]]) -> Iterator[tuple[str, EpisodeSummary]]:
    for line in lines:
        try:
            summary = EpisodeSummary.from_dict(line)
        except (KeyError, TypeError):
            continue
        if isinstance(summary.id, str):
            yield summary.id, summary
