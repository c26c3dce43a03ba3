import dataclasses

import numpy as np
import pytest

from demoloom.generators import RolloutPlan, episode_seed, rollout
from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.rollout import recorded_spec
from demoloom.generators.testing import CountingWorld, FaultyWorld, RandomCounts
from demoloom.storage.convert import convert
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import ConfigError
from demoloom.storage.plugins import PluginRef
from demoloom.storage.validation import validate_episode
from demoloom.storage.zarr_store import ZarrStore


class Steady:
    """Always the same actions, but for one spike; finished after `length` of them."""

    def __init__(self, action, spike_at=None, spike=None, length=None):
        self.action, self.spike_at, self.spike, self.length = np.float32(action), spike_at, spike, length
        self.acted = 0

    def reset(self, seeds, mask):
        self.num_slots = len(seeds)

    def act(self, observation):
        action = self.spike if self.acted == self.spike_at else self.action
        self.acted += 1
        return np.tile(np.float32(action), (self.num_slots, 1))

    def finished(self):
        return np.full(self.num_slots, self.length is not None and self.acted >= self.length)


def plan(**changes):
    return RolloutPlan(
        **{
            "stage": "test",
            "world": PluginRef("worlds", "demoloom.generators.testing:CountingWorld"),
            "stream": PluginRef("streams", "demoloom.generators.testing:RandomCounts"),
            "run_seed": 7,
            "max_steps": 12,
            "num_slots": 3,
            **changes,
        }
    )


def episodes_of(plan, indices, world=None, stream=None, start_world=None):
    world = world or plan.world.build(num_envs=plan.num_slots)
    stream = stream or plan.stream.build(spec=world.episode_spec)
    return {episode.index: episode for episode in rollout(world, stream, plan, indices, start_world)}


def same(first, second):
    columns = ("state", "action", "reward", "success", "score", "trust")
    return (
        all(np.array_equal(getattr(first, name), getattr(second, name)) for name in columns)
        and np.array_equal(first.images["top"], second.images["top"])
        and (first.id, first.seed, first.outcome, first.reason, dict(first.lineage))
        == (second.id, second.seed, second.outcome, second.reason, dict(second.lineage))
    )


def test_every_index_becomes_exactly_one_episode_however_many_slots_there_are():
    assert sorted(episodes_of(plan(), range(10))) == list(range(10))
    assert sorted(episodes_of(plan(), [4])) == [4]
    assert episodes_of(plan(), []) == {}


def test_the_bytes_of_an_episode_do_not_depend_on_the_others_or_their_order():
    together, reverse, alone = (episodes_of(plan(), order) for order in (range(8), range(7, -1, -1), [5]))
    assert all(same(together[index], reverse[index]) for index in range(8))
    assert same(together[5], alone[5])


def test_pusht_episodes_do_not_depend_on_their_slot_either():
    made = plan(world=PluginRef("worlds", "pusht"), num_slots=2, max_steps=5)
    orders = [
        {e.index: e for e in rollout(PushTReality(2), Steady([300, 200]), made, order)} for order in ([0, 1, 2], [2])
    ]
    assert same(orders[0][2], orders[1][2])


def test_each_episode_has_the_seed_of_its_index():
    made = episodes_of(plan(), range(6))
    assert [made[i].seed for i in range(6)] == [episode_seed(7, i) for i in range(6)]
    assert all(made[i].state[0, 0] == episode_seed(7, i) % 5 for i in range(6))


def test_quick_successes_do_not_crowd_out_slow_failures():
    # Odd indices fail after 12 steps, even ones succeed after 1: refilling must still run the four that were asked for.
    class ByIndex(CountingWorld):
        def reset(self, *, seed=None, options=None):
            observation, info = super().reset(seed=seed, options=options)
            return observation, info

        def _info(self):
            odd = np.array([seed in slow for seed in self.seeds])
            return {**super()._info(), "success": ~odd & (self.steps > 0)}

    slow = {episode_seed(7, 1), episode_seed(7, 3)}
    made = episodes_of(plan(num_slots=4), range(4), world=ByIndex(4))
    assert [made[i].outcome for i in range(4)] == ["success", "failure", "success", "failure"]
    assert [len(made[i]) for i in range(4)] == [1, 12, 1, 12]


def test_a_row_holds_what_was_seen_before_its_action_and_what_came_after():
    episode = episodes_of(plan(), [0], stream=Steady([1.0]))[0]
    start = episode.seed % 5
    assert episode.state[:, 0].tolist() == [start + t for t in range(len(episode))]
    assert episode.labels["count"].tolist() == episode.state.tolist()
    assert episode.score[-1] == 1
    assert episode.score[0] == pytest.approx((start + 1) / 8)
    assert episode.success.tolist() == [False] * (len(episode) - 1) + [True]


