from __future__ import annotations

import io

import pytest

from demoloom.pipeline.console import plain_progress, show_progress


def test_a_log_gets_a_line_with_count_and_message() -> None:
    log = io.StringIO()
    progress = plain_progress("collect", log, interval_s=0)
    progress(3, 10, "3 episodes")
    progress(7, 0, "")
    assert log.getvalue() == "collect: 3/10 3 episodes\ncollect: 7\n"


def test_a_log_is_not_flooded() -> None:
    log = io.StringIO()
    progress = plain_progress("collect", log, interval_s=60)
    for step in range(1000):
        progress(step, 1000, "")
    assert log.getvalue() == ""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_a_bar() -> None:
    with show_progress("collect", Terminal()) as progress:
        progress(1, 2, "half way")
        progress(2, 0, "")


def test_what_libraries_print_does_not_mix_with_results(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("collect", io.StringIO()):
        print("Loading weights from local directory")
    print("report/index.html")
    assert capsys.readouterr().out == "report/index.html\n"
