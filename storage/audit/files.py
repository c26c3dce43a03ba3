"""The files of a LeRobot dataset: those that are missing, and those that nothing refers to."""

from __future__ import annotations

from collections.abc import Iterator

from .. import lerobot_layout as layout
from ..atomic import TEMPORARY_PREFIX
from .finding import Finding
from .manifest import RESTORE, Manifest

#: LeRobot stages PNG images here; what a discarded take leaves goes into the next video (lerobot 4109).
_STAGING = "images"


def check_files(manifest: Manifest) -> Iterator[Finding]:
    """Yield missing files by episode, and dangling ones; files under a temporary name are a writer's own business."""
    for record in manifest.records:
        for field, file in record.files():
            if not (manifest.path / file).is_file():
                yield Finding(field=field, message=f"{file} is missing; {RESTORE}", episode=record.id)
    known = {layout.SIDECAR_PIXELS.format(num_rows=sum(record.length for record in manifest.records))}
    known |= {file for record in (*manifest.records, *manifest.uncounted) for _, file in record.files()}
    for file in _present(manifest):
        if file not in known:
            message = "no episode refers to it; --repair moves it to the quarantine"
            yield Finding(field=file, message=message, severity="warning", mend="quarantine", file=file)


def _present(manifest: Manifest) -> Iterator[str]:
    for folder in ("data", "videos", "meta/episodes", _STAGING):
        for file in sorted((manifest.path / folder).rglob("*")):
            name = file.relative_to(manifest.path)
            temporary = any(part.startswith(TEMPORARY_PREFIX) for part in name.parts)
            # What cannot be read in meta/episodes has a finding of its own.
            torn = folder == "meta/episodes" and file.suffix == ".parquet"
            if file.is_file() and not temporary and not torn:
                yield name.as_posix()
    for file in sorted((manifest.path / "meta").glob("demoloom/pixels-*.npy")):
        yield file.relative_to(manifest.path).as_posix()
