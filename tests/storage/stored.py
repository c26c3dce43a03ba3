"""Episodes put on disk in each way that a dataset can hold them."""

from collections.abc import Sequence
from pathlib import Path

from demoloom.storage import Episode, EpisodeReader, EpisodeSpec, open_dataset
from demoloom.storage.create import new_dataset
from demoloom.storage.video import LOSSLESS, ImageCodec

CODECS = {"zarr": None, "lerobot": LOSSLESS, "lerobot-images": ImageCodec()}


def store(path: Path, kind: str, spec: EpisodeSpec, episodes: Sequence[Episode]) -> EpisodeReader:
    """A dataset of one of the `CODECS`, opened."""
    with new_dataset(path, "zarr" if kind == "zarr" else "lerobot", spec, codec=CODECS[kind]) as new:
        for episode in episodes:
            new.append(episode)
    return open_dataset(path)
