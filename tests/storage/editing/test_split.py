from collections import Counter

import pytest

from demoloom.storage import ConfigError, open_dataset, summarise
from demoloom.storage.editing.split import assign, split


@pytest.fixture
def episodes(make_episode):
    return [summarise(make_episode(index)) for index in range(10)]


def test_fractions_are_met_and_every_episode_is_in_exactly_one_part(episodes):
    parts = assign(episodes, {"train": 0.8, "val": 0.2})
    assert {name: len(ids) for name, ids in parts.items()} == {"train": 8, "val": 2}
    assert Counter(id for ids in parts.values() for id in ids) == Counter(one.id for one in episodes)


def test_whole_numbers_are_met(episodes):
    parts = assign(episodes, {"train": 3, "val": 3, "test": 4})
    assert {name: len(ids) for name, ids in parts.items()} == {"train": 3, "val": 3, "test": 4}


def test_the_seed_alone_decides_the_parts(episodes):
    first = assign(episodes, {"train": 0.5, "val": 0.5}, seed=3)
    assert first == assign(episodes, {"train": 0.5, "val": 0.5}, seed=3)
    assert first != assign(episodes, {"train": 0.5, "val": 0.5}, seed=4)


def test_episodes_of_one_seed_stay_together(make_episode):
    # Seeds 0 1 2 3 4, each twice.
    episodes = [summarise(make_episode(index, seed=1 + index // 2)) for index in range(10)]
    for seed in range(5):
        parts = assign(episodes, {"train": 0.6, "val": 0.4}, seed=seed)
        seeds = {name: {1 + int(id[-1]) // 2 for id in ids} for name, ids in parts.items()}
        assert len(seeds["train"]) == 3
        assert not seeds["train"] & seeds["val"]


def test_episodes_without_a_seed_are_each_on_their_own(make_episode):
    episodes = [summarise(make_episode(index, seed=0)) for index in range(10)]
    assert len(assign(episodes, {"train": 0.8, "val": 0.2})["val"]) == 2


@pytest.mark.parametrize(
    ("parts", "match"),
    [
        ({"train": 0.8, "val": 0.1}, "sum to 1"),
        ({"train": 8, "val": 1}, "sum to the 10 episodes"),
        ({"train": 0.5, "val": 5}, "fractions that sum to 1 or whole numbers"),
        ({"train": 1.0, "val": 0.0}, "above 0"),
        ({}, "above 0"),
        ({"train": 0.99, "val": 0.01}, "'val' would have none of the 10 episodes"),
    ],
)
def test_parts_that_do_not_add_up_are_refused(episodes, parts, match):
    with pytest.raises(ConfigError, match=match):
        assign(episodes, parts)


@pytest.mark.parametrize("form", ["lerobot", "zarr"])
def test_each_part_becomes_a_dataset(tmp_path, make_dataset, same, form):
    source = make_dataset("all", range(5))
    sizes = split(source, tmp_path / "parts", form, {"train": 0.6, "val": 0.4})
    assert sizes == {"train": 3, "val": 2}
    for name, size in sizes.items():
        part = open_dataset(tmp_path / "parts" / name)
        assert len(part) == size
        for episode in part:
            same(episode, source.read(episode.id))


def test_a_name_that_would_leave_the_folder_is_refused(tmp_path, make_dataset):
    with pytest.raises(ConfigError, match=r"safe as one, got '\.\./val'"):
        split(make_dataset("all", range(2)), tmp_path / "parts", "zarr", {"train": 0.5, "../val": 0.5})
    assert not (tmp_path / "parts").exists()
