"""One person's session in one world, without any transport: driving, recording, going back, keeping."""

from .drive import Drive, Seen, take_spec
from .kept_takes import KeptTakes
from .settings import DriveSettings
from .starts import Start, Starts, checkpoint_starts, dataset_starts, no_starts

__all__ = [
    "Drive",
    "DriveSettings",
    "KeptTakes",
    "Seen",
    "Start",
    "Starts",
    "checkpoint_starts",
    "dataset_starts",
    "no_starts",
    "take_spec",
]
