"""`demoloom serve`: runs on a schedule."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from ..choices import Given
from ..console import say
from ..environment import let_runs_log, make_prefect_home
from ..plain import to_plain
from ..presets import DEFAULT_PRESET
from ..rounds import RoundConfig
from ..run_config import RunConfig
from ..serving import Timetable, serve
from .run import default_options as run_options


@dataclass(frozen=True)
class Options:
    """Start runs on a schedule, from this process and until it is stopped, and show them on a Prefect server.

    The server is the one that PREFECT_API_URL names.
    """

    flow: Literal["run", "improve"] = "run"
    """What is run each time: the whole line, or a round that improves the policy of a finished run."""
    name: str = "nightly"
    """Name of the deployment."""
    timetable: Annotated[Timetable, tyro.conf.arg(name="")] = field(default_factory=Timetable)
    hold: tuple[str, ...] = ()
    """Names of Prefect's global concurrency limits to hold one slot of meanwhile, one for each GPU for instance."""
    run_dir: Path | None = None
    """Folder of the run; `runs/PRESET` by default."""
    preset: str = DEFAULT_PRESET
    """What the settings of `run` start from; unless it is given, a run folder that exists keeps those it has."""
    run: RunConfig = field(default_factory=RunConfig)
    improve: RoundConfig = field(default_factory=RoundConfig)

    @property
    def parameters(self) -> dict[str, Any]:
        """Of each run, as plain data."""
        folder = (self.run_dir or Path("runs") / self.preset).expanduser().resolve()
        config = self.run if self.flow == "run" else self.improve
        return {"run_dir": str(folder), "config": to_plain(config), "hold": list(self.hold)}


def default_options(given: Given) -> Options:
    """The settings of `run` are those of a preset or, if none is named, those of the run folder."""
    chosen = run_options(given)
    return Options(preset=chosen.preset, run_dir=given.run_dir, run=chosen.config)


def main(options: Options) -> None:
    """Serve until stopped."""
    make_prefect_home()
    let_runs_log()
    from ..flow import demoloom, improve_flow

    chosen = demoloom if options.flow == "run" else improve_flow
    say(f"serving {chosen.name}/{options.name}; stop it by Ctrl-C")
    serve(chosen, options.name, options.timetable, options.parameters)
