"""The folder of one run: its manifests, its events, its lineage and its lock."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..storage.atomic import make_folder, write_json
from ..storage.errors import StoreError


class RunFolder:
    """`runs/<id>/`; `path` is absolute, since Ray workers have another working directory."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().resolve()

    def manifest(self, stage: str) -> dict[str, Any] | None:
        """What a finished stage left behind, or None where it has not finished."""
        path = self._manifest_path(stage)
        try:
            return dict(json.loads(path.read_text()))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise StoreError(f"{path} is not valid JSON ({error}); delete it and that stage runs again") from error

    def write_manifest(self, stage: str, manifest: dict[str, Any]) -> None:
        """Declare a stage finished."""
        write_json(self._manifest_path(stage), manifest)

    def drop_manifest(self, stage: str) -> None:
        """Declare a stage unfinished."""
        self._manifest_path(stage).unlink(missing_ok=True)

    def _manifest_path(self, stage: str) -> Path:
        return self.path / "stages" / f"{stage}.json"

    def work(self, stage: str, digest: str) -> Path:
        """Where a stage keeps what a later try goes on from; another config gets another folder."""
        return self.path / "work" / f"{stage}-{digest[:12]}"

    def record(self, **event: Any) -> None:
        """Append one line to `events.jsonl`, stamped with the time in seconds since 1970."""
        make_folder(self.path)
        line = json.dumps({"time": round(time.time(), 3), **event}) + "\n"
        with (self.path / "events.jsonl").open("ab+") as file:
            if file.tell() and _last_byte(file) != b"\n":
                line = f"\n{line}"  # a killed run left half a line
            file.write(line.encode())

    def events(self) -> list[dict[str, Any]]:
        """All that was recorded, oldest first; a line cut short by a crash is left out."""
        path = self.path / "events.jsonl"
        return list(_whole_lines(path.read_text())) if path.exists() else []

    @contextmanager
    def lock(self, file: str = ".lock") -> Iterator[None]:
        """Keep other processes from running stages here, or from what another file stands for.

        Raises:
            StoreError: another process does so already.
        """
        make_folder(self.path)
        with (self.path / file).open("a+") as held:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                held.seek(0)
                raise StoreError(
                    f"process {held.read() or 'unknown'} is running stages in {self.path}; "
                    "wait for it, stop it, or give another --run-dir"
                ) from error
            held.truncate(0)
            held.write(str(os.getpid()))
            held.flush()
            yield


def _last_byte(file: BinaryIO) -> bytes:
    file.seek(-1, os.SEEK_END)
    return file.read(1)


def _whole_lines(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            continue
