from typing import Any

import pytest

from demoloom.generators.fleet import FleetConfig
from demoloom.storage.errors import ConfigError


@pytest.mark.parametrize("name", ["num_workers", "timeout_s", "max_failures_in_a_row", "max_tries", "max_deaths"])
def test_a_number_out_of_range_is_named(name: str):
    zero: dict[str, Any] = {name: 0}
    with pytest.raises(ConfigError, match=f"{name} of a fleet must be .* got 0"):
        FleetConfig(**zero)


def test_a_timeout_that_is_no_number_is_refused():
    with pytest.raises(ConfigError, match="timeout_s of a fleet must be more than 0, got nan"):
        FleetConfig(timeout_s=float("nan"))
