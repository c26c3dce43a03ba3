from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from .services import answers, wait_until

pytestmark = pytest.mark.slow

OWNER = "import time; from demoloom.pipeline.private_server import private_server; {}; time.sleep(600)"


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM])
def test_the_server_ends_with_its_process_however_that_ends(ending: signal.Signals, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", OWNER.format("print(private_server(), flush=True)")],
        env={**os.environ, "PREFECT_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    url = process.stdout.readline().strip()
    assert answers(url)
    process.send_signal(ending)
    process.communicate()
    wait_until(lambda: not answers(url), timeout_s=30)


def test_a_server_that_cannot_start_is_one_sentence_with_the_way_round(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    code = (
        "from demoloom.pipeline.private_server import private_server\n"
        "from demoloom.storage.errors import ConfigError\n"
        "try: private_server()\n"
        "except ConfigError as error: print(error)"
    )
    environment = {**os.environ, "PREFECT_API_DATABASE_CONNECTION_URL": f"sqlite+aiosqlite:///{tmp_path}/file/x.db"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert "private server did not start (it ended with code" in done.stdout
    assert done.stdout.rstrip().endswith("--no-prefect")
