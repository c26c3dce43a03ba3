from __future__ import annotations

from pathlib import Path

from demoloom.pipeline.artifacts import artifact_key, at_most_every, outcome_rows, score_rows, summary_text
from demoloom.pipeline.run_folder import RunFolder

from .runs import score_row
from .test_stage_store import Line


def test_a_key_is_of_letters_digits_and_dashes(tmp_path: Path) -> None:
    assert artifact_key(RunFolder(tmp_path / "Night_2.b"), "scores") == "night-2-b-scores"
    assert artifact_key(RunFolder(tmp_path / "night" / "rounds" / "001"), "scores") == "night-round-001-scores"


def test_outcomes_are_counted_by_reason_with_their_share_of_the_attempts() -> None:
    rows = outcome_rows({"num_attempts": 5, "num_demonstrations": 4, "reasons": {"not solved": 1}})
    assert [list(row.values()) for row in rows] == [
        ["demonstrations", 4, "80 %"],
        ["attempts", 5, "100 %"],
        ["not solved", 1, "20 %"],
    ]


def test_scores_have_their_intervals() -> None:
    (row,) = score_rows([score_row("policy", "reality", 0.6)])
    assert (row["where"], row["success rate"]) == ("reality", "60 % (50 to 70)")


def test_the_summary_tells_what_ran_and_what_was_done_already(tmp_path: Path) -> None:
    line = Line(RunFolder(tmp_path / "run"))
    line.run()
    table = summary_text(line.folder, line.stages(), ran=["b", "c"]).splitlines()[4:]
    assert [row.split(" | ")[:2] for row in table] == [["| a", "was done already"], ["| b", "ran"], ["| c", "ran"]]
    assert f"`{line.folder.path}/c`" in table[2]


def test_progress_is_told_at_most_once_in_an_interval() -> None:
    told: list[int] = []
    seldom = at_most_every(1000, lambda done, total, message: told.append(done))
    for done in range(10):
        seldom(done, 10, "")
    assert told == [0]
