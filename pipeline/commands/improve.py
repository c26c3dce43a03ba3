"""`demoloom improve`: a round of demonstrations from where a run's policy fails."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from ..choices import Given, refuse_preset
from ..console import say
from ..environment import make_prefect_home
from ..presets import DEFAULT_PRESET
from ..report.scores import scores_text
from ..rounds import RoundConfig, current_round, finished_config, has_failures, improve
from ..run_folder import RunFolder


@dataclass(frozen=True)
class Options:
    """Make more demonstrations from where the policy of a finished run fails, train it anew on all, and score both.

    A round lies in `rounds/` of the run's folder; the next goes on from it, and one that was stopped is finished.
    """

    run_dir: Path = Path("runs") / DEFAULT_PRESET
    """Folder of the run."""
    prefect: bool = True
    """Run the stages as tasks of a Prefect flow."""
    config: Annotated[RoundConfig, tyro.conf.arg(name="")] = field(default_factory=RoundConfig)


def default_options(given: Given) -> Options:
    """A round takes its settings from the run."""
    refuse_preset("improve", given)
    return Options()


def main(options: Options) -> None:
    """Make the round and print its scores."""
    folder = RunFolder(options.run_dir)
    finished_config(folder)
    made = current_round(folder)
    if not has_failures(made):
        say(f"nothing to do: the policy in {made.before.path} failed nowhere in its evaluation")
        return
    if options.prefect:
        make_prefect_home()
        from ..flow import improve_flow, run_flow

        run_flow(improve_flow, run_dir=folder.path, config=options.config)
    else:
        improve(options.config, folder)
    manifest = made.folder.manifest("evaluate")
    print(scores_text(manifest["metrics"]["scores"] if manifest else []))
    print(made.folder.path / "policy")
