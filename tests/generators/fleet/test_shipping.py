from pathlib import Path

import pytest

import demoloom
from demoloom.generators.fleet.shipping import runtime_env
from demoloom.storage.errors import ConfigError


def test_with_the_code_of_a_package_goes_the_list_of_its_plug_ins():
    sent = runtime_env(["demoloom"])
    assert sent is not None
    code, metadata = map(Path, sent["py_modules"])
    assert code == Path(demoloom.__file__).parent
    assert "demoloom.worlds" in (metadata / "entry_points.txt").read_text()


def test_code_that_no_distribution_installed_goes_alone(tmp_path, monkeypatch):
    (tmp_path / "my_robot").mkdir()
    (tmp_path / "my_robot" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    sent = runtime_env(["my_robot"])
    assert sent is not None
    assert sent["py_modules"] == [str(tmp_path / "my_robot")]


def test_nothing_to_ship_is_no_environment():
    assert runtime_env([]) is None


@pytest.mark.parametrize("name", ["no_such_robot", "my-robot", "socket"])
def test_what_is_no_package_here_is_refused_by_name(name):
    with pytest.raises(ConfigError, match=f"there is no package '{name}' to ship"):
        runtime_env([name])
