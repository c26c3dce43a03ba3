"""What a dataset holds, as one hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from .dataset import EpisodeReader
from .drafts import read_blocks
from .errors import StoreError
from .lineage import hash_file
from .progress import Progress, silent
from .recorder import ContentDigest

_SIDECAR = Path("meta", "demoloom")


def content_hash(reader: EpisodeReader, progress: Progress = silent) -> str:
    """SHA-256 (64 hex digits) over a dataset's spec and the id and content of its episodes, whatever their order.

    The same episodes have the same hash in a Zarr store and in a lossless LeRobot dataset. Lineage does not count,
    as in `recorder.digest_of`. A LeRobot dataset with a lossy codec holds other frames than were recorded: its hash
    is over what was recorded and the codec, so that it is neither that of the lossless dataset nor that of a copy
    made from the decoded frames. Our stores keep the digest of each episode; of any other dataset every frame is
    decoded, see `keeps_digests`.

    Args:
        reader: the dataset.
        progress: told after each episode.

    Raises:
        StoreError: an episode is damaged.
    """
    return hash_digests(reader, episode_digests(reader, progress))


def hash_digests(reader: EpisodeReader, digests: Mapping[str, str]) -> str:
    """The content hash of a dataset whose episodes have these digests."""
    content = {
        "spec": reader.spec.to_dict(),
        "episodes": sorted(digests.items()),
        "codec": lossy_codec(reader.path),
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def keeps_digests(reader: EpisodeReader) -> bool:
    """Whether the dataset says what its episodes hold, so that `content_hash` needs no frame."""
    return len(_kept_digests(reader)) == len(reader)


def episode_digests(reader: EpisodeReader, progress: Progress = silent) -> dict[str, str]:
    """The digest of each episode (`recorder.digest_of`), kept with it or else computed from its rows."""
    kept, ids = _kept_digests(reader), reader.ids()
    digests = {}
    for number, id in enumerate(ids, start=1):
        digests[id] = kept.get(id) or _computed_digest(reader, id)
        progress(number, len(ids), id)
    return digests


def stamp(reader: EpisodeReader) -> str:
    """A hash that changes when any episode does, without decoding a frame.

    The content hash where digests are kept, else a hash over the files that hold all but the frames.
    """
    if len(kept := _kept_digests(reader)) == len(reader):
        return hash_digests(reader, kept)
    digest = hashlib.sha256(b"files")
    files = [reader.path / "meta" / "info.json"]
    files += sorted(file for part in ("data", "meta/episodes") for file in (reader.path / part).rglob("*.parquet"))
    for file in files:
        digest.update(file.relative_to(reader.path).as_posix().encode() + b"\0" + hash_file(file))
    return digest.hexdigest()


def lossy_codec(path: Path) -> dict[str, Any] | None:
    """How the frames of the dataset at `path` were encoded, if that changed them; None where they are exact.

    Raises:
        StoreError: the dataset's note of its codec is damaged.
    """
    if not (path / _SIDECAR / "codec.json").is_file():
        return None
    from .lerobot_layout import read_codec
    from .video import VideoCodec

    codec = read_codec(path)
    if isinstance(codec, VideoCodec) and not codec.is_lossless:
        return {"kind": "video", "pix_fmt": codec.pix_fmt, "crf": codec.crf}
    return None


@runtime_checkable
class _KeepsDigests(Protocol):
    def digest(self, id: str) -> str | None: ...


def _kept_digests(reader: EpisodeReader) -> dict[str, str]:
    if isinstance(reader, _KeepsDigests):
        found = {id: reader.digest(id) for id in reader.ids()}
        return {id: digest for id, digest in found.items() if digest}
    file = reader.path / _SIDECAR / "episodes.jsonl"
    return dict(_sidecar_digests(file, len(reader))) if file.is_file() else {}


def _sidecar_digests(file: Path, count: int) -> Iterator[tuple[str, str]]:
    """Those of the first `count` episodes; what lies beyond was never committed, and may be half a line."""
    try:
        with file.open("rb") as lines:
            for line in islice(lines, count):
                episode = json.loads(line)
                if "digest" in episode:
                    yield episode["id"], episode["digest"]
    except (OSError, ValueError, KeyError) as error:
        raise StoreError(f"cannot read {file} ({error}); restore it from a copy") from error


def _computed_digest(reader: EpisodeReader, id: str) -> str:
    digest, summary = ContentDigest(), reader.summary(id)
    for rows in read_blocks(reader, id, 0, summary.length):
        digest.update(rows)
    return digest.finish(summary)
