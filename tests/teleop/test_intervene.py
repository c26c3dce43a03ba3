import sys
from types import ModuleType

import numpy as np
import pytest

from demoloom.generators import RolloutPlan, rollout
from demoloom.generators.rollout import recorded_spec
from demoloom.generators.stream import Correcting
from demoloom.generators.testing import CountingWorld, RandomCounts, StreamContract
from demoloom.storage.errors import ConfigError
from demoloom.storage.plugins import PluginRef
from demoloom.storage.validation import validate_episode
from demoloom.teleop import Dagger, Intervene

SPEC = CountingWorld(1).episode_spec
COUNTS = "demoloom.generators.testing:RandomCounts"
#: A driver that counts down and an expert that counts up, each by one.
DOWN = {"name": COUNTS, "kwargs": {"low": -1.0, "high": -1.0}}
UP = {"name": COUNTS, "kwargs": {"low": 1.0, "high": 1.0}}


class Person(RandomCounts):
    """Takes over while the count is below 0, and presses stop at -3."""

    def act(self, observation):
        self.count = observation["observation.state"][:, 0]
        return np.ones((len(self.count), 1), np.float32)

    def takes_over(self):
        return self.count < 0

    def close(self):
        self.is_closed = True

    def finished(self):
        return getattr(self, "count", np.zeros(len(self._rngs))) <= -3


PERSON = {"name": "people:Person"}


@pytest.fixture(autouse=True)
def people(monkeypatch):
    """A module in which a plug-in can be found by name."""
    module = ModuleType("people")
    monkeypatch.setattr(module, "Person", Person, raising=False)
    monkeypatch.setitem(sys.modules, "people", module)


class InterveneContract(StreamContract):
    def make_world(self, num_envs):
        return CountingWorld(num_envs)


class TestByChance(InterveneContract):
    def make(self):
        noise = {"name": COUNTS, "kwargs": {"low": -1.0}}
        return Intervene(SPEC, noise, UP, chance=0.3, turn=(1, 3))


class TestPersonDecides(InterveneContract):
    def make(self):
        return Intervene(SPEC, DOWN, PERSON)


class TestDagger(InterveneContract):
    def make(self):
        return Dagger(SPEC, {"name": COUNTS}, DOWN, chance=0.3, turn=(1, 1))


def episode_of(stream, max_steps=12, goal=30, index=0):
    """An episode in a counter that starts at 0 .. 4."""
    nobody = PluginRef("streams", "idle")
    plan = RolloutPlan("test", PluginRef("worlds", "counting"), nobody, 7, max_steps, num_slots=1)
    world = CountingWorld(1, goal=goal)
    (episode,) = rollout(world, stream, plan, [index])
    validate_episode(episode, recorded_spec(world, stream))
    return episode


def acted(stream, steps, seeds=(0,), score=None, trust=1.0):
    """For each step whether the expert drove, (steps, N); the count stays at 0."""
    stream.reset(list(seeds), np.ones(len(seeds), bool))
    drove = []
    for step in range(steps):
        if score is not None:
            stream.watch(np.full(len(seeds), score(step), np.float32), np.full(len(seeds), trust, np.float32))
        actions = stream.act({"observation.state": np.zeros((len(seeds), 1), np.float32)})
        assert np.array_equal(actions[:, 0] > 0, stream.intervening())
        drove.append(stream.intervening())
    return np.array(drove)


def test_a_person_drives_for_as_long_as_they_say_and_both_are_marked():
    episode = episode_of(Intervene(SPEC, DOWN, PERSON))
    start = int(episode.state[0, 0])
    # Down to -1, and from then on up by the person to 0 and down by the driver again.
    assert episode.state[: start + 4, 0].tolist() == [*range(start, -1, -1), -1, 0, -1]
    assert episode.intervention.tolist() == (episode.state[:, 0] < 0).tolist()
    assert np.array_equal(episode.action[:, 0], np.where(episode.intervention, 1, -1))


def test_an_expert_who_is_stuck_on_the_score_is_called_and_leaves_again():
    # The best score so far stays 0: after 4 steps without a better one the expert drives for 3.
    drove = acted(Intervene(SPEC, DOWN, UP, stalled=4, turn=(3, 3)), 14, score=lambda step: 0.0)
    assert drove[:, 0].tolist() == [False] * 3 + [True] * 3 + [False] * 4 + [True] * 3 + [False]


def test_progress_keeps_the_driver_driving_and_noise_is_no_progress():
    assert not acted(Intervene(SPEC, DOWN, UP, stalled=4), 20, score=lambda step: step / 20).any()
    assert acted(Intervene(SPEC, DOWN, UP, stalled=4), 20, score=lambda step: 0.001 * (step % 2)).any()


