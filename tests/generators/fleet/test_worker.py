import pytest

from demoloom.generators.fleet.worker import Worker, WorkerShell, failed
from demoloom.generators.testing import CountingWorld, FaultyWorld, RandomCounts
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import DemoloomError, FleetError, PluginError, StoreError
from demoloom.storage.plugins import PluginRef


def made(result):
    """What a shell made; fails if it met an error that concerns all episodes."""
    assert isinstance(result, list), result
    return result


def test_what_it_makes_is_stored_and_summarised(counting_plan, tmp_path):
    summaries = Worker(counting_plan(), tmp_path / "store", 3).run([2, 0, 1])
    assert sorted(summary.index for summary in summaries) == [0, 1, 2]
    assert open_dataset(tmp_path / "store").summaries() == sorted(summaries, key=lambda summary: summary.index)


def test_only_the_episode_at_fault_is_lost(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "raise", "seeds": [counting_plan().episode_seed(3)]})
    summaries = {summary.index: summary for summary in Worker(plan, tmp_path / "store", 3).run(range(6))}
    assert summaries[3].outcome == "error"
    assert summaries[3].reason == "RuntimeError: the counter broke at step 3"
    assert sorted(summaries) == list(range(6))
    assert [summary.index for summary in open_dataset(tmp_path / "store").summaries()] == [0, 1, 2, 4, 5]


def test_a_world_that_has_raised_is_not_used_again(counting_plan, tmp_path, monkeypatch):
    step = FaultyWorld.step

    def step_until_ruined(world, actions):
        if hasattr(world, "ruined"):
            raise RuntimeError("ruined")
        world.ruined = True
        result = step(world, actions)
        del world.ruined
        return result

    monkeypatch.setattr(FaultyWorld, "step", step_until_ruined)
    plan = counting_plan(fault={"fault": "raise", "seeds": [counting_plan().episode_seed(1)]})
    outcomes = [summary.outcome for summary in Worker(plan, tmp_path / "store", 3).run(range(6))]
    assert outcomes.count("error") == 1
    assert len(open_dataset(tmp_path / "store")) == 5


def test_what_fails_before_any_episode_is_blamed_on_none(counting_plan, tmp_path, monkeypatch):
    def nameless(world):
        raise RuntimeError("no name")

    worker = Worker(counting_plan(), tmp_path / "store", 3)
    monkeypatch.setattr(CountingWorld, "identity", nameless)
    with pytest.raises(RuntimeError, match="no name"):
        worker.run(range(3))


def test_it_stops_after_so_many_failures_in_a_row(counting_plan, tmp_path):
    summaries = Worker(counting_plan(fault={"fault": "raise"}), tmp_path / "store", 3).run(range(10))
    assert [(summary.index, summary.outcome) for summary in summaries] == [(i, "error") for i in range(3)]


def test_an_error_that_concerns_all_episodes_is_not_blamed_on_one(counting_plan, tmp_path):
    plan = counting_plan()
    Worker(plan, tmp_path / "store", 3).run([0])
    other = Worker(plan, tmp_path / "store", 3)
    other._stream = RandomCounts(other._world.episode_spec, low=0.5)
    with pytest.raises(StoreError, match="other content"):
        other.run([0])


def test_in_an_actor_such_an_error_is_a_value(counting_plan, tmp_path):
    plan = counting_plan(stream=PluginRef("streams", "no-such-stream"))
    result = WorkerShell([plan], tmp_path / "store", 3).run(1, 0, [0])
    assert isinstance(result, PluginError)
    assert isinstance(result, DemoloomError)


def test_a_world_that_cannot_be_made_is_named_with_its_error(counting_plan, tmp_path):
    plan = counting_plan(world=PluginRef("worlds", "fractions:Fraction"))
    result = WorkerShell([plan], tmp_path / "store", 3).run(1, 0, [0])
    assert isinstance(result, FleetError)
    assert "could not make its world and stream (TypeError" in str(result)


def test_a_failed_episode_is_no_demonstration_and_says_why(counting_plan):
    summary = failed(counting_plan(), 5, "RuntimeError: broke")
    assert (summary.index, summary.outcome, summary.reason) == (5, "error", "RuntimeError: broke")
    assert not summary.is_demonstration


def test_more_is_made_beside_its_own_and_only_its_own_is_summarised(counting_plan, tmp_path):
    more = iter([7, None, 8, 9, None, None, None])
    summaries = Worker(counting_plan(), tmp_path / "store", 3).run([0, 1, 2], lambda: next(more, None))
    assert sorted(summary.index for summary in summaries) == [0, 1, 2]
    assert {summary.index for summary in open_dataset(tmp_path / "store").summaries()} == {0, 1, 2, 7, 8, 9}


def test_a_failure_is_told_of_before_more_is_begun(counting_plan, tmp_path):
    plan = counting_plan(fault={"fault": "raise", "seeds": [counting_plan().episode_seed(4)]})
    more = iter([4, 5, 6, 7, 8, 9])
    summaries = Worker(plan, tmp_path / "store", 3).run([0, 1], lambda: next(more, None))
    assert {summary.index: summary.outcome for summary in summaries if summary.index > 1} == {4: "error"}
    assert next(more) < 9


def test_a_call_that_waits_is_begun_in_the_one_before_it(counting_plan, tmp_path):
    shell = WorkerShell([counting_plan()], tmp_path / "store", 3)
    shell.announce(2, [3, 4])
    assert [summary.index for summary in made(shell.run(1, 0, [0, 1]))] == [0, 1]
    assert len(open_dataset(tmp_path / "store")) == 4
    assert shell.run(2, 0, [3, 4]) == []


def test_once_it_is_to_end_no_later_call_begins_an_episode(counting_plan, tmp_path):
    shell = WorkerShell([counting_plan()], tmp_path / "store", 3)
    assert [summary.index for summary in made(shell.run(1, 0, [0]))] == [0]
    shell.end()
    assert shell.run(2, 0, range(5, 9)) == []
