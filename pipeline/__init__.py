"""The run as a whole: its stages, the Prefect flow over them, the command line and the report.

`run.run` makes a run in this process, `flow.demoloom` as a Prefect flow.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .presets import RUNS
    from .report import write_report
    from .run_config import RunConfig
    from .run_folder import RunFolder

__all__ = ["RUNS", "RunConfig", "RunFolder", "write_report"]

_MODULES = {"RUNS": "presets", "RunConfig": "run_config", "RunFolder": "run_folder", "write_report": "report"}


def __getattr__(name: str) -> Any:
    # Imported when asked for: the command line imports this package for each `--help`.
    if name in _MODULES:
        return getattr(import_module(f".{_MODULES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