def test_the_expert_takes_over_where_the_world_is_not_to_be_trusted():
    drove = acted(Intervene(SPEC, DOWN, UP, min_trust=0.5, turn=(2, 2)), 5, score=lambda step: 0.0, trust=0.4)
    assert drove[:, 0].tolist() == [True, True, False, True, True]
    assert not acted(Intervene(SPEC, DOWN, UP, min_trust=0.5), 5, score=lambda step: 0.0, trust=0.6).any()


def test_chance_and_the_length_of_turns_are_as_said_and_follow_from_the_seed():
    make = lambda: Intervene(SPEC, DOWN, UP, chance=0.1, turn=(4, 6))  # noqa: E731
    drove = acted(make(), 3000)[:, 0]
    edges = np.flatnonzero(np.diff(drove.astype(int)))
    lengths = np.diff(edges)
    turns = lengths[0::2] if drove[edges[0] + 1] else lengths[1::2]
    assert set(turns) == {4, 5, 6}
    # 10 steps of waiting to 5 of driving.
    assert 0.28 < drove.mean() < 0.4
    assert np.array_equal(acted(make(), 50, [1, 2]), acted(make(), 50, [1, 2]))
    assert not np.array_equal(*acted(make(), 50, [1, 2]).T)


def test_the_driver_begins_anew_where_it_gets_control_back():
    # Finished after 3 actions of its own, which the expert's turns begin anew.
    driver = {"name": COUNTS, "kwargs": {"low": -1.0, "high": -1.0, "length": 3}}
    stream = Intervene(SPEC, driver, UP, stalled=2, turn=(1, 1))
    acted(stream, 20, score=lambda step: 0.0)
    assert not stream.finished().any()
    alone = Intervene(SPEC, driver, UP, stalled=9)
    acted(alone, 3, score=lambda step: 0.0)
    assert alone.finished().all()


def test_a_person_who_stops_ends_the_episode():
    stream = Intervene(SPEC, DOWN, PERSON)
    stream.reset([0], np.ones(1, bool))
    stream.act({"observation.state": np.array([[-3.0]], np.float32)})
    assert stream.finished().tolist() == [True]


def test_what_the_person_holds_is_let_go_of_with_the_stream():
    stream = Intervene(SPEC, DOWN, PERSON)
    stream.close()
    assert stream._expert.is_closed  # type: ignore[attr-defined]


def test_dagger_lets_the_policy_drive_and_records_the_expert():
    episode = episode_of(Dagger(SPEC, DOWN, UP))
    assert (np.diff(episode.state[:, 0]) == -1).all()
    assert (episode.action == 1).all()
    assert not episode.intervention.any()
    assert episode.lineage["actions"] == "corrective"
    assert isinstance(Dagger(SPEC, DOWN, UP), Correcting)
    assert not isinstance(Intervene(SPEC, DOWN, UP, chance=1.0), Correcting)


def test_a_mixture_drives_with_both_and_marks_who_drove():
    episode = episode_of(Dagger(SPEC, DOWN, UP, chance=0.5, turn=(1, 1)), max_steps=20)
    assert 0 < episode.intervention.mean() < 1
    assert np.array_equal(np.diff(episode.state[:, 0]), np.where(episode.intervention[:-1], 1, -1))
    assert (episode.action == 1).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "would never take over; say when"),
        ({"chance": 1.5}, r"chance of intervene must lie in \[0, 1\], got 1.5"),
        ({"min_trust": -0.1}, r"min_trust of intervene must lie in \[0, 1\], got -0.1"),
        ({"stalled": -1}, "stalled of intervene is a number of steps, 0 or more, got -1"),
        ({"chance": 0.5, "turn": (0, 3)}, r"turn of intervene must be \(least, greatest\), .* got \(0, 3\)"),
        ({"chance": 0.5, "turn": (3,)}, r"turn of intervene must be \(least, greatest\), .* got \(3,\)"),
    ],
)
def test_a_rule_that_cannot_be_used_says_why(settings, message):
    with pytest.raises(ConfigError, match=message):
        Intervene(SPEC, DOWN, UP, **settings)


def test_who_decides_themselves_needs_no_rule():
    with pytest.raises(ConfigError, match="decides itself when it takes over; leave out chance, stalled and min_trust"):
        Intervene(SPEC, DOWN, PERSON, chance=0.1)


def test_a_rule_on_what_nobody_tells_is_refused_with_the_remedy():
    stream = Intervene(SPEC, DOWN, UP, min_trust=0.5)
    with pytest.raises(ConfigError, match="is told neither score nor trust here, which its rule needs"):
        acted(stream, 1)
