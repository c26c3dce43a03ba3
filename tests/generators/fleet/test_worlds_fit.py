import pytest

from demoloom.generators.fleet import run_episodes
from demoloom.generators.fleet.worlds_fit import refuse_foreign_starts
from demoloom.generators.testing import CountingWorld
from demoloom.storage.errors import SpecMismatch
from demoloom.storage.plugins import PluginRef


class OtherCounter(CountingWorld):
    """Counts with a camera of another size and actions of another name."""

    def __init__(self, num_envs):
        super().__init__(num_envs, size=24)
        from dataclasses import replace

        from demoloom.storage.spec import Vector

        self.episode_spec = replace(self.episode_spec, action=Vector(("push",), (-1.0,), (1.0,)), robot_type="other")


def test_starts_of_another_robot_are_refused_before_any_worker_with_all_that_differs(
    counting_plan, tmp_path, monkeypatch
):
    monkeypatch.setattr("demoloom.generators.testing.OtherCounter", OtherCounter, raising=False)
    plan = counting_plan(start_world=PluginRef("worlds", "demoloom.generators.testing:OtherCounter"))
    with pytest.raises(
        SpecMismatch, match=r"cameras are top 16x16 here and top 24x24 there; action is add here and pu"
    ):
        run_episodes(plan, range(2), tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_starts_of_the_same_robot_fit(counting_plan):
    world = PluginRef("worlds", "demoloom.generators.testing:CountingWorld", {"goal": 3})
    refuse_foreign_starts(counting_plan(start_world=world))


def test_a_world_with_starts_of_its_own_is_not_even_built(counting_plan):
    refuse_foreign_starts(counting_plan(world=PluginRef("worlds", "no-such-world")))
