"""What stage `generate` keeps and what it sets apart, on a world that counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators.fleet import FleetConfig, ray_session
from demoloom.generators.fleet.coverage import CoverageRule
from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.run import stages_of
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import stage_digests
from demoloom.pipeline.stages.generate import Destination, GenerateConfig, generate, outcome_table, sort_out
from demoloom.pipeline.stages.streams import make_stream, starts_ref
from demoloom.storage.audit import audit
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import ConfigError, FleetError, StoreError
from demoloom.storage.plugins import PluginRef
from demoloom.storage.progress import silent
from demoloom.storage.quality import read_quality, score_dataset

from .runs import dot_episode, write_store

TESTING = "demoloom.generators.testing:"
WORLD = PluginRef("worlds", TESTING + "CountingWorld")
# From a start of 0 .. 4 up to 8 in steps of 1: 5 to 9 rows, held for one more.
STREAM = PluginRef("streams", TESTING + "RandomCounts", {"low": 1.0, "high": 1.0})
CONFIG = GenerateConfig(num_demonstrations=6, max_attempts=20, max_steps=12, success_hold=1, num_slots=4)


@pytest.fixture(scope="module")
def ray_open() -> Iterator[None]:
    with ray_session(FleetConfig(num_workers=1)):
        yield


def make(config: GenerateConfig, tmp_path: Path, name: str) -> tuple[Destination, dict[str, object]]:
    destination = Destination(tmp_path / name / "generated", tmp_path / name / "rejected", "zarr")
    table = generate(config, WORLD, STREAM, 3, destination, tmp_path / "work", FleetConfig(num_workers=1), silent)
    return destination, table


@pytest.mark.usefixtures("ray_open")
def test_demonstrations_that_miss_the_condition_are_rejected_with_the_reason(tmp_path: Path) -> None:
    everything, _ = make(CONFIG, tmp_path, "all")
    lengths = {summary.id: summary.length for summary in open_dataset(everything.demonstrations).summaries()}
    longest = max(lengths.values())
    # The work folder of the first call holds all attempts: none is made again.
    made = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").rglob("*") if path.is_file()}
    keep = f"length < {longest}"
    chosen, table = make(dataclasses.replace(CONFIG, keep=keep), tmp_path, "chosen")
    kept = open_dataset(chosen.demonstrations)
    rejected = {summary.id: summary for summary in open_dataset(chosen.rejected).summaries()}
    assert kept.ids() == [id for id, length in lengths.items() if length < longest]
    assert set(rejected) == {id for id, length in lengths.items() if length == longest}
    for summary in rejected.values():
        assert summary.outcome == "rejected"
        assert summary.reason == f"rejected by curation: {keep} does not hold (length = {longest})"
    assert table["num_demonstrations"] == len(kept)
    assert table["reasons"] == {f"curation: {keep}": len(rejected)}
    assert {path: path.stat().st_mtime_ns for path in made} == made


@pytest.mark.usefixtures("ray_open")
def test_a_budget_that_is_used_up_leaves_a_smaller_dataset_and_says_so(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, num_demonstrations=10, max_attempts=10, min_demonstrations=1, max_steps=6)
    # From a start of 2, 3 or 4 they come to 8 within 6 steps, from 0 or 1 they do not.
    destination, table = make(config, tmp_path, "short")
    kept, others = open_dataset(destination.demonstrations), open_dataset(destination.rejected)
    assert 0 < len(kept) < 10
    assert len(kept) + len(others) == 10
    assert table["ended"] == f"all 10 attempts were used: {len(kept)} of 10 attempts became demonstrations"


@pytest.mark.usefixtures("ray_open")
def test_what_was_made_under_one_budget_counts_under_the_next(tmp_path: Path) -> None:
    stingy = dataclasses.replace(CONFIG, num_demonstrations=10, max_steps=3)
    with pytest.raises(FleetError, match="0 of 16 attempts became demonstrations"):
        make(stingy, tmp_path, "none")
    made = len(open_dataset(tmp_path / "work" / "episodes"))
    # An earlier try took two hours, so that one hour is over before anything is made.
    (tmp_path / "work" / "episodes.time.json").write_text('{"seconds": 7200}')
    generous = dataclasses.replace(stingy, max_attempts=800, max_hours=1.0)
    with pytest.raises(FleetError, match=rf"the time of 3600 s was used up: 0 of {made} attempts became"):
        make(generous, tmp_path, "late")
    assert not (tmp_path / "late").exists()


@pytest.mark.usefixtures("ray_open")
def test_it_goes_on_until_all_starts_seen_have_a_demonstration(tmp_path: Path) -> None:
    config = dataclasses.replace(CONFIG, num_demonstrations=1, max_attempts=40, max_steps=8)
    config = dataclasses.replace(config, coverage=CoverageRule("count=1", min_each=2))
    _, table = make(config, tmp_path, "covered")
    cells = table["coverage"]
    assert isinstance(cells, list)
    assert cells
    assert all(cell["demonstrations"] >= 2 for cell in cells)
    assert str(table["ended"]).endswith(f"{len(cells)} of {len(cells)} start cells have 2 demonstrations")


def test_what_ends_a_run_is_no_part_of_how_an_attempt_is_made(tmp_path: Path) -> None:
    other = dataclasses.replace(CONFIG, num_demonstrations=9, max_attempts=90, max_hours=1.0, keep="length > 3")
    assert other.attempt() == CONFIG.attempt()
    assert dataclasses.replace(CONFIG, max_steps=13).attempt() != CONFIG.attempt()


@pytest.mark.usefixtures("ray_open")
def test_demonstrations_are_scored_and_the_scores_kept_with_them(tmp_path: Path) -> None:
    destination, _ = make(CONFIG, tmp_path, "all")
    assert read_quality(destination.demonstrations) == score_dataset(open_dataset(destination.demonstrations))


def test_attempts_that_failed_anyway_are_not_judged(tmp_path: Path) -> None:
    late = dot_episode(2, length=20, outcome="failure", reason="late")
    write_store(tmp_path / "store", [dot_episode(0, length=8), dot_episode(1, length=12), late])
    store = open_dataset(tmp_path / "store")
    drafts, attempts = sort_out(store, store.summaries(), keep="length > 8")
    assert [attempt.outcome for attempt in attempts] == ["rejected", "success", "failure"]
    assert [drafts[attempt.id].outcome for attempt in attempts] == ["rejected", "success", "failure"]
    assert drafts["dot-000002"].reason == "late"
    assert outcome_table(attempts)["reasons"] == {"curation: length > 8": 1, "late": 1}


def test_nothing_is_judged_without_a_condition(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0), dot_episode(1)])
    store = open_dataset(tmp_path / "store")
    drafts, attempts = sort_out(store, store.summaries(), keep="")
    assert attempts == store.summaries()
    assert all("edits" not in draft.lineage for draft in drafts.values())


def test_a_condition_that_no_demonstration_meets_is_named(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0)])
    store = open_dataset(tmp_path / "store")
    with pytest.raises(StoreError, match="none of 1 episodes meets 'length > 99'"):
        sort_out(store, store.summaries(), keep="length > 99")


def test_a_condition_that_cannot_be_read_is_refused_before_anything_is_made() -> None:
    with pytest.raises(ConfigError, match="no 'jerk' to compare; did you mean 'jerk_p95'"):
        GenerateConfig(keep="jerk < 3")


def test_a_condition_changes_what_a_run_makes_and_none_leaves_it_as_it_was(tmp_path: Path) -> None:
    assert "keep" not in CONFIG.identity()
    assert dataclasses.replace(CONFIG, keep="length > 3").identity()["keep"] == "length > 3"
    plain, kept = (
        stage_digests(
            stages_of(
                dataclasses.replace(RUNS["smoke"], generate=dataclasses.replace(CONFIG, keep=keep)),
                RunFolder(tmp_path),
            )
        )
        for keep in ("", "length > 3")
    )
    assert plain["train-world"] == kept["train-world"]
    assert plain["generate"] != kept["generate"]
    assert plain["train-policy"] != kept["train-policy"]


@pytest.mark.usefixtures("ray_open")
def test_demonstrations_that_two_drove_say_who_and_are_made_again_from_their_own_starts(tmp_path: Path) -> None:
    counts = {"name": TESTING + "RandomCounts"}
    both = {"driver": counts, "expert": counts | {"kwargs": {"low": 1.0}}, "chance": 0.5, "turn": [1, 2]}
    stream = PluginRef("streams", "intervene", both)
    fleet, config = FleetConfig(num_workers=1), dataclasses.replace(CONFIG, max_steps=30)
    first = Destination(tmp_path / "first" / "generated", tmp_path / "first" / "rejected")
    generate(config, WORLD, stream, 3, first, tmp_path / "first" / "work", fleet, silent)
    driven = open_dataset(first.demonstrations)
    drove = np.concatenate([driven.columns(id)["intervention"] for id in driven.ids()])
    assert 0 < drove.mean() < 1
    assert audit(first.demonstrations).findings == ()

    replayed = make_stream("replay", {"dataset": str(first.demonstrations)}, "pusht", tmp_path)
    again = Destination(tmp_path / "again" / "generated", tmp_path / "again" / "rejected", "zarr")
    starts = starts_ref(first.demonstrations)
    table = generate(config, WORLD, replayed, 4, again, tmp_path / "again" / "work", fleet, silent, starts=starts)
    assert (table["num_attempts"], table["num_demonstrations"]) == (6, 6)
    originals = {driven.read(id).action.tobytes() for id in driven.ids()}
    assert {episode.action.tobytes() for episode in open_dataset(again.demonstrations)} <= originals


@pytest.mark.usefixtures("ray_open")
def test_several_worlds_take_turns_by_the_index_of_the_attempt(tmp_path: Path) -> None:
    other = PluginRef("worlds", TESTING + "CountingWorld", {"goal": 7})
    destination = Destination(tmp_path / "generated", tmp_path / "rejected", "zarr")
    fleet = FleetConfig(num_workers=1)
    generate(CONFIG, WORLD, STREAM, 3, destination, tmp_path / "work", fleet, silent, more=[(other, STREAM)])
    made = open_dataset(destination.demonstrations).summaries()
    assert {summary.index % 2: summary.task for summary in made} == {0: "Count to 8.", 1: "Count to 7."}
    assert len(made) == 6
