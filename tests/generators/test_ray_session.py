import pytest

from demoloom.generators.fleet import FleetConfig, ray_session
from demoloom.generators.ray_session import _check_reachable
from demoloom.storage.errors import ConfigError


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-port"])
def test_an_address_where_nothing_answers_is_refused_at_once(address):
    with pytest.raises(ConfigError, match=f"no Ray cluster answers at '{address}'"):
        _check_reachable(address)


@pytest.mark.usefixtures("ray_open")
def test_a_session_within_a_session_leaves_the_outer_one_open():
    import ray

    with ray_session(FleetConfig()):
        assert ray.is_initialized()
    assert ray.is_initialized()