@pytest.mark.parametrize(
    ("make_world", "rest", "spike"),
    [(CountingWorld, [0.0], [1.0]), (PushTReality, [256.0, 256.0], [0.0, 0.0])],
    ids=["counting", "pusht"],
)
def test_a_spike_in_the_action_changes_the_next_frame_and_none_before(make_world, rest, spike):
    world = make_world(2)
    made = plan(num_slots=2, max_steps=6)
    idle = episodes_of(made, [0], world, Steady(rest))[0].images["top"]
    spiked = episodes_of(made, [0], world, Steady(rest, spike_at=3, spike=spike))[0]
    assert np.array_equal(spiked.action[3], np.float32(spike))
    assert np.array_equal(idle[:4], spiked.images["top"][:4])
    assert not np.array_equal(idle[4], spiked.images["top"][4])


def test_an_unsolved_episode_ends_after_max_steps_and_says_so():
    episode = episodes_of(plan(max_steps=5), [0], stream=Steady([0.0]))[0]
    assert (len(episode), episode.outcome, episode.reason) == (5, "failure", "not solved within 5 steps")


def test_a_solved_episode_ends_after_the_hold():
    held = episodes_of(plan(success_hold=3), [0], stream=Steady([1.0]))[0]
    assert held.success.tolist()[-4:] == [False, True, True, True]
    assert (held.outcome, held.reason) == ("success", "")


def test_a_score_can_be_asked_for_instead_of_the_worlds_own_success():
    episode = episodes_of(plan(success_score=0.75), [0], stream=Steady([1.0]))[0]
    assert (episode.outcome, float(episode.score[-1])) == ("success", 0.75)
    assert episode.success.tolist() == (episode.score >= 0.75).tolist()


def test_a_success_that_does_not_last_is_a_failure():
    class Blinking(CountingWorld):
        def _info(self):
            return {**super()._info(), "success": self.steps % 2 == 1}

    episode = episodes_of(plan(success_hold=2), [0], world=Blinking(3))[0]
    assert (episode.outcome, len(episode), int(episode.success.sum())) == ("failure", 12, 6)


def test_an_episode_that_runs_on_stays_solved():
    episode = episodes_of(plan(stop_on_success=False, max_steps=20), [0], stream=Steady([1.0]))[0]
    assert (episode.outcome, len(episode)) == ("success", 20)


def test_an_untrusted_episode_is_no_demonstration_even_if_solved():
    world = FaultyWorld(3, "doubt", at_step=4, goal=1)
    episode = episodes_of(plan(min_trust=0.5, success_hold=4), [0], world=world, stream=Steady([1.0]))[0]
    assert not episode.is_demonstration
    assert (episode.outcome, len(episode)) == ("untrusted", 4)
    assert episode.reason == "trust fell to 0.00 (below 0.5) at step 4"


def test_a_stream_that_has_ended_ends_its_episode():
    episode = episodes_of(plan(), [0], stream=Steady([0.0], length=2))[0]
    assert episode.reason == "the stream ended after 2 steps without solving the task"


def test_a_start_world_gives_the_first_observation_of_its_own_episode():
    start = PluginRef("worlds", "demoloom.generators.testing:CountingWorld")
    made = plan(start_world=start)
    started = episodes_of(made, range(5), start_world=start.build(num_envs=3))
    expected = episodes_of(plan(), range(5))
    assert all(np.array_equal(started[i].images["top"], expected[i].images["top"]) for i in range(5))


class Elsewhere(CountingWorld):
    """Starts where no CountingWorld does: at 10 and above."""

    def reset(self, *, seed=None, options=None):
        starts = np.array([[10 + value % 7] for value in seed], np.float32)
        return super().reset(seed=seed, options={**options, "start": {"observation.state": starts}})


@pytest.mark.parametrize("num_slots", [1, 2, 5])
@pytest.mark.parametrize("order", [range(7), range(6, -1, -1)])
def test_starts_taken_from_reality_do_not_depend_on_slots_order_or_early_ends(num_slots, order):
    made = plan(num_slots=num_slots, start_world=PluginRef("worlds", "tests:Elsewhere"))
    world = CountingWorld(num_slots, goal=18)
    episodes = episodes_of(made, order, world, Steady([1.0]), Elsewhere(num_slots))
    assert [episodes[i].state[0, 0] for i in range(7)] == [10 + episode_seed(7, i) % 7 for i in range(7)]
    assert [len(episodes[i]) for i in range(7)] == [8 - episode_seed(7, i) % 7 for i in range(7)]


class Overruled(RandomCounts):
    """Somebody takes over as soon as the count has reached 3."""

    def act(self, observation):
        self.drove = observation["observation.state"][:, 0] >= 3
        return super().act(observation)

    def intervening(self):
        return self.drove


