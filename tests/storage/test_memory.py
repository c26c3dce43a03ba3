"""Memory does not grow with an episode's length: peaks of processes that record and read 2,000 and 10,000 rows."""

import subprocess
import sys

import pytest

RECORD_AND_READ = """
import sys
from dataclasses import replace
from pathlib import Path
import numpy as np
from demoloom.storage import Camera, open_dataset
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import numbered_episode, numbered_spec
from demoloom.storage.zarr_store import ZarrStore

kind, path, length = sys.argv[1], sys.argv[2], int(sys.argv[3])
cameras = tuple(Camera(name, 40, 40) for name in ("top", "left", "right"))
spec = replace(numbered_spec(), cameras=cameras)
block = replace(numbered_episode(spec, 0, 100), score=np.zeros(100, np.float32))
store = {"zarr": ZarrStore, "lerobot": LeRobotStore}[kind].create(path, spec)
with store.record("long", index=0, seed=0, task="") as recorder:
    for _ in range(length // 100):
        recorder.write(block)
    recorder.commit("success")
reader = open_dataset(path)
assert sum(len(reader.rows("long", start, start + 100)) for start in range(0, length, 100)) == length
status = Path("/proc/self/status").read_text().split()
print(status[status.index("VmHWM:") + 1])
"""


def peak_mib(kind, path, length):
    command = [sys.executable, "-c", RECORD_AND_READ, kind, path, str(length)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
def test_an_episode_of_ten_thousand_rows_takes_the_memory_of_a_short_one(tmp_path, kind):
    short = peak_mib(kind, tmp_path / "short", 2000)
    long = peak_mib(kind, tmp_path / "long", 10_000)
    # The frames of 8,000 rows more are 110 MiB.
    assert long - short < 30
