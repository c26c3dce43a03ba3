"""`demoloom teleop` as a process of its own, stopped and killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.sync.client import connect

from demoloom.storage import open_dataset
from demoloom.storage.audit import audit

from .conversation import ask, heard, keep_a_take


@pytest.fixture
def start(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], str, Path]]:
    """The command, driving physics; its address, and the folder of its takes."""
    out = tmp_path / "takes"
    arguments = ["teleop", "--world", "reality", "--no-browser", "--port", "0", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "demoloom.pipeline.cli", *arguments], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    with process, process.stderr:
        said = next(line for line in process.stderr if "open http" in line)
        found = re.search(r"http://(localhost:\d+)/", said)
        assert found is not None
        yield process, found[1], out
        process.kill()


def test_a_killed_server_loses_the_take_in_progress_and_nothing_else(
    start: tuple[subprocess.Popen[str], str, Path],
) -> None:
    process, host, out = start
    with connect(f"ws://{host}/drive", origin=f"http://{host}", compression=None, proxy=None) as socket:  # type: ignore[arg-type]
        heard(socket, "welcome")
        for first_id in (0, 100):
            keep_a_take(socket, 3, first_id)
        assert ask(socket, 990, "record") is None
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    takes = open_dataset(out.with_name("takes-rejected"))
    assert [len(takes.read(id)) for id in takes.ids()] == [3, 3]
    assert audit(takes.path).findings == ()


def test_a_server_that_is_told_to_stop_says_what_was_kept_and_leaves_whole_datasets(
    start: tuple[subprocess.Popen[str], str, Path],
) -> None:
    process, host, out = start
    with connect(f"ws://{host}/drive", origin=f"http://{host}", compression=None, proxy=None) as socket:  # type: ignore[arg-type]
        heard(socket, "welcome")
        keep_a_take(socket, 3)
        begun = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.stderr is not None
        assert "1 take in" in process.stderr.read()
        process.wait()
    assert time.monotonic() - begun < 20
    assert not out.exists()
    assert len(open_dataset(out.with_name("takes-rejected"))) == 1
