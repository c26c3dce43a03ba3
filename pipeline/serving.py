"""Runs on a schedule, from one process that stays: no worker, no deployment files, but a Prefect server."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from ..storage.errors import ConfigError

if TYPE_CHECKING:
    from prefect import Flow
    from prefect.schedules import Schedule


@dataclass(frozen=True)
class Timetable:
    """When runs start; neither: when somebody asks for one, in Prefect's pages or by `prefect deployment run`.

    Args:
        cron: a cron expression, `0 22 * * *` for ten each evening.
        interval_s: seconds from one start to the next, instead of a cron expression.
        timezone: of the cron expression, as `Europe/Berlin`.
    """

    cron: str | None = None
    interval_s: float | None = None
    timezone: str = "UTC"

    def __post_init__(self) -> None:
        if self.cron is not None and self.interval_s is not None:
            raise ConfigError(f"runs start by cron={self.cron!r} or each interval_s={self.interval_s:g}; give one")
        if self.interval_s is not None and not self.interval_s >= 1:
            raise ConfigError(f"interval_s must be at least 1, got {self.interval_s:g}")

    def schedule(self) -> Schedule | None:
        """As Prefect knows it.

        Raises:
            ConfigError: the cron expression or the time zone is none.
        """
        from prefect.client.schemas.schedules import CronSchedule
        from prefect.schedules import Cron, Interval

        if self.interval_s is not None:
            return Interval(timedelta(seconds=self.interval_s))
        if self.cron is None:
            return None
        try:
            CronSchedule(cron=self.cron, timezone=self.timezone)
        except ValueError as error:
            raise ConfigError(
                f"no schedule can be made of cron={self.cron!r} and timezone={self.timezone!r}; "
                "give five fields as `0 22 * * *`, and a zone as `Europe/Berlin`"
            ) from error
        return Cron(self.cron, timezone=self.timezone)


def serve(flow: Flow[..., Any], name: str, timetable: Timetable, parameters: Mapping[str, Any]) -> None:
    """Start runs of `flow` at their times, each in a process of its own, until this process is stopped.

    Only one runs at a time: one whose time comes while another still runs is cancelled. Once this process is stopped,
    its schedule is paused, so that no runs pile up.

    Args:
        flow: one that can be imported by the name of its module.
        name: of the deployment.
        timetable: when runs start.
        parameters: of each run, as plain data.

    Raises:
        ConfigError: the timetable cannot be used, or no server is named or answers.
    """
    from prefect.client.schemas.objects import ConcurrencyLimitConfig, ConcurrencyLimitStrategy
    from prefect.settings import PREFECT_API_URL
    from prefect.types.entrypoint import EntrypointType

    from .flow import FLOWS, server_settings
    from .stale_runs import mend_runs

    schedule = timetable.schedule()
    if not PREFECT_API_URL.value():
        raise ConfigError(
            "a schedule needs a Prefect server that stays; start one by `prefect server start` and set PREFECT_API_URL "
            "to where it is, as http://127.0.0.1:4200/api"
        )
    server_settings()
    mend_runs([one.name for one in FLOWS])
    flow.serve(
        name=name,
        schedule=schedule,
        paused=False,  # which it is from the last time it was served
        parameters=dict(parameters),
        global_limit=ConcurrencyLimitConfig(limit=1, collision_strategy=ConcurrencyLimitStrategy.CANCEL_NEW),
        entrypoint_type=EntrypointType.MODULE_PATH,
        print_starting_message=False,
    )
