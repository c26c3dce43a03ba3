"""What the commands for single stages share: a work folder beside the output, a progress, and a free output."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ...storage.atomic import is_occupied, make_folder
from ...storage.errors import ConfigError
from ...storage.progress import Progress
from ..console import say, show_progress
from ..plain import to_plain


@contextmanager
def stage_work(title: str, options: Any, *outputs: Path) -> Iterator[tuple[Path, Progress]]:
    """Give a work folder and a progress for one stage; the folder is kept for the next try if the stage fails.

    Args:
        title: the stage's name.
        options: the command's options; another try with the same goes on where this one stopped.
        outputs: what the stage makes.

    Raises:
        ConfigError: an output is there already.
    """
    require_free(*outputs)
    digest = hashlib.sha256(json.dumps(to_plain(options), sort_keys=True).encode()).hexdigest()
    work = outputs[0].with_name(f"{outputs[0].name}.work-{digest[:8]}").resolve()
    make_folder(work)
    try:
        with show_progress(title) as progress:
            yield work, progress
    except BaseException:
        with suppress(OSError):
            work.rmdir()  # only if nothing was begun in it
        raise
    shutil.rmtree(work)
    say(f"{title}: wrote {', '.join(str(output) for output in outputs)}")


def require_free(*outputs: Path) -> None:
    """Refuse to write where something lies.

    Raises:
        ConfigError: names the folder.
    """
    for output in outputs:
        if is_occupied(output):
            raise ConfigError(f"{output} exists already; give another --out, or move it away")
