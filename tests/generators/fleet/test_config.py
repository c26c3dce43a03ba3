from typing import Any

import pytest

from demoloom.generators.fleet import FleetConfig
from demoloom.storage.errors import ConfigError


@pytest.mark.parametrize(
    "name", ["num_workers", "timeout_s", "num_cpus", "max_failures_in_a_row", "max_tries", "max_deaths"]
)
def test_a_number_out_of_range_is_named(name: str):
    zero: dict[str, Any] = {name: 0}
    with pytest.raises(ConfigError, match=f"{name} of a fleet must be .* got 0"):
        FleetConfig(**zero)


def test_a_timeout_that_is_no_number_is_refused():
    with pytest.raises(ConfigError, match="timeout_s of a fleet must be more than 0, got nan"):
        FleetConfig(timeout_s=float("nan"))


@pytest.mark.parametrize("wrong", [{"num_gpus": 1.5}, {"num_gpus": -1.0}, {"resources": {"num_gpus": 2.5}}])
def test_a_resource_that_ray_cannot_split_so_is_refused(wrong: dict[str, Any]):
    with pytest.raises(ConfigError, match="num_gpus of a worker must be a fraction of 1 or a whole number, got"):
        FleetConfig(**wrong)


def test_a_grace_below_zero_is_refused():
    with pytest.raises(ConfigError, match="grace_s of a fleet must be at least 0, got -1"):
        FleetConfig(grace_s=-1)


def test_what_a_worker_needs_has_rays_names():
    needs = FleetConfig(num_cpus=2, num_gpus=0.5, resources={"robot": 1}).needs
    assert needs == {"CPU": 2, "GPU": 0.5, "robot": 1}
