"""docs/streams.md names the streams, the settings and the defaults that there are."""

from __future__ import annotations

import inspect
import json
import re
import shlex
from pathlib import Path

import pytest

from demoloom.generators.learned.bundled import world_folder
from demoloom.pipeline.commands.record import parse_settings
from demoloom.pipeline.stages.streams import make_stream
from demoloom.storage.plugins import load_plugin
from demoloom.teleop.inner_stream import check_arguments

PAGE = (Path(__file__).parents[2] / "docs" / "streams.md").read_text()
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))


def rows(title: str) -> list[list[str]]:
    """The cells of the settings' table of a section, without its head."""
    table = re.findall(r"^\| (`.*) \|$", SECTIONS[title], re.MULTILINE)
    return [[cell.strip() for cell in row.split("|")] for row in table]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("replay", "replay"),
        ("perturb", "perturb"),
        ("retarget", "retarget"),
        ("intervene and dagger", "intervene"),
        ("intervene and dagger", "dagger"),
    ],
)
def test_every_setting_is_there_with_its_default(title: str, name: str) -> None:
    takes = inspect.signature(load_plugin("streams", name)).parameters
    told = {each: default for names, default, _ in rows(title) for each in re.findall(r"`(\w+)`", names)}
    assert set(told) == set(takes) - {"spec"}
    numbers = {each: json.loads(default) for each, default in told.items() if re.match(r"[\d\[]", default)}
    assert numbers == {
        each: list(value) if isinstance(value := takes[each].default, tuple) else value for each in numbers
    }


def commands() -> list[list[str]]:
    """The words of each example that names its settings."""
    lines = "\n".join(re.findall(r"```bash\n(.*?)```", PAGE, re.DOTALL)).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True) for line in lines if line and "=value" not in line]


@pytest.mark.parametrize("words", commands(), ids=lambda words: " ".join(words[1:4]))
def test_every_example_names_a_stream_that_takes_these_settings(words: list[str]) -> None:
    name = words[words.index("--stream") + 1]
    begin = words.index("--settings") + 1
    end = next((place for place in range(begin, len(words)) if words[place].startswith("--")), len(words))
    settings = parse_settings(tuple(words[begin:end]))
    if words[1] == "generate":
        make_stream(name, settings, "pusht", world_folder("pusht"))
    else:
        check_arguments(name, settings)
