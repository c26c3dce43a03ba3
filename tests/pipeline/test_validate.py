from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from demoloom.pipeline.cli import main
from demoloom.pipeline.commands.validate import show_table
from demoloom.storage.audit import Finding
from demoloom.storage.zarr_store import ZarrStore

from .runs import dot_episode, write_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    write_store(tmp_path / "d", [dot_episode(0), dot_episode(1, length=9)])
    return tmp_path / "d"


def tear(store: Path) -> None:
    (store / "episodes/dot-000001/zarr.json").write_text("{")


def test_a_clean_dataset_is_exit_code_0_and_says_how_much_was_read(store, capsys):
    assert main(["validate", str(store)]) == 0
    assert "nothing wrong in 2 episodes, 21 rows, 21 frames" in capsys.readouterr().out


def test_an_error_is_exit_code_1_and_a_plain_line_where_there_is_no_terminal(store, capsys):
    tear(store)
    assert main(["validate", str(store)]) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("error: episode 'dot-000001', zarr.json: it is no whole episode")
    assert last.startswith("1 error, 0 warnings (1 of them --repair can mend) in 1 episode,")


def test_no_dataset_is_exit_code_2(tmp_path, capsys):
    assert main(["validate", str(tmp_path)]) == 2
    assert "there is no dataset at" in capsys.readouterr().err


def test_a_repair_says_what_it_did_and_leaves_a_clean_dataset(store, capsys):
    tear(store)
    assert main(["validate", str(store), "--repair"]) == 0
    assert capsys.readouterr().out.startswith("moved episodes/dot-000001 to ")
    assert (store.parent / "quarantine/d/episodes/dot-000001/zarr.json").read_text() == "{"
    assert main(["validate", str(store)]) == 0


def test_the_findings_are_written_as_json(store, tmp_path):
    tear(store)
    main(["validate", str(store), "--json", str(tmp_path / "found.json")])
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["errors"], found["episodes"], found["repaired"]) == (1, 1, [])
    assert found["findings"][0]["episode"] == "dot-000001"
    assert found["findings"][0]["repairable"] is True


def test_warnings_count_only_if_strict(store, capsys):
    ZarrStore.open(store).append(replace(dot_episode(0), id="dot-again"))
    assert [main(["validate", str(store), *strict]) for strict in ([], ["--strict"])] == [0, 1]
    assert "warning: episode 'dot-again', episode: it is the same as episode 'dot-000000'" in capsys.readouterr().out


def test_a_limit_cuts_the_list_and_says_so(store, capsys):
    for name in ("a", "b", "c"):
        (store / "episodes" / name).mkdir()
    main(["validate", str(store), "--limit", "1"])
    assert "... and 2 more; --limit 0 prints all" in capsys.readouterr().out


def test_a_terminal_shows_a_table_in_which_brackets_stay(capsys):
    findings = (Finding(field="top", message="it has shape [3]", episode="run-1"),)
    show_table(findings)
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("severity", "episode", "run-1", "top", "[3]"))


def test_retime_needs_repair(store, capsys):
    assert main(["validate", str(store), "--retime"]) == 2
    assert "which only --repair does; give both" in capsys.readouterr().err
