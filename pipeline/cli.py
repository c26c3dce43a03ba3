"""The command `demoloom`: finds the command asked for, parses its options and turns errors into one line each.

Nothing heavy is imported here nor while options are parsed, so that `--help` answers at once.
"""

from __future__ import annotations

import argparse
import difflib
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any

from ..storage.atomic import refusal
from ..storage.errors import ConfigError, DemoloomError
from .choices import Given
from .environment import prepare_environment


@dataclass(frozen=True)
class Command:
    """One command; its module in `commands/` holds `Options`, `default_options(given)` and `main(options)`."""

    name: str
    summary: str

    @property
    def module(self) -> Any:
        """The module, imported when it is needed."""
        name = self.name.replace("-", "_")
        return import_module(f".commands.{name}{'_' if iskeyword(name) else ''}", __package__)


COMMANDS = (
    Command("run", "the whole line, from interaction data to a scored and exported policy, with a report"),
    Command("improve", "more demonstrations from where a run's policy fails, and the policy trained anew on all"),
    Command("serve", "runs on a schedule, shown on a Prefect server"),
    Command("mend-runs", "tell a Prefect server of the runs whose process is gone"),
    Command("collect", "record interaction data in reality"),
    Command("train-world", "train a world model and its probe on interaction data"),
    Command("evaluate-world", "measure how good a world is on data that it has not seen"),
    Command("teleop", "drive a robot inside a world model from a browser, and keep the takes you like"),
    Command("record", "let a person's device, or any stream, drive one world, and keep every episode"),
    Command("generate", "make demonstrations inside a world model"),
    Command("train-policy", "train a policy on demonstrations"),
    Command("evaluate", "score a policy in reality and in a world model"),
    Command("export", "export a policy for a robot"),
    Command("report", "write the report of a run"),
    Command("inspect", "show what a dataset holds, as tables, as a page and for Rerun"),
    Command("validate", "find what is wrong with a dataset, and mend what can be mended"),
    Command("score", "score how each episode of a dataset moves and how alike they are"),
    Command("curate", "keep the episodes that meet a condition on their scores, and the others apart"),
    Command("trim", "cut idle ends off episodes"),
    Command("diff", "say what changed from one dataset to another"),
    Command("convert", "convert a dataset between LeRobot and Zarr"),
    Command("import", "make a dataset of episodes that another tool recorded"),
    Command("merge", "make one dataset of several"),
    Command("select", "write some of a dataset's episodes, or every so manyth of their rows"),
    Command("split", "split a dataset into parts that share no start"),
    Command("retime", "write a dataset at its true rate, or at another"),
    Command("replay", "make an episode of a run again and compare it with what was stored"),
    Command("devices", "list the devices that a person can drive with, and show how one is held"),
    Command("plugins", "list the worlds, streams, policies and tasks that are installed"),
)

# True of a run, which resumes, and of a command that writes a dataset wholly or not at all.
_STOPPED = "stopped; nothing is left half made, and the same command goes on from what was finished or begins again"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `demoloom` with these arguments (`sys.argv` by default) and return its exit code."""
    prepare_environment()
    # A scheduler or a service manager stops a command by SIGTERM, and means what a person means by Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        refuse_unreadable(arguments)
        return _dispatch(arguments)
    except DemoloomError as error:
        print(f"demoloom: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # `demoloom inspect ... | head` has read enough; Python would complain once more when it closes the output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as error:
        # Not all that reads and writes is ours: a full disk or a path that cannot be may show up anywhere.
        print(f"demoloom: {_refused(error)}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(f"demoloom: {_STOPPED}", file=sys.stderr)
        return 130


def _refused(error: OSError) -> str:
    """What to tell a user whose system, or a library that reads files, refused something."""
    if named := refusal(error, error.filename or "what this command makes"):
        return str(named)
    if error.filename is not None:
        return f"cannot use {error.filename} ({error.strerror}); check it"
    what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return f"a file or a connection failed ({what}); check the paths given, `demoloom validate` checks a dataset"


def _dispatch(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if arguments[0] == "--version":
        from .. import __version__

        print(f"demoloom {__version__}")
        return 0
    command = find_command(arguments[0])
    return command.module.main(parse_options(command, arguments[1:])) or 0


def refuse_unreadable(arguments: Sequence[str]) -> None:
    """Raise ConfigError if an argument is not UTF-8: neither Parquet nor JSON can hold such a path."""
    for argument in arguments:
        if any("\ud800" <= character <= "\udfff" for character in argument):
            raise ConfigError(f"{argument!a} is not UTF-8; rename it")


def find_command(name: str) -> Command:
    """Return the command of that name.

    Raises:
        ConfigError: there is none; the message suggests the nearest.
    """
    found = {command.name: command for command in COMMANDS}
    if name not in found:
        near = difflib.get_close_matches(name, found, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "`demoloom --help` lists them"
        raise ConfigError(f"no command {name!r}; {hint}")
    return found[name]


def parse_options(command: Command, arguments: Sequence[str]) -> Any:
    """Parse the options of a command; `--preset` and `--run-dir` decide the defaults."""
    import tyro

    module = command.module
    return tyro.cli(
        module.Options,
        args=list(arguments),
        default=module.default_options(_given(arguments)),
        prog=f"demoloom {command.name}",
    )


def _given(arguments: Sequence[str]) -> Given:
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    parser.add_argument("--preset")
    parser.add_argument("--run-dir", type=Path)
    try:
        found, _ = parser.parse_known_args(list(arguments))
    except argparse.ArgumentError:
        # An option without its value: tyro says so in its own words.
        return Given()
    return Given(found.preset, found.run_dir)


def _overview() -> str:
    width = max(len(command.name) for command in COMMANDS)
    lines = [f"  {command.name:<{width}}  {command.summary}" for command in COMMANDS]
    return "\n".join(
        [
            "Make robot demonstrations inside a learned world model, train a policy on them, score it, export it.",
            "",
            "usage: demoloom COMMAND [OPTIONS]",
            "",
            *lines,
            "",
            "`demoloom COMMAND --help` lists a command's options; `demoloom --version` says which version this is.",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
