from __future__ import annotations

import io

import pytest

from demoloom.pipeline.console import PlainLines, show_progress

from .statuses import fleet_status


def test_a_log_gets_a_line_with_count_and_message() -> None:
    log = io.StringIO()
    progress = PlainLines("collect", log, interval_s=0)
    progress(3, 10, "3 episodes")
    progress(7, 0, "")
    assert log.getvalue() == "collect: 3/10 3 episodes\ncollect: 7\n"


def test_a_line_says_how_the_fleet_is_getting_on() -> None:
    log = io.StringIO()
    lines = PlainLines("generate", log, interval_s=0)
    lines(37, 200, "37 of 62 attempts are demonstrations")
    lines.fleet(fleet_status())
    assert log.getvalue().splitlines()[-1] == (
        "generate: 37/200 37 of 62 attempts are demonstrations; "
        "2 workers, 201 frames/s, 9 min 40 s left, 310 MB of episodes, 211 GB free"
    )


def test_a_fleet_that_has_made_nothing_yet_has_a_line_too() -> None:
    log = io.StringIO()
    PlainLines("generate", log, interval_s=0).fleet(fleet_status(1, done=0, eta_s=None, disk_used=0, frames_per_s=0.0))
    assert log.getvalue() == "generate: 0/200; 1 worker, 0 frames/s, 211 GB free\n"


def test_a_log_is_not_flooded() -> None:
    log = io.StringIO()
    lines = PlainLines("collect", log, interval_s=60)
    for step in range(1000):
        lines(step, 1000, "")
        lines.fleet(fleet_status())
    assert log.getvalue() == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar() -> None:
    with show_progress("collect", Terminal()) as progress:
        progress(1, 2, "half way")
        progress(2, 0, "")


def test_a_terminal_shows_the_fleet_below_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    terminal = Terminal()
    with show_progress("generate", terminal) as view:
        view.fleet(fleet_status())
        view(38, 200, "38 of 63 attempts are demonstrations")
    shown = terminal.getvalue()
    for text in (
        "38/200",
        "38 of 63 attempts",
        "9 min 40 s left",
        "worker 0: 100 frames/s",
        "worker 1: 101 frames/s, 11 episodes",
    ):
        assert text in shown


def test_what_libraries_print_does_not_mix_with_results(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("collect", io.StringIO()):
        print("Loading weights from local directory")
    print("report/index.html")
    assert capsys.readouterr().out == "report/index.html\n"
