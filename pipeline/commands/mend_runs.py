"""`demoloom mend-runs`: tell a Prefect server of the runs whose process is gone."""

from __future__ import annotations

from dataclasses import dataclass

from ..choices import Given, refuse_preset
from ..environment import make_prefect_home


@dataclass(frozen=True)
class Options:
    """Mark the flow runs crashed that Prefect believes to be running although their process, on this machine, is gone.

    A process that is killed tells nobody; neither does a Prefect worker that is stopped for the runs that it had.
    The server is the one that PREFECT_API_URL names, else that of the runs made here without one.
    """


def default_options(given: Given) -> Options:
    """There is nothing to choose."""
    refuse_preset("mend-runs", given)
    return Options()


def main(options: Options) -> None:
    """Mend, and name what was mended."""
    make_prefect_home()
    from prefect.settings import temporary_settings

    from ..flow import FLOWS, server_settings
    from ..stale_runs import mend_runs

    with temporary_settings(server_settings()):
        names = mend_runs([flow.name for flow in FLOWS])
    print("\n".join(f"{name}: crashed" for name in names) or "every run that goes on has its process")
