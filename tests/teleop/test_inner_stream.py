import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.storage.errors import ConfigError, PluginError
from demoloom.teleop import Idle
from demoloom.teleop.inner_stream import check_arguments, inner_stream

SPEC = CountingWorld(1).episode_spec


def test_an_inner_stream_is_built_by_name_with_its_arguments():
    assert isinstance(inner_stream("mine", "the driver", {"name": "idle", "kwargs": {"park": 0.5}}, SPEC), Idle)
    assert isinstance(inner_stream("mine", "the driver", {"name": "idle"}, SPEC), Idle)


@pytest.mark.parametrize("fields", [{}, {"name": 3}, {"name": "idle", "kwargs": 1}, {"name": "idle", "weight": 1}])
def test_other_fields_are_refused(fields):
    with pytest.raises(ConfigError, match=r"the driver of mine has a name and may have kwargs, got \{"):
        inner_stream("mine", "the driver", fields, SPEC)


def test_arguments_that_a_stream_does_not_take_are_named_with_those_it_does():
    with pytest.raises(ConfigError, match=r"stream 'idle' does not take {'parks': 1} \(.*\); it takes park"):
        check_arguments("idle", {"parks": 1})
    with pytest.raises(ConfigError, match=r"stream 'replay' does not take {} \(missing .*'dataset'\)"):
        check_arguments("replay", {})


def test_an_unknown_stream_suggests_the_nearest_name():
    with pytest.raises(PluginError, match="did you mean 'replay'"):
        inner_stream("mine", "the driver", {"name": "reply"}, SPEC)
