"""Drivers of a fleet in a process of their own, which a test stops."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from functools import partial


def started(command: Sequence[str]) -> subprocess.Popen[str]:
    """A process with its own Ray that has made its first episodes of 400, and is far from done."""
    # Tests that a shell runs in the background are deaf to Ctrl-C, and so would this be.
    hearing = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, preexec_fn=hearing
    )
    assert process.stdout is not None
    assert "of 400 episodes" in process.stdout.readline()
    return process
