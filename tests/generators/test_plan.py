import json

import pytest

from demoloom.generators import RolloutPlan
from demoloom.storage.errors import ConfigError
from demoloom.storage.plugins import PluginRef


def plan(**changes):
    return RolloutPlan(
        **{
            "stage": "generate",
            "world": PluginRef("worlds", "pusht"),
            "stream": PluginRef("streams", "random"),
            "run_seed": 1,
            "max_steps": 10,
            **changes,
        }
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"run_seed": -1},
        {"max_steps": 0},
        {"num_slots": 0},
        {"success_hold": 0},
        {"min_trust": 1.5},
        {"success_score": -0.5},
    ],
)
def test_a_setting_out_of_range_is_named(changes):
    (name, value), *_ = changes.items()
    with pytest.raises(ConfigError, match=f"{name} .*{value}"):
        plan(**changes)


def test_a_hold_longer_than_the_episode_is_refused():
    with pytest.raises(ConfigError, match="success_hold=11 cannot be met within max_steps=10"):
        plan(success_hold=11)


def test_a_plan_comes_back_from_json():
    original = plan(start_world=PluginRef("worlds", "pusht", {"size": 96}), lineage={"run": "a"})
    assert RolloutPlan.from_dict(json.loads(json.dumps(original.to_dict()))) == original


@pytest.mark.parametrize("changes", [{"run_seed": 2}, {"num_slots": 4}, {"world": PluginRef("worlds", "learned")}])
def test_whatever_changes_the_bytes_changes_the_id(changes):
    assert plan().episode_id(0) != plan(**changes).episode_id(0)


def test_notes_in_the_lineage_do_not_change_the_id():
    assert plan().episode_id(0) == plan(lineage={"run": "b"}).episode_id(0)


def test_a_checkpoint_counts_by_what_it_holds_not_by_where_it_lies(tmp_path):
    ids = []
    for folder, weights in (("a", "1"), ("b", "1"), ("c", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "weights").write_text(weights)
        ids.append(plan(world=PluginRef("worlds", "learned", {"checkpoint": str(tmp_path / folder)})).episode_id(0))
    assert ids[0] == ids[1] != ids[2]
