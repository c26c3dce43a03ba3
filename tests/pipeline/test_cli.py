from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from demoloom.pipeline.cli import COMMANDS, find_command, main
from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.run_config import save_config
from demoloom.pipeline.run_folder import RunFolder
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import ConfigError

from .runs import dot_episode, finished_run, write_store

HEAVY = ("torch", "ray", "lerobot", "prefect", "zarr", "av", "pyarrow", "gym_pusht", "pandas")


@pytest.mark.parametrize("command", ["", *(command.name for command in COMMANDS)])
def test_help_imports_nothing_heavy(command: str) -> None:
    code = f"""
import sys
from demoloom.pipeline.cli import main
try:
    main({[command, "--help"] if command else ["--help"]!r})
except SystemExit as end:
    assert not end.code, end.code
print("heavy:", *[name for name in {HEAVY!r} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "heavy:"
    assert "usage:" in done.stdout


def test_the_overview_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {command.name} " in shown for command in COMMANDS)


@pytest.mark.parametrize(
    ("command", "named"),
    [("convert", "SOURCE OUT"), ("curate", "SOURCE OUT"), ("merge", "SOURCE"), ("diff", "BEFORE AFTER")],
)
def test_the_usage_says_which_path_is_which(command: str, named: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--help"])
    assert named in capsys.readouterr().out.partition("\n\n")[0]


def test_every_command_has_options_defaults_and_a_main() -> None:
    for command in COMMANDS:
        assert all(hasattr(command.module, name) for name in ("Options", "default_options", "main"))


def test_an_error_of_the_user_is_one_line_and_exit_code_2(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["inspect", str(tmp_path / "nothing")]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("demoloom: there is no dataset at")


@pytest.mark.parametrize(("path", "what"), [("x" * 300, "File name too long"), ("b\udcff", "is not UTF-8")])
@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_a_path_that_cannot_be_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], command: str, path: str, what: str
) -> None:
    assert main([command, path]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert what in line


def test_an_unknown_command_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match="no command 'trian-world'; did you mean 'train-world'"):
        find_command("trian-world")


def test_an_unknown_preset_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "--preset", "tinny"]) == 2
    assert capsys.readouterr().err == "demoloom: no preset 'tinny'; did you mean 'tiny'?\n"


def test_a_preset_is_refused_where_there_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins", "--preset", "tiny"]) == 2
    assert "has no presets" in capsys.readouterr().err


def test_a_setting_out_of_range_is_named_with_its_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["generate", "--num-demonstrations", "0"]) == 2
    assert capsys.readouterr().err == "demoloom: num_demonstrations must be at least 1, got 0\n"


def test_ctrl_c_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(options: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(find_command("plugins").module, "main", interrupted)
    assert main(["plugins"]) == 130
    assert "the same command goes on from what was finished or begins again" in capsys.readouterr().err


def test_sigterm_is_taken_as_ctrl_c(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(find_command("plugins").module, "main", lambda options: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    try:
        assert main(["plugins"]) == 130
    finally:
        signal.signal(signal.SIGTERM, before)
    assert "the same command goes on from what was finished or begins again" in capsys.readouterr().err


def test_plugins_lists_what_is_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plugins"]) == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines()]
    assert ["worlds", "pusht"] in lines
    assert ["tasks", "pusht"] in lines


def test_inspect_prints_a_line_for_each_episode_and_the_totals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = dot_episode(1, outcome="failure", reason="not solved within 12 steps")
    write_store(tmp_path / "store", [dot_episode(0), failed])
    assert main(["inspect", str(tmp_path / "store")]) == 0
    shown = capsys.readouterr().out
    assert "dot-000001" in shown
    assert "not solved within 12 steps" in shown
    assert shown.splitlines()[-1] == "2 episodes, 24 steps: 1 success, 1 failure"


def test_inspect_says_how_many_it_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_store(tmp_path / "store", [dot_episode(index) for index in range(3)])
    assert main(["inspect", str(tmp_path / "store"), "--episodes", "1"]) == 0
    assert "... and 2 more" in capsys.readouterr().out


def test_inspect_writes_a_page_and_recordings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rerun", reason="rerun-sdk is not installed")
    write_store(tmp_path / "store", [dot_episode(index) for index in range(3)])
    page, recordings = tmp_path / "page.html", tmp_path / "rrd"
    given = ["--episodes", "2", "--html", str(page), "--rrd", str(recordings)]
    assert main(["inspect", str(tmp_path / "store"), *given]) == 0
    assert page.read_text().count("<video") == 2
    assert sorted(file.name for file in recordings.iterdir()) == ["dot-000000.rrd", "dot-000002.rrd"]
    assert f"wrote 2 recordings to {recordings}" in capsys.readouterr().err


def test_convert_writes_the_same_episodes(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0)])
    assert main(["convert", str(tmp_path / "store"), str(tmp_path / "copy"), "--format", "zarr"]) == 0
    assert open_dataset(tmp_path / "copy").read("dot-000000").action.tobytes() == dot_episode(0).action.tobytes()


def test_report_is_written_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = finished_run(tmp_path / "run")
    assert main(["report", str(folder.path)]) == 0
    assert Path(capsys.readouterr().out.strip()).is_file()


def test_report_of_no_run_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "is no run folder" in capsys.readouterr().err


def test_a_stage_refuses_to_write_over_something(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "policy").mkdir()
    (tmp_path / "policy" / "weights").write_text("mine")
    assert main(["train-policy", "--out", str(tmp_path / "policy")]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "policy" / "weights").read_text() == "mine"


def test_a_run_folder_in_use_keeps_its_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = RunFolder(tmp_path / "run")
    save_config(folder, RUNS["tiny"])
    kept = (folder.path / "config.json").read_bytes()
    with folder.lock():
        assert main(["run", "--preset", "smoke", "--run-dir", str(folder.path)]) == 2
    assert "is running stages in" in capsys.readouterr().err
    assert (folder.path / "config.json").read_bytes() == kept


@pytest.mark.parametrize("below", ["file", "file/run"])
def test_a_run_folder_that_cannot_be_made_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], below: str
) -> None:
    (tmp_path / "file").write_text("mine")
    assert main(["run", "--preset", "smoke", "--run-dir", str(tmp_path / below)]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("demoloom: cannot make the folder")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_is_one_line_whoever_writes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/disk/events.jsonl")

    monkeypatch.setattr(find_command("plugins").module, "main", fill)
    assert main(["plugins"]) == 2
    assert capsys.readouterr().err.startswith("demoloom: no space left on the disk for /disk/events.jsonl; free some")


@pytest.mark.parametrize(
    ("error", "what"),
    [
        (OSError("Unable to open file"), "OSError: Unable to open file"),
        (OSError(errno.EIO, "Input/output error"), "Input/output error"),
        (TimeoutError(), "TimeoutError"),
    ],
)
def test_what_a_library_could_not_read_is_one_line_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: OSError, what: str
) -> None:
    def fail(options: object) -> None:
        raise error

    monkeypatch.setattr(find_command("plugins").module, "main", fail)
    assert main(["plugins"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("demoloom: a file or a connection failed (")
    assert what in line


def test_a_command_that_is_refused_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "--policy", str(tmp_path / "nothing"), "--out", str(tmp_path / "export")]) == 2
    assert "is no complete policy folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_has_seen_enough_ends_a_command_without_a_complaint() -> None:
    code = "import sys; from demoloom.pipeline.cli import main; sys.exit(main(['validate', '--help']))"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout is not None
        command.stdout.close()
        assert command.stderr is not None
        assert command.stderr.read() == b""
    assert command.returncode == 128 + signal.SIGPIPE
