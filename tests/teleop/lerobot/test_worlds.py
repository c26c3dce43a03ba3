from pathlib import Path

import pytest

from demoloom.generators.learned.bundled import world_folder
from demoloom.storage.errors import CheckpointError, PluginError
from demoloom.teleop.lerobot.worlds import open_world, world_ref, world_spec


def test_a_world_that_comes_along_is_found_by_name_and_by_folder():
    folder = str(world_folder("pusht").resolve())
    by_name, by_folder = (Path(world_ref(name).kwargs["checkpoint"]) for name in ("pusht", folder))
    assert by_name.samefile(by_folder)


def test_reality_is_that_of_a_task(site):
    assert world_ref("reality:pusht").name == "pusht"
    assert open_world("reality:counting_task:COUNTING", num_envs=2).num_envs == 2


def test_what_a_world_shows_is_known_without_its_networks_and_holds_no_labels():
    learned, reality = world_spec("pusht"), world_spec("reality:pusht")
    assert learned == reality
    assert dict(learned.labels) == {}


def test_a_world_that_is_not_there_is_named_with_what_could_be_given():
    with pytest.raises(CheckpointError, match=r"no world at .*nowhere; give the folder of a world checkpoint, .*pusht"):
        world_ref("nowhere")
    with pytest.raises(PluginError, match="did you mean 'pusht'"):
        world_ref("reality:pushd")
