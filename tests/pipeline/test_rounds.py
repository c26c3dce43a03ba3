from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from demoloom.pipeline.presets import RUNS
from demoloom.pipeline.rounds import RoundConfig, current_round, finished_config, stages_of_round
from demoloom.pipeline.run_config import save_config
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import stage_digests
from demoloom.storage.errors import ConfigError

from .runs import done_run

SMOKE = RUNS["smoke"]


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    folder = done_run(tmp_path / "run", SMOKE)
    save_config(folder, SMOKE)
    return folder


def finish_round(run: RunFolder) -> None:
    current = current_round(run)
    stages = stages_of_round(RoundConfig(), SMOKE, current)
    for name, digest in stage_digests(stages).items():
        current.folder.write_manifest(name, {"digest": digest})


def test_the_first_round_goes_on_from_the_run_and_the_next_from_the_round_before(run: RunFolder) -> None:
    assert (current_round(run).number, current_round(run).before.path) == (1, run.path)
    finish_round(run)
    assert (current_round(run).number, current_round(run).before.path) == (2, run.path / "rounds" / "001")


def test_a_round_that_was_begun_is_finished_first(run: RunFolder) -> None:
    current_round(run).folder.write_manifest("starts", {"digest": "0"})
    assert current_round(run).number == 1


def test_the_stages_of_a_round_end_with_its_scores(run: RunFolder) -> None:
    names = [stage.name for stage in stages_of_round(RoundConfig(), SMOKE, current_round(run))]
    assert names == ["starts", "generate", "merge", "train-policy", "export", "evaluate"]


def test_no_round_evaluates_or_generates_with_the_seed_of_another_or_of_the_run(run: RunFolder) -> None:
    seeds = []
    for _ in range(2):
        stages = stages_of_round(RoundConfig(), SMOKE, current_round(run))
        seeds += [stage.config["seed"] for stage in stages if stage.uses_fleet]
        finish_round(run)
    assert len(set(seeds)) == 4


def test_another_evaluation_before_makes_a_round_anew(run: RunFolder) -> None:
    before = stage_digests(stages_of_round(RoundConfig(), SMOKE, current_round(run)))
    run.write_manifest("evaluate", {"digest": "another"})
    after = stage_digests(stages_of_round(RoundConfig(), SMOKE, current_round(run)))
    assert not set(before.values()) & set(after.values())


def test_more_demonstrations_keep_the_starts(run: RunFolder) -> None:
    before = stage_digests(stages_of_round(RoundConfig(), SMOKE, current_round(run)))
    more = replace(RoundConfig(), num_demonstrations=501)
    after = stage_digests(stages_of_round(more, SMOKE, current_round(run)))
    assert [name for name in before if before[name] == after[name]] == ["starts"]


def test_a_round_judges_attempts_as_the_run_does_and_stops_by_its_own_rules(run: RunFolder) -> None:
    strict = replace(SMOKE, generate=replace(SMOKE.generate, min_demonstrations=6, min_trust=0.7))
    stages = stages_of_round(RoundConfig(num_demonstrations=3), strict, current_round(run))
    (settings,) = [stage.config["generate"] for stage in stages if stage.name == "generate"]
    assert (settings["num_demonstrations"], settings["min_trust"]) == (3, 0.7)
    assert "min_demonstrations" not in settings


def test_a_run_that_is_not_finished_cannot_be_improved(run: RunFolder, tmp_path: Path) -> None:
    run.drop_manifest("evaluate")
    for folder in (run, RunFolder(tmp_path / "nowhere")):
        with pytest.raises(ConfigError, match=r"there is no finished run in .*; make one with `demoloom run"):
            finished_config(folder)


def test_a_round_that_cannot_be_is_refused_with_the_value() -> None:
    with pytest.raises(ConfigError, match="max_attempts must be at least 500, got 499"):
        RoundConfig(max_attempts=499)
    with pytest.raises(ConfigError, match="num_starts must be at least 1, got 0"):
        RoundConfig(num_starts=0)
