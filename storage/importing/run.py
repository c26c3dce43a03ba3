"""Importing a foreign file, whatever its format."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..atomic import make_folder
from ..convert import convert
from ..create import Format
from ..damage import damage_named
from ..drafts import write_drafts
from ..errors import ConfigError, StoreError
from ..progress import Progress, silent
from .foreign import Foreign, ImportSettings
from .importer import Importer
from .lerobot_v21 import is_lerobot_v21, open_lerobot_v21
from .replay_buffer import is_replay_buffer, open_replay_buffer
from .robomimic import is_robomimic, open_robomimic
from .world_simulator import is_world_simulator, open_world_simulator

if TYPE_CHECKING:
    from ..video import Codec

Kind = Literal["robomimic", "world-simulator", "replay-buffer", "lerobot-v2.1"]


@dataclass(frozen=True)
class _Reader:
    """How a kind of file is known and opened."""

    is_kind: Callable[[Path], bool]
    open: Callable[[Path], AbstractContextManager[Foreign]]


_READERS: dict[Kind, _Reader] = {
    "replay-buffer": _Reader(is_replay_buffer, open_replay_buffer),
    "robomimic": _Reader(is_robomimic, open_robomimic),
    "world-simulator": _Reader(is_world_simulator, open_world_simulator),
}


def import_dataset(
    source: Path,
    path: Path,
    format: Format,
    settings: ImportSettings | None = None,
    *,
    kind: Kind | None = None,
    codec: Codec | None = None,
    progress: Progress = silent,
) -> int:
    """Write the episodes of a foreign file as a new dataset; a few megabytes are in memory at a time.

    Args:
        source: a file or a folder, only read.
        path: where nothing stands yet.
        format: of the new dataset.
        settings: what the file does not say, or says otherwise.
        kind: None: found out.
        codec: how a LeRobot dataset keeps frames; None keeps them exactly.
        progress: told of each episode.

    Returns:
        The number of episodes.

    Raises:
        ConfigError: something has to be said beside, or is said which the kind has no use for.
        StoreError: the file is of no known kind, or shapes, types or lengths in it do not fit.
        InvalidEpisode: a number in it is not finite.
    """
    kind = kind or find_kind(source)
    settings = settings or ImportSettings()
    if kind == "lerobot-v2.1":
        if settings != ImportSettings():
            raise ConfigError("a LeRobot dataset says all of itself; give no settings with it")
        make_folder(path.absolute().parent)
        with open_lerobot_v21(source, path.absolute().parent) as reader:
            return convert(reader, path, format, codec=codec, progress=progress)
    with damage_named(source, "copy it again"), _READERS[kind].open(source) as foreign:
        importer = Importer(foreign, settings)
        total = len(foreign.recordings)
        return write_drafts(path, format, importer.spec, importer.drafts(), codec=codec, total=total, progress=progress)


def find_kind(source: Path) -> Kind:
    """What wrote a file or folder.

    Raises:
        StoreError: nothing stands there, or something of no known kind.
    """
    if not source.exists():
        raise StoreError(f"there is nothing at {source} to import; check the path")
    if is_lerobot_v21(source):
        return "lerobot-v2.1"
    for kind, reader in _READERS.items():
        if reader.is_kind(source):
            return kind
    raise StoreError(
        f"{source} is nothing that can be imported: a robomimic file, episodes of the Interactive World Simulator, a "
        "replay buffer of diffusion_policy, or a LeRobot dataset of version 2.1"
    )
