"""Whether the figures of a fleet really come to where Prometheus collects them."""

import dataclasses
import time
import urllib.request
from importlib.util import find_spec

import pytest

from demoloom.generators.fleet.ray_metrics import COUNTERS, GAUGES, WORKER_GAUGE, RayMetrics
from demoloom.generators.fleet.watch import FleetStatus, WorkerStatus

STATUS = FleetStatus(
    seconds=10.0,
    done=3,
    total=8,
    num_attempts=5,
    num_demonstrations=4,
    num_frames=600,
    frames_per_s=60.0,
    eta_s=16.7,
    disk_used=1000,
    disk_free=10**9,
    num_lost=1,
    num_redone=2,
    num_ready=1,
    workers=(WorkerStatus(0, 5, 600, 60.0),),
)


def test_every_figure_is_a_field_of_the_status():
    fields = {field.name for field in dataclasses.fields(FleetStatus)}
    assert {*GAUGES.values(), *COUNTERS.values()} == fields - {"seconds", "workers"}


@pytest.mark.usefixtures("ray_open")
@pytest.mark.skipif(
    not (find_spec("opencensus") and find_spec("aiohttp_cors")), reason="Ray's metrics agent needs ray[default]"
)
def test_prometheus_finds_each_figure_at_the_port_that_ray_names():
    import ray

    told = RayMetrics("night", "generate")
    told.fleet(STATUS)
    told.fleet(dataclasses.replace(STATUS, num_frames=900, eta_s=None))
    url = f"http://127.0.0.1:{ray.nodes()[0]['MetricsExportPort']}/metrics"
    lines = _lines_of(url, WORKER_GAUGE)
    assert _value(lines, "demoloom_done") == 3
    assert _value(lines, "demoloom_frames_total") == 900
    assert _value(lines, "demoloom_workers_lost_total") == 1
    assert _value(lines, WORKER_GAUGE) == 60
    assert all('run="night"' in line and 'stage="generate"' in line for line in lines)


def _lines_of(url, last, patience_s=60):
    """The samples called demoloom_... once there is one called `last`."""
    until = time.monotonic() + patience_s
    while time.monotonic() < until:
        with urllib.request.urlopen(url, timeout=5) as answer:
            lines = [line for line in answer.read().decode().splitlines() if line.startswith("ray_demoloom_")]
        if any(last in line for line in lines):
            return lines
        time.sleep(1)
    raise AssertionError(f"no {last} at {url} within {patience_s} s")


def _value(lines, name):
    return float(next(line for line in lines if line.startswith(f"ray_{name}{{")).rpartition(" ")[2])
