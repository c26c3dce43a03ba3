"""Ray, opened and closed: the only place that knows how it must be started."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from typing import Any

from ...storage.atomic import sweep
from ...storage.errors import ConfigError, FleetError
from .config import FleetConfig
from .shipping import runtime_env

_OBJECT_STORE_BYTES = 200 * 2**20  # only summaries travel through it
_CONNECT_TIMEOUT_S = 3.0
_FOLDER_PREFIX = "dloom-"
_LONGEST_TEMPORARY_ROOT = 31  # characters; Ray adds about 70, and a socket's path may have 107

# Ray reads these while it is imported.
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # Otherwise `uv run` makes each worker build its own environment anew, which hangs without a network.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # Ray 2.60 announces a change of its handling of num_gpus=0; this is the behaviour to come.
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Ray's own default of 15 starves workers beside anything else that computes; a user's `nice` still counts.
    "RAY_worker_niceness": "0",
}


@contextmanager
def ray_session(config: FleetConfig) -> Iterator[None]:
    """Keep Ray open while the block runs; within another session this does nothing.

    Raises:
        ConfigError: nothing answers at the address, or a package to ship is not there.
        FleetError: the cluster is too small for the workers, or cannot be joined.
    """
    _set_environment()
    import ray

    if ray.is_initialized():
        yield
        return
    address = config.address or os.environ.get("RAY_ADDRESS")
    with _session_folder() as folder:
        try:
            if address:
                _join(ray, address, config)
            else:
                _start(ray, config, folder)
            _check_room(ray.cluster_resources(), config)
            with _interrupt_on_sigterm():
                yield
        finally:
            ray.shutdown()


@contextmanager
def _session_folder() -> Iterator[str]:
    """A folder for one session, locked meanwhile; those that killed drivers left are deleted first."""
    root = _short_root()
    sweep(Path(root), _FOLDER_PREFIX)
    folder = tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=root)
    lock = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    finally:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)


def _set_environment() -> None:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    if "ray" not in sys.modules:
        # Left unset, a cluster asks for a token that a driver with an address does not send. A driver that has imported
        # Ray already goes on without one, and so must the processes it starts.
        os.environ.setdefault("RAY_AUTH_MODE", "token")


def _start(ray: Any, config: FleetConfig, folder: str) -> None:
    ray.init(
        address="local",
        num_cpus=max(ceil(config.num_workers * config.num_cpus), os.cpu_count() or 1),
        include_dashboard=False,
        object_store_memory=_OBJECT_STORE_BYTES,
        log_to_driver=False,
        logging_level="ERROR",
        _temp_dir=folder,
    )


def _join(ray: Any, address: str, config: FleetConfig) -> None:
    if address != "auto":
        _check_reachable(address)
    sent = runtime_env(config.ship)
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", runtime_env=sent)
    except (ConnectionError, RuntimeError) as error:
        raise FleetError(f"the Ray cluster at {address} cannot be joined: {error}") from error


def _check_reachable(address: str) -> None:
    """Ray itself tries a wrong address for more than five minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_CONNECT_TIMEOUT_S).close()
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"no Ray cluster answers at {address!r} ({error}); give host:port of its head node, or no address to "
            "start one on this machine"
        ) from error


def _check_room(there: Mapping[str, float], config: FleetConfig) -> None:
    """Ray would wait for ever for what no node has."""
    for name, amount in config.needs.items():
        needed = amount * config.num_workers
        if there.get(name, 0) < needed:
            raise FleetError(
                f"the Ray cluster has {there.get(name, 0):g} {name} and {config.num_workers} workers need {needed:g}; "
                "lower num_workers or what each of them needs"
            )


def _short_root() -> str:
    root = tempfile.gettempdir()
    return root if len(root) <= _LONGEST_TEMPORARY_ROOT else "/tmp"


@contextmanager
def _interrupt_on_sigterm() -> Iterator[None]:
    """Let SIGTERM end the block like Ctrl-C does, for as long as the clean-up takes.

    Ray installs a handler that aborts the process three seconds after the signal (ray issue 64830).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: Any) -> None:
        signal.alarm(0)
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)
