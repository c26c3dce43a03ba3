# ruff: noqa: D102 - the name of a test is its claim
"""Test classes for worlds and streams.

A world's or a stream's own tests inherit the contract and supply what it asks for:

    class TestMyWorld(WorldContract):
        def make(self, num_envs):
            return MyWorld(num_envs)
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import pytest

from ..stream import ActionStream, Correcting, Intervening, Observation
from ..world import World, action_bounds


class WorldContract(ABC):
    """What every World promises, as tests. Worlds are made with up to four slots.

    `slot_tolerance`: by how much, in pixel levels and in units of the state, an episode may differ when it runs in
    another slot or among more of them. 0 for a simulator, and for a network that treats each slot alone; where a matrix
    product takes all slots at once it may round a row otherwise.
    """

    slot_tolerance = 0.0

    @abstractmethod
    def make(self, num_envs: int) -> World:
        """A new world with so many slots."""

    def test_observations_lie_in_their_space(self) -> None:
        world = self.make(2)
        observation, _ = world.reset(seed=1)
        assert world.observation_space.contains(observation)
        assert world.observation_space.contains(world.step(_middle(world))[0])

    def test_info_says_success_score_and_trust_after_reset_and_step(self) -> None:
        world = self.make(2)
        _, after_reset = world.reset(seed=1)
        _, reward, terminated, truncated, after_step = world.step(_middle(world))
        for info in (after_reset, after_step):
            assert info["success"].shape == (2,)
            assert info["success"].dtype == bool
            for name in ("score", "trust"):
                assert info[name].shape == (2,)
                assert ((info[name] >= 0) & (info[name] <= 1)).all()
        assert reward.shape == (2,)
        assert np.array_equal(terminated, after_step["success"])
        assert not truncated.any()

    def test_the_same_seed_gives_the_same_bytes_whatever_came_between(self) -> None:
        world = self.make(1)
        first, other, again = (_episode(world, [seed], steps=3) for seed in (1, 999, 1))
        assert _equal(first, again)
        assert not _equal(first, other)

    def test_a_slot_does_not_depend_on_its_neighbours(self) -> None:
        ahead = _episode(self.make(3), [7, 8, 9], steps=3)
        permuted = _episode(self.make(3), [9, 7, 8], steps=3)
        assert _equal([_rows(frame, [2, 0, 1]) for frame in ahead], permuted, self.slot_tolerance)

    def test_a_slot_does_not_depend_on_how_many_there_are(self) -> None:
        alone, among = _episode(self.make(1), [7], steps=3), _episode(self.make(4), [5, 6, 7, 8], steps=3)
        assert _equal([_rows(frame, [2]) for frame in among], alone, self.slot_tolerance)

    def test_a_masked_reset_leaves_the_other_slots_alone(self) -> None:
        world, undisturbed = self.make(2), self.make(2)
        for each in (world, undisturbed):
            each.reset(seed=[1, 2])
            each.step(_middle(each))
        world.reset(seed=[5, 5], options={"reset_mask": np.array([True, False])})
        for _ in range(2):
            kept, expected = world.step(_middle(world))[0], undisturbed.step(_middle(undisturbed))[0]
            assert _equal([_rows(kept, [1])], [_rows(expected, [1])])
            assert not _equal([_rows(kept, [0])], [_rows(expected, [0])])

    def test_an_action_changes_the_very_next_frame_and_none_before(self) -> None:
        idle, spiked = _episode(self.make(1), [3], steps=5), _episode(self.make(1), [3], steps=5, spike_at=2)
        assert _equal(idle[:3], spiked[:3])
        assert not np.array_equal(_frames(idle[3]), _frames(spiked[3]))

    def test_actions_outside_the_bounds_are_clipped(self) -> None:
        world = self.make(1)
        low, high = action_bounds(world.episode_spec)
        for action, bound in ((high + 9, high), (low - 9, low)):
            outcomes = []
            for given in (action, bound):
                world.reset(seed=1)
                outcomes.append(world.step(given[None])[0])
            assert _equal(outcomes[:1], outcomes[1:])

    def test_an_action_that_is_no_number_is_refused_by_name(self) -> None:
        world = self.make(1)
        world.reset(seed=1)
        name = world.episode_spec.action.names[0]
        with pytest.raises(ValueError, match=name):
            world.step(np.full_like(_middle(world), np.nan))

    def test_what_was_returned_may_be_kept_and_changed(self) -> None:
        world, undisturbed = self.make(1), self.make(1)
        returned, _ = world.reset(seed=1)
        undisturbed.reset(seed=1)
        for values in returned.values():
            values[...] = 0
        assert _equal([world.step(_middle(world))[0]], [undisturbed.step(_middle(world))[0]])

    def test_the_identity_is_plain_data_and_the_same_for_an_equal_world(self) -> None:
        assert json.dumps(self.make(1).identity()) == json.dumps(self.make(2).identity())

    def test_a_world_that_can_be_taken_back_goes_on_as_it_did(self) -> None:
        world = self.make(2)
        world.reset(seed=[1, 2])
        try:
            snapshot = world.snapshot()
        except NotImplementedError as error:
            pytest.skip(str(error))
        futures = []
        for _ in range(2):
            here = world.restore(snapshot)
            futures.append([here, *(world.step(_middle(world))[0] for _ in range(3))])
        assert _equal(futures[0], futures[1])


class StreamContract(ABC):
    """What every ActionStream promises, as tests."""

    @abstractmethod
    def make(self) -> ActionStream:
        """A new stream for the robot of `make_world`."""

    @abstractmethod
    def make_world(self, num_envs: int) -> World:
        """A world which the stream can drive."""

    def test_actions_have_one_row_for_each_slot(self) -> None:
        world, stream = self.make_world(3), self.make()
        observation, _ = world.reset(seed=1)
        stream.reset([1, 2, 3], np.ones(3, bool))
        actions = stream.act(observation)
        assert actions.shape == (3, world.episode_spec.action.size)
        assert actions.dtype == np.float32
        assert np.isfinite(actions).all()
        assert stream.finished().shape == (3,)
        assert stream.finished().dtype == bool
        if isinstance(stream, Intervening):
            assert stream.intervening().shape == (3,)
            assert stream.intervening().dtype == bool
        if isinstance(stream, Correcting):
            assert stream.corrective().shape == actions.shape
            assert stream.corrective().dtype == np.float32

    def test_the_same_seeds_give_the_same_actions(self) -> None:
        stream = self.make()
        first, again = (_driven(self.make_world(2), stream, [1, 2], steps=5) for _ in range(2))
        assert np.array_equal(first, again)

    def test_a_slot_does_not_depend_on_its_neighbours_or_their_number(self) -> None:
        alone = _driven(self.make_world(1), self.make(), [2], steps=5)
        among = _driven(self.make_world(3), self.make(), [7, 2, 9], steps=5)
        assert np.array_equal(among[:, 1], alone[:, 0])

    def test_a_masked_reset_leaves_the_other_slots_alone(self) -> None:
        undisturbed = _driven(self.make_world(2), self.make(), [1, 2], steps=6)
        disturbed = _driven(self.make_world(2), self.make(), [1, 2], steps=6, restart_first_at=3)
        assert np.array_equal(undisturbed[:, 1], disturbed[:, 1])


def _middle(world: World) -> np.ndarray:
    low, high = action_bounds(world.episode_spec)
    return np.tile((low + high) / 2, (world.num_envs, 1))


def _episode(world: World, seeds: Sequence[int], steps: int, spike_at: int | None = None) -> list[Observation]:
    """The observations of an idle episode; at `spike_at` the action is the highest there is."""
    observations: list[Observation] = [world.reset(seed=list(seeds))[0]]
    for step in range(steps):
        action = _middle(world)
        if step == spike_at:
            action[:] = world.episode_spec.action.high
        observations.append(world.step(action)[0])
    return observations


def _driven(
    world: World, stream: ActionStream, seeds: Sequence[int], steps: int, restart_first_at: int | None = None
) -> np.ndarray:
    """The actions (steps, N, A) of `stream` in `world`."""
    observation, _ = world.reset(seed=list(seeds))
    stream.reset(seeds, np.ones(len(seeds), bool))
    actions = []
    for step in range(steps):
        if step == restart_first_at:
            mask = np.arange(len(seeds)) == 0
            restarted = [seed + 100 for seed in seeds]
            stream.reset(restarted, mask)
            observation, _ = world.reset(seed=restarted, options={"reset_mask": mask})
        actions.append(np.array(stream.act(observation)))
        observation = world.step(actions[-1])[0]
    return np.stack(actions)


def _rows(observation: Observation, slots: Sequence[int]) -> Observation:
    return {key: values[list(slots)] for key, values in observation.items()}


def _frames(observation: Observation) -> np.ndarray:
    return np.concatenate([values.ravel() for key, values in observation.items() if "images" in key])


def _equal(first: Sequence[Observation], second: Sequence[Observation], tolerance: float = 0.0) -> bool:
    return all(
        np.allclose(a[key].astype(np.float64), b[key].astype(np.float64), rtol=0, atol=tolerance)
        for a, b in zip(first, second, strict=True)
        for key in a
    )
