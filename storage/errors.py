"""Every error that a user can cause, as one tree.

DemoloomError
├── ConfigError        a setting or a command-line value cannot be used   (also ValueError)
├── SpecMismatch       two datasets, worlds or policies do not fit        (also ValueError)
├── InvalidEpisode     an episode breaks its spec                         (also ValueError)
├── StoreError         a dataset folder cannot be read or written         (also OSError)
├── PluginError        no such world, stream, policy or task              (also LookupError)
├── DeviceError        what a person drives with cannot be read          (also OSError)
├── CheckpointError    a world, probe or policy folder cannot be loaded   (also OSError)
└── FleetError         workers failed more often than the run allows      (also RuntimeError)

Each message is one sentence or two: what was expected, what came and where, and the next step.
"""


class DemoloomError(Exception):
    """Base of all errors that a user can cause and mend."""


class ConfigError(DemoloomError, ValueError):
    """A setting or a command-line value cannot be used."""


class SpecMismatch(DemoloomError, ValueError):  # noqa: N818
    """Two things that must describe the same robot do not; the message lists the differences."""


class InvalidEpisode(DemoloomError, ValueError):  # noqa: N818
    """An episode breaks its spec; the message names the episode, the step and the field."""


class StoreError(DemoloomError, OSError):
    """A dataset folder cannot be read or written."""


class PluginError(DemoloomError, LookupError):
    """No world, stream, policy or task of that name is installed."""


class DeviceError(DemoloomError, OSError):
    """What a person drives with is not there, may not be opened, or has stopped answering."""


class CheckpointError(DemoloomError, OSError):
    """A world, probe or policy folder cannot be loaded."""


class FleetError(DemoloomError, RuntimeError):
    """Workers failed more often than the run allows."""
