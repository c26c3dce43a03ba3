from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from demoloom.pipeline.inspection import distributions
from demoloom.pipeline.inspection.distributions import Distribution, evenly, measure
from demoloom.storage import ZarrStore, open_dataset, silent
from demoloom.storage.quality import score_dataset, write_quality

from ..runs import SPEC, dot_episode, write_store


def test_whole_numbers_have_a_bar_each() -> None:
    counts, edges = Distribution.of("steps", np.array([3.0, 3.0, 5.0])).bars()
    assert counts.tolist() == [2, 0, 1]
    assert edges.tolist() == [2.5, 3.5, 4.5, 5.5]


def test_other_numbers_have_bars_from_the_least_to_the_greatest() -> None:
    counts, edges = Distribution.of("x", np.array([0.0, 0.1, 1.0])).bars(most=2)
    assert counts.tolist() == [2, 1]
    assert edges.tolist() == [0.0, 0.5, 1.0]


def test_numbers_that_are_not_finite_are_counted_apart() -> None:
    found = Distribution.of("x", np.array([1.0, np.nan, np.inf, 2.0]))
    assert found.values.tolist() == [1, 2]
    assert found.num_unfit == 2


def test_no_value_and_equal_values_are_constant() -> None:
    assert Distribution.of("x", np.array([])).is_constant
    assert Distribution.of("x", np.array([4.0, 4.0])).is_constant
    assert not Distribution.of("x", np.array([4.0, 4.5])).is_constant


@pytest.mark.parametrize(
    ("count", "most", "expected"), [(0, 5, []), (1, 5, [0]), (5, 9, [0, 1, 2, 3, 4]), (101, 3, [0, 50, 100])]
)
def test_evenly_takes_the_first_and_the_last(count: int, most: int, expected: list[int]) -> None:
    assert evenly(count, most) == expected


def test_every_dimension_and_every_measure_of_an_episode_has_a_distribution(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0, length=3), dot_episode(1, length=5)])
    reader = open_dataset(tmp_path / "store")
    groups = measure(reader, reader.summaries(), silent).groups
    assert {title: [one.name for one in group] for title, group in groups.items()} == {
        "Episodes": ["steps", "best score", "last score", "least trust"],
        "Steps": ["score", "trust", "reward"],
        "Action": ["x"],
        "State": ["x"],
    }
    assert groups["Episodes"][0].values.tolist() == [3, 5]
    assert groups["Action"][0].values.tolist() == [0, 0.5, 1, 0, 0.25, 0.5, 0.75, 1]
    assert groups["Action"][0].limits == (0, 1)


def test_steps_that_somebody_took_over_are_counted_where_the_dataset_says_so(tmp_path: Path) -> None:
    store = ZarrStore.create(tmp_path / "store", replace(SPEC, intervention=True))
    store.append(replace(dot_episode(0, length=5), intervention=np.arange(5) >= 3))
    steps = measure(store, store.summaries(), silent).groups["Steps"]
    (found,) = [one for one in steps if one.name == "intervention"]
    assert found.bars()[0].tolist() == [3, 2]


def test_of_very_many_rows_every_second_is_kept_across_episodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 8 rows of 6 numbers: state, action, reward, success, score and trust.
    monkeypatch.setattr(distributions, "MOST_NUMBERS", 24)
    write_store(tmp_path / "store", [dot_episode(0, length=3), dot_episode(1, length=5)])
    reader = open_dataset(tmp_path / "store")
    found = measure(reader, reader.summaries(), silent)
    assert found.stride == 2
    assert found.groups["Action"][0].values.tolist() == [0, 1, 0.25, 0.75]


def test_of_very_many_episodes_evenly_spread_ones_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributions, "MOST_EPISODES", 2)
    write_store(tmp_path / "store", [dot_episode(index, length=2 + index) for index in range(3)])
    reader = open_dataset(tmp_path / "store")
    found = measure(reader, reader.summaries(), silent)
    assert found.num_episodes == 2
    assert len(found.groups["Action"][0].values) == 2 + 4
    assert found.groups["Episodes"][0].values.tolist() == [2, 3, 4]


def test_stored_quality_scores_are_shown_until_the_dataset_changes(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0, length=5)])
    reader = ZarrStore.open(tmp_path / "store")
    write_quality(reader.path, score_dataset(reader))
    groups = measure(reader, reader.summaries(), silent).groups
    scores = {one.name: one.values.tolist() for one in groups["Quality of episodes"]}
    assert scores["path_efficiency"] == [1]
    assert scores["duration_s"] == [0.5]
    reader.append(dot_episode(1))
    assert "Quality of episodes" not in measure(reader, reader.summaries(), silent).groups
