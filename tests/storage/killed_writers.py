"""Writers that are killed: `killed_writers.py MODE FORMAT FOLDER COUNT` prints what each had committed.

half: one writer, killed with three episodes committed and half of the fourth written.
steps: writer n is killed at its n-th file operation, each in a copy of one store, until one comes to its end.
times: COUNT writers, one after the other in one store, each killed after a random time.
groups: COUNT pairs of writers at once in one store, each pair killed as a process group after a random time.
beside: as times, while another writer goes on to its end.

They are forked, so that a kill costs milliseconds; this process uses no threads before, as forks need.
"""

import json
import os
import random
import shutil
import signal
import sys
import time
from pathlib import Path

import av  # noqa: F401 - imported once, here, not by every writer
import pandas as pd  # type: ignore[import-untyped] # noqa: F401
import zarr  # noqa: F401

from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import numbered_episode, numbered_spec
from demoloom.storage.zarr_store import ZarrStore

SPEC = numbered_spec()
LENGTH = 9
FILE_OPERATIONS = ("open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "shutil.rmtree")


def open_store(kind, path):
    make = ZarrStore.create if kind == "zarr" else LeRobotStore.create
    return make(path, SPEC, exist_ok=True)


def kill_at(number):
    """Kill this process at its n-th file operation from here on."""
    count = 0

    def hook(event, arguments):
        nonlocal count
        if event in FILE_OPERATIONS:
            count += 1
            if count == number:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def forked(write):
    """Run `write(say)` in a child; give its process id and the end of a pipe with what it says, a line each."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        write(lambda index: os.write(write_end, f"{index}\n".encode()))
        os._exit(0)
    os.close(write_end)
    return child, os.fdopen(read_end)


def finished(child, said):
    """What a child said, and whether it came to its end."""
    with said:
        lines = [int(line) for line in said if line.endswith("\n")]
    return lines, os.waitpid(child, 0)[1] == 0


def steps(kind, folder, count):
    start = folder / "start"
    store = open_store(kind, start)
    child, said = forked(lambda say: [store.append(numbered_episode(SPEC, index, LENGTH)) for index in range(2)])
    finished(child, said)
    for number in range(1, 10_000):
        path = folder / f"killed-{number}"
        shutil.copytree(start, path)

        def write(say, path=path, number=number):
            kill_at(number)
            store = open_store(kind, path)
            store.append(numbered_episode(SPEC, 2, LENGTH))
            say(2)
            if kind == "lerobot":
                store.close()

        lines, ended = finished(*forked(write))
        yield {"path": str(path), "committed": [0, 1, *lines]}
        if ended:
            return


def half(kind, folder, count):
    def write(say):
        store = open_store(kind, folder / "store")
        for index in range(3):
            store.append(numbered_episode(SPEC, index, LENGTH))
            say(index)
        fourth = numbered_episode(SPEC, 3, LENGTH)
        recorder = store.record(fourth.id, index=3, seed=fourth.seed, task=fourth.task)
        recorder.write(fourth.rows(0, LENGTH // 2))
        os.kill(os.getpid(), signal.SIGKILL)

    yield {"path": str(folder / "store"), "committed": finished(*forked(write))[0]}


def times(kind, folder, count):
    generator = random.Random(0)
    for number in range(count):
        child, said = forked(append_many(kind, folder / "store", first=number * 1000))
        first = said.readline()
        time.sleep(generator.uniform(0.0, 0.05))
        os.kill(child, signal.SIGKILL)
        lines, _ = finished(child, said)
        yield {"path": str(folder / "store"), "committed": [int(first), *lines]}


def groups(kind, folder, count):
    generator = random.Random(1)
    for number in range(count):
        writers = [append_many(kind, folder / "store", number * 1000 + 500 * half) for half in range(2)]

        def write(say, writers=writers):
            os.setpgid(0, 0)
            if os.fork() == 0:
                writers[1](say)
            writers[0](say)

        child, said = forked(write)
        lines = [int(said.readline()), int(said.readline())]
        time.sleep(generator.uniform(0.0, 0.1))
        os.killpg(child, signal.SIGKILL)
        yield {"path": str(folder / "store"), "committed": lines + finished(child, said)[0]}


def beside(kind, folder, count):
    survivor = forked(append_many(kind, folder / "store", first=500_000, count=5 * count))
    yield from times(kind, folder, count)
    lines, ended = finished(*survivor)
    assert ended
    yield {"path": str(folder / "store"), "committed": lines}


def append_many(kind, path, first, count=500):
    def write(say):
        store = open_store(kind, path)
        for index in range(first, first + count):
            store.append(numbered_episode(SPEC, index, LENGTH, action=ACTION))
            say(index)

    return write


ACTION = numbered_episode(SPEC, 0, LENGTH).action

if __name__ == "__main__":
    mode, kind, folder, count = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    modes = {"half": half, "steps": steps, "times": times, "groups": groups, "beside": beside}
    for line in modes[mode](kind, folder, count):
        print(json.dumps(line), flush=True)
