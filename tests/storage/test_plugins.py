import pytest

from demoloom.storage.errors import PluginError
from demoloom.storage.plugins import PluginRef, load_plugin


def test_a_registered_name_is_loaded_and_built():
    world = PluginRef("worlds", "pusht", {"size": 32}).build(num_envs=1)
    assert world.episode_spec.cameras[0].height == 32


def test_a_misspelt_name_suggests_the_nearest():
    with pytest.raises(PluginError, match=r"no plug-in 'pushd' .* did you mean 'pusht'"):
        load_plugin("worlds", "pushd")


def test_a_name_with_a_colon_is_imported_from_there():
    assert load_plugin("tasks", "fractions:Fraction")(1, 2) == 0.5


@pytest.mark.parametrize("name", ["no_such_module:Thing", "fractions:NoSuchThing", ":Fraction"])
def test_what_cannot_be_imported_is_named_with_the_form_expected(name):
    with pytest.raises(PluginError, match=f"cannot load '{name}' .*package.module:attribute"):
        load_plugin("worlds", name)


def test_a_package_that_python_does_not_find_is_told_of_pythonpath():
    with pytest.raises(PluginError, match="installed or whose parent folder is in PYTHONPATH"):
        load_plugin("tasks", "no_such_module:TASK")


def test_a_member_of_a_registered_family_is_called_with_its_name_first():
    found = load_plugin("streams", "idle:member")
    assert (found.func, found.args) == (load_plugin("streams", "idle"), ("member",))


def test_what_is_registered_and_cannot_be_called_is_no_family():
    with pytest.raises(PluginError, match="cannot load 'pusht:TASK'"):
        load_plugin("tasks", "pusht:TASK")
