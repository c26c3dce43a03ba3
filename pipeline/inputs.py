"""What a run is given, looked at before anything is started."""

from __future__ import annotations

from ..generators.learned.bundled import world_folder
from ..storage.errors import ConfigError
from ..teleop.task import load_task
from .run_config import RunConfig
from .stages.generate import make_expert


def check_inputs(config: RunConfig) -> None:
    """Refuse what can be refused before anything is started.

    Raises:
        PluginError: there is no such task.
        StoreError: the interaction data given cannot be read.
        ConfigError: it has no labels.
        CheckpointError: there is no world where one is given, or it has no probe.
    """
    load_task(config.task)
    if config.pretrained_world is not None:
        make_expert(config.task, world_folder(config.pretrained_world))
    if config.interaction is not None:
        from ..storage.dataset import open_dataset

        if not open_dataset(config.interaction).spec.labels:
            raise ConfigError(
                f"the dataset at {config.interaction} has no labels (columns label.NAME), from which a probe "
                "learns what the scripted expert sees; add them, or train a world alone with `demoloom train-world`"
            )
