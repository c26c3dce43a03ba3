"""Episodes: their layout, checks, two formats on disk and lineage."""

from .dataset import EpisodeReader, open_dataset
from .episode import Episode, EpisodeSummary, Outcome, Rows, summarise
from .errors import (
    CheckpointError,
    ConfigError,
    DemoloomError,
    FleetError,
    InvalidEpisode,
    PluginError,
    SpecMismatch,
    StoreError,
)
from .lineage import code_version, hash_folder
from .plugins import PluginRef, load_plugin
from .progress import Progress, silent
from .spec import Camera, EpisodeSpec, Vector
from .validation import validate_episode, validate_spec
from .zarr_store import ZarrStore

__all__ = [
    "Camera",
    "CheckpointError",
    "ConfigError",
    "DemoloomError",
    "Episode",
    "EpisodeReader",
    "EpisodeSpec",
    "EpisodeSummary",
    "FleetError",
    "InvalidEpisode",
    "Outcome",
    "PluginError",
    "PluginRef",
    "Progress",
    "Rows",
    "SpecMismatch",
    "StoreError",
    "Vector",
    "ZarrStore",
    "code_version",
    "hash_folder",
    "load_plugin",
    "open_dataset",
    "silent",
    "summarise",
    "validate_episode",
    "validate_spec",
]
