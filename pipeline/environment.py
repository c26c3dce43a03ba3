"""The environment variables that keep a run offline, quiet and inside its own cache folder."""

import os
from pathlib import Path

from ..storage.cache import cache_folder
from ..storage.errors import StoreError

_SILENT = "CRITICAL"


def prepare_environment() -> None:
    """Set what libraries read when they are imported; whatever the user has set stays as it is.

    To be called before Ray, Prefect, LeRobot or a Hugging Face library is imported.
    """
    for name, value in _defaults(cache_folder()).items():
        os.environ.setdefault(name, value)


def let_runs_log() -> None:
    """Let Prefect log what runs do, as it does unless told otherwise: whoever looks at a server reads it there.

    To be called before Prefect is imported.
    """
    if os.environ.get("PREFECT_LOGGING_LEVEL") == _SILENT:
        os.environ["PREFECT_LOGGING_LEVEL"] = "INFO"


def make_prefect_home() -> None:
    """Make the folder that Prefect keeps its database in; Prefect itself makes no parents and then cannot start.

    To be called before Prefect is imported.

    Raises:
        StoreError: it cannot be made.
    """
    home = Path(os.environ.get("PREFECT_HOME") or cache_folder() / "prefect")
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"Prefect's folder {home} cannot be made ({error.strerror}); set PREFECT_HOME to a folder that can be "
            "written, or run the stages without Prefect by --no-prefect"
        ) from error


def _defaults(cache: Path) -> dict[str, str]:
    return {
        # No hub, no telemetry: a run reads and writes local folders only.
        "HF_HUB_OFFLINE": "1",
        "HF_DATASETS_OFFLINE": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HOME": str(cache / "huggingface"),
        "WANDB_MODE": "disabled",
        "DO_NOT_TRACK": "1",
        "RAY_USAGE_STATS_ENABLED": "0",
        # Otherwise `uv run demoloom` makes each Ray worker build its own environment, which hangs offline.
        "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
        "PREFECT_HOME": str(cache / "prefect"),
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_SERVER_LOGGING_LEVEL": "CRITICAL",
        # A stage that fails is told once, by the command line; Prefect would add a traceback.
        "PREFECT_LOGGING_LEVEL": _SILENT,
        # The default of 20 s is too short for a first start on a busy machine.
        "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    }