def test_who_drove_is_recorded_with_the_step_that_they_drove(tmp_path):
    world = CountingWorld(3)
    stream = Overruled(world.episode_spec)
    store = ZarrStore.create(tmp_path / "store", recorded_spec(world, stream))
    for episode in episodes_of(plan(), range(6), world, stream).values():
        assert episode.intervention.tolist() == (episode.state[:, 0] >= 3).tolist()
        assert store.append(episode)
    assert 0 < np.concatenate([episode.intervention for episode in store]).mean() < 1


def test_a_stream_that_does_not_say_who_drove_makes_episodes_without_such_a_column():
    world = CountingWorld(3)
    assert recorded_spec(world, RandomCounts(world.episode_spec)) == world.episode_spec
    assert episodes_of(plan(), [0], world)[0].intervention is None


class Stumbling(RandomCounts):
    """Steps back where it says that 2, and so at most 1, is to be added."""

    def act(self, observation):
        return -super().act(observation)

    def corrective(self):
        return np.full((3, 1), 2, np.float32)


def test_of_a_stream_that_errs_on_purpose_what_puts_it_right_is_recorded_and_the_lineage_says_so():
    made = plan(stream=PluginRef("streams", "tests:Stumbling"))
    episode = episodes_of(made, [0], stream=Stumbling(CountingWorld(1).episode_spec))[0]
    assert (np.diff(episode.state[:, 0]) < 0).all()
    assert episode.action[:, 0].tolist() == [1] * 12
    assert episode.lineage["actions"] == "corrective"
    assert "actions" not in episodes_of(plan(), [0])[0].lineage


def test_a_stream_that_watches_is_told_how_it_stands_before_it_acts():
    seen = []

    class Supervisor(RandomCounts):
        def watch(self, score, trust):
            seen.append((score.tolist(), trust.tolist()))

    stream = Supervisor(CountingWorld(1).episode_spec)
    episode = episodes_of(plan(num_slots=1), [0], stream=stream)[0]
    assert [score for score, _ in seen] == [[min(1, count / 8)] for count in episode.state[:, 0]]
    assert seen[0][1] == [1]


def test_what_was_made_can_be_stored():
    world = CountingWorld(3)
    for episode in episodes_of(plan(), range(4), world=world).values():
        validate_episode(episode, world.episode_spec)


def test_an_episode_can_be_made_again_from_its_lineage():
    episode = episodes_of(plan(lineage={"run": "demo"}), range(6))[4]
    again = RolloutPlan.from_dict(episode.lineage["plan"])
    assert episode.lineage["run"] == "demo"
    assert same(episodes_of(again, [episode.lineage["index"]])[4], episode)


def test_the_lineage_says_by_name_where_an_episode_started():
    for index, episode in episodes_of(plan(num_slots=2), range(5)).items():
        start = float(episode_seed(7, index) % 5)
        assert episode.lineage["start"] == {"count": start, "count.count": start}


def test_an_error_of_the_world_is_passed_on():
    with pytest.raises(RuntimeError, match="the counter broke at step 3"):
        episodes_of(plan(), range(3), world=FaultyWorld(3, "raise"))


def test_actions_of_a_wrong_shape_are_refused():
    with pytest.raises(ValueError, match=r"expected actions of shape \(3, 1\), got \(3, 2\)"):
        episodes_of(plan(), range(3), stream=Steady([0.0, 1.0]))


def test_only_the_actions_of_running_episodes_matter():
    class NanWhereIdle(RandomCounts):
        def act(self, observation):
            actions = super().act(observation)
            actions[1:] = np.nan
            return actions

    world = CountingWorld(3)
    assert len(episodes_of(plan(), [0], world, NanWhereIdle(world.episode_spec))) == 1


def test_a_world_of_another_size_is_refused():
    with pytest.raises(ConfigError, match="3 slots but CountingWorld has 2"):
        episodes_of(plan(), [0], world=CountingWorld(2))


@pytest.mark.parametrize("format", ["zarr", "lerobot"])
def test_what_is_read_back_has_the_spike_in_the_same_row_and_its_effect_in_the_next_frame(tmp_path, format):
    made = plan(num_slots=1, max_steps=6)
    store = ZarrStore.create(tmp_path / "made", PushTReality(1).episode_spec)
    rest, spike = [256.0, 256.0], [0.0, 0.0]
    for index, spike_at in enumerate((None, 3)):
        stream = Steady(rest, spike_at=spike_at, spike=spike)
        (episode,) = rollout(PushTReality(1), stream, made, [0])
        store.append(dataclasses.replace(episode, id=f"episode-{index}", index=index))
    convert(store, tmp_path / "read", format)
    idle, spiked = open_dataset(tmp_path / "read")
    assert spiked.action.tolist() == [rest, rest, rest, spike, rest, rest]
    distance = np.abs(idle.images["top"].astype(int) - spiked.images["top"]).max(axis=(1, 2, 3))
    assert (distance[:4] < 30).all()
    assert distance[4] > 60
