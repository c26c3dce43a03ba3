import pytest

from demoloom.storage.errors import ConfigError, PluginError
from demoloom.teleop.pusht.task import PUSHT
from demoloom.teleop.task import load_task


@pytest.mark.parametrize("name", ["pusht", "demoloom.teleop.pusht.task:PUSHT"])
def test_a_task_is_found_by_its_name(name):
    assert load_task(name) is PUSHT


def test_a_task_that_is_not_there_is_named():
    with pytest.raises(PluginError, match="did you mean 'pusht'"):
        load_task("pushtt")


def test_what_is_no_task_is_refused():
    with pytest.raises(ConfigError, match=r"'os:getcwd' names a builtin_function_or_method, expected a .*Task"):
        load_task("os:getcwd")
