"""Which episodes of a lossless LeRobot dataset were changed since they were recorded, or have a video one frame off."""

from __future__ import annotations

from collections.abc import Iterator

from ..columns import image_key
from ..errors import StoreError
from ..recorder import ContentDigest, block_length
from ..spec import Camera
from ..video import VideoReader
from .contents import CHANGED, Contents
from .finding import Finding
from .manifest import Manifest, Record
from .row_checks import REPLACE
from .sidecar import Sidecar


def check_digests(manifest: Manifest, sidecar: Sidecar, contents: Contents) -> Iterator[Finding]:
    """Yield each episode whose digest is not that taken when it was recorded.

    Where the digest is right again with the frames one before or after those of the episode, the camera is named; that
    reads the episode again.
    """
    records = {record.id: record for record in manifest.records}
    for id, digest in contents.whole():
        if id not in sidecar.summaries or digest.finish(sidecar.summaries[id]) == sidecar.digests[id]:
            continue
        off = [(camera, shift) for camera in _filmed(manifest, sidecar) for shift in (1, -1)]
        for camera, shift in off:
            part = _column(manifest, records[id], camera, shift)
            if part and digest.replaced(part).finish(sidecar.summaries[id]) == sidecar.digests[id]:
                yield _one_off(manifest, records[id], camera, shift)
                break
        else:
            yield Finding(field="digest", message=f"{CHANGED}; {REPLACE}", episode=id)


def _filmed(manifest: Manifest, sidecar: Sidecar) -> list[Camera]:
    keys, cameras = manifest.cameras("video"), sidecar.spec.cameras if sidecar.spec is not None else ()
    return [camera for camera in cameras if image_key(camera.name) in keys]


def _column(manifest: Manifest, record: Record, camera: Camera, shift: int) -> ContentDigest | None:
    """The digest of a camera's frames `shift` after those of the record; None if there are not enough."""
    span, part = record.spans[image_key(camera.name)], ContentDigest()
    first = round(span.start_s * manifest.fps) + shift
    if first < 0:
        return None
    reader, count = VideoReader(camera, manifest.fps), block_length(camera.height * camera.width * 3)
    try:
        for start in range(0, record.length, count):
            size = min(count, record.length - start)
            part.add(image_key(camera.name), reader.read(manifest.path / span.file, first + start, size))
    except StoreError:
        return None
    finally:
        reader.close()
    return part


def _one_off(manifest: Manifest, record: Record, camera: Camera, shift: int) -> Finding:
    key = image_key(camera.name)
    span, right = record.spans[key], record.spans[key].start_s + shift / manifest.fps
    message = (
        f"its range in {span.file} is one frame {'early' if shift > 0 else 'late'}, the frames recorded begin at "
        f"{right:.4f} s, not at {span.start_s:.4f} s; correct its from_timestamp and to_timestamp in meta/episodes"
    )
    return Finding(field=key, message=message, episode=record.id)
