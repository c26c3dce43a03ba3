from pathlib import Path

import pytest

from demoloom.generators.testing import CountingWorld
from demoloom.storage import ConfigError, PluginRef, SpecMismatch, ZarrStore
from demoloom.storage.testing.numbered import numbered_spec
from demoloom.teleop.axis_map import AxisMap, Binding
from demoloom.teleop.controls import Controls
from demoloom.teleop.devices.in_hand import Grip
from demoloom.teleop.devices.settings import DeviceSettings
from demoloom.teleop.web.opening import open_server
from demoloom.teleop.web.own_device import OwnDevice
from demoloom.teleop.web.rules import Rules
from demoloom.teleop.web.server import about

from .conftest import COUNTING, Onlooker


def test_a_world_is_imagined_unless_it_is_the_reality_of_its_task(make_plan) -> None:
    plan = make_plan()
    assert plan.kind == "imagined"
    assert make_plan(world=plan.task.reality).kind == "reality"


def test_reality_is_offered_beside_a_world_of_the_same_robot_only(make_plan) -> None:
    larger = PluginRef("worlds", COUNTING, {"size": 32})
    offers = [
        open_server(make_plan(world=world), Rules(8765)).offer for world in (PluginRef("worlds", COUNTING), larger)
    ]
    assert [offer.has_reality for offer in offers] == [True, False]
    reality = make_plan().task.reality
    assert not open_server(make_plan(world=reality), Rules(8765)).offer.has_reality


def test_each_session_has_a_world_of_its_own(make_plan) -> None:
    sessions = open_server(make_plan(), Rules(8765)).sessions
    first, second = sessions.make(Onlooker()), sessions.make(Onlooker())
    assert first.drive.world is not second.drive.world


def test_the_first_session_gets_the_device_and_is_moved_by_its_settings(make_plan) -> None:
    class Puck:
        settings = DeviceSettings(axes=AxisMap({"z": Binding("add")}))

        def look(self, axis_map: AxisMap) -> Grip:
            return Grip({}, (), True, "")

    sessions = open_server(make_plan(device=OwnDevice(Puck(), "spacemouse")), Rules(8765)).sessions
    first, second = sessions.make(Onlooker()), sessions.make(Onlooker())
    assert list(first.hands.controls.axis_map.axes) == ["z"]
    assert list(second.hands.controls.axis_map.axes) == ["x"]


def test_a_map_of_the_task_that_does_not_fit_the_world_gives_way_to_the_default(make_plan) -> None:
    from dataclasses import replace

    plan = make_plan()
    task = replace(plan.task, controls=AxisMap({"x": Binding("target_x")}))
    offer = open_server(make_plan(task=task), Rules(8765)).offer
    assert offer.controls.axis_map == Controls(CountingWorld(1).episode_spec).axis_map


def test_starts_of_another_robot_are_refused_before_anybody_comes(make_plan, tmp_path: Path) -> None:
    ZarrStore.create(tmp_path / "starts", numbered_spec())
    with pytest.raises(SpecMismatch, match="not of this world"):
        open_server(make_plan(starts=tmp_path / "starts"), Rules(8765))


def test_a_page_is_told_at_which_tempo_worlds_move(make_plan) -> None:
    assert about(open_server(make_plan(fps=15.0, on_input=True), Rules(8765)))["tempo"] == {
        "fps": 15.0,
        "on_input": True,
    }


@pytest.mark.parametrize("most", [0, 65])
def test_a_number_of_sessions_out_of_range_is_refused(make_plan, most: int) -> None:
    with pytest.raises(ConfigError, match=f"between 1 and 64, got {most}"):
        make_plan(max_sessions=most)
