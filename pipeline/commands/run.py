"""`demoloom run`: the whole line with one command, through Prefect or without."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import tyro

from ..choices import Given, choose_preset
from ..console import say
from ..environment import make_prefect_home
from ..inputs import check_inputs
from ..line import pending
from ..presets import DEFAULT_PRESET, RUNS, fit_to_kind
from ..run import run, stages_of
from ..run_config import RunConfig, load_config, save_config
from ..run_folder import RunFolder


@dataclass(frozen=True)
class Options:
    """Go from interaction data to a scored and exported policy, with a report.

    The same command again goes on where the last one stopped. With other settings in the same folder,
    the stages that depend on them run again.
    """

    preset: str = DEFAULT_PRESET
    """What the other options start from: smoke (a test), tiny (a demo in minutes), cpu (about as good as CPUs get).
    Unless it is given, a run folder that exists keeps the settings it was made with."""
    run_dir: Path | None = None
    """Folder of the run; `runs/PRESET` by default."""
    prefect: bool = True
    """Run the stages as tasks of a Prefect flow."""
    config: Annotated[RunConfig, tyro.conf.arg(name="")] = field(default_factory=RunConfig)

    @property
    def folder(self) -> RunFolder:
        """The run folder."""
        return RunFolder(self.run_dir or Path("runs") / self.preset)


def default_options(given: Given) -> Options:
    """The options of a preset or, if none is named, those with which the run folder was made."""
    options = Options(preset=given.preset or DEFAULT_PRESET, run_dir=given.run_dir)
    stored = load_config(options.folder) if given.preset is None else None
    return replace(options, config=stored or choose_preset(RUNS, options.preset))


def main(options: Options) -> None:
    """Run what is not done yet and say where the report lies."""
    folder = options.folder
    policy = fit_to_kind(options.config.policy, choose_preset(RUNS, options.preset).policy)
    config = replace(options.config, policy=policy)
    check_inputs(config)
    with folder.lock():
        save_config(folder, config)
    if not pending(folder, stages_of(config, folder)):
        say(f"nothing to do: all stages of {folder.path} are done with these settings")
    elif options.prefect:
        make_prefect_home()
        from ..flow import demoloom, run_flow

        run_flow(demoloom, run_dir=folder.path, config=config)
    else:
        run(config, folder)
    print(folder.path / "report" / "index.html")
