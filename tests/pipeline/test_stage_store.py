"""A line of three small stages that write real files: a -> b -> c, each adds one line to what it reads."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from demoloom.pipeline.line import run_stages
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import Stage, stage_digests, stage_seed
from demoloom.pipeline.stage_store import changes, is_done
from demoloom.storage.errors import StoreError
from demoloom.storage.progress import Progress


@dataclass
class Line:
    folder: RunFolder
    words: dict[str, str] = field(default_factory=lambda: {"a": "one", "b": "two", "c": "three"})
    fails_at: str | None = None
    fails_with: list[Exception] | None = None
    ran: list[str] = field(default_factory=list)

    def stages(self) -> list[Stage]:
        return [self.stage("a", ()), self.stage("b", ("a",)), self.stage("c", ("b",))]

    def stage(self, name: str, needs: tuple[str, ...]) -> Stage:
        def run(work: Path, progress: Progress) -> dict[str, Any]:
            self.ran.append(name)
            before = (self.folder.path / needs[0] / "text").read_text() if needs else ""
            tries = work / "tries"
            tries.write_text(tries.read_text() + "x" if tries.exists() else "x")
            progress(1, 2, "half")
            if name == self.fails_at and self.fails_with is None:
                raise RuntimeError("the power went")
            if name == self.fails_at and self.fails_with:
                raise self.fails_with.pop(0)
            (self.folder.path / name).mkdir()
            (self.folder.path / name / "text").write_text(f"{before}{self.words[name]} ")
            return {"num_tries": len(tries.read_text())}

        return Stage(name=name, run=run, config={"word": self.words[name]}, outputs=(name,), needs=needs)

    def run(self) -> None:
        run_stages(self.folder, self.stages(), quiet=True)

    def text(self) -> str:
        return (self.folder.path / "c" / "text").read_text()


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(RunFolder(tmp_path / "run"))


def test_stages_run_in_order_and_each_only_once(line: Line) -> None:
    line.run()
    line.run()
    assert line.ran == ["a", "b", "c"]
    assert line.text() == "one two three "


@pytest.mark.parametrize(("fails_at", "reruns"), [("a", "abc"), ("b", "bc"), ("c", "c")])
def test_a_run_that_failed_at_any_stage_goes_on_there_and_ends_the_same(line: Line, fails_at: str, reruns: str) -> None:
    line.fails_at = fails_at
    with pytest.raises(RuntimeError, match="the power went"):
        line.run()
    line.fails_at = None
    line.ran.clear()
    line.run()
    assert "".join(line.ran) == reruns
    assert line.text() == "one two three "


@pytest.mark.parametrize(("attempt", "num_tries"), [("same", 2), ("another", 1)])
def test_a_try_with_other_settings_goes_on_where_these_do_not_matter_to_its_work(
    line: Line, attempt: str, num_tries: int
) -> None:
    first = replace(line.stage("a", ()), work_config={"attempt": "same"})
    line.fails_at = "a"
    with pytest.raises(RuntimeError):
        run_stages(line.folder, [first], quiet=True)
    line.fails_at = None
    then = replace(first, config={"word": "another budget"}, work_config={"attempt": attempt})
    run_stages(line.folder, [then], quiet=True)
    manifest = line.folder.manifest("a")
    assert manifest is not None
    assert manifest["metrics"] == {"num_tries": num_tries}
    assert not list((line.folder.path / "work").iterdir())


def test_the_work_folder_of_a_failed_try_is_there_for_the_next_and_gone_after_success(line: Line) -> None:
    line.fails_at = "b"
    for _ in range(2):
        with pytest.raises(RuntimeError):
            line.run()
    line.fails_at = None
    line.run()
    manifest = line.folder.manifest("b")
    assert manifest is not None
    assert manifest["metrics"] == {"num_tries": 3}
    assert list((line.folder.path / "work").iterdir()) == []


def test_another_config_runs_that_stage_and_those_after_it_again(line: Line) -> None:
    line.run()
    line.ran.clear()
    line.words["b"] = "zwei"
    line.run()
    assert line.ran == ["b", "c"]
    assert line.text() == "one zwei three "


def test_a_changed_setting_is_named_with_both_values(line: Line) -> None:
    line.run()
    line.words["b"] = "zwei"
    stages = line.stages()
    digests = stage_digests(stages)
    assert [changes(line.folder, stage, digests[stage.name]) for stage in stages] == [
        [],
        ["word: 'two' -> 'zwei'"],
        ["what it reads has changed (b)"],
    ]


def test_a_deleted_output_is_made_again(line: Line) -> None:
    line.run()
    (line.folder.path / "b" / "text").unlink()
    (line.folder.path / "b").rmdir()
    line.ran.clear()
    line.run()
    assert line.ran == ["b"]


def test_a_raised_version_number_changes_the_digest_of_the_stage_and_of_those_after_it(line: Line) -> None:
    stages = line.stages()
    raised = [stages[0], Stage(**{**vars(stages[1]), "version": 2}), stages[2]]
    before, after = stage_digests(stages), stage_digests(raised)
    assert [before[name] == after[name] for name in "abc"] == [True, False, False]


def test_a_stage_that_makes_no_output_is_not_done(line: Line) -> None:
    lazy = Stage(name="a", run=lambda work, progress: {}, config={}, outputs=("a",))
    with pytest.raises(StoreError, match="ended without making a"):
        run_stages(line.folder, [lazy], quiet=True)
    assert not is_done(line.folder, lazy, stage_digests([lazy])["a"])


def test_a_linked_folder_of_the_user_is_never_deleted(line: Line, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()

    def link(work: Path, progress: Progress) -> dict[str, Any]:
        (line.folder.path / "a").symlink_to(theirs)
        return {}

    for version in (1, 2):
        stage = Stage(name="a", run=link, config={}, outputs=("a",), version=version)
        run_stages(line.folder, [stage], quiet=True)
    assert theirs.is_dir()


def test_events_tell_what_happened_in_order(line: Line) -> None:
    line.fails_at = "b"
    with pytest.raises(RuntimeError):
        line.run()
    told = [(event["stage"], event["event"]) for event in line.folder.events()]
    assert told == [("a", "started"), ("a", "done"), ("b", "started"), ("b", "failed")]
    assert line.folder.events()[-1]["error"] == "RuntimeError: the power went"


def test_lineage_names_config_digest_and_code_of_each_finished_stage(line: Line) -> None:
    line.run()
    lineage = json.loads((line.folder.path / "lineage.json").read_text())
    assert lineage["stages"]["b"]["config"] == {"word": "two"}
    assert lineage["stages"]["b"]["digest"] == stage_digests(line.stages())["b"]
    assert lineage["code_version"]


def test_two_processes_cannot_run_in_one_folder(line: Line) -> None:
    with line.folder.lock(), pytest.raises(StoreError, match=r"process \d+ is running stages in"):
        line.run()


def test_a_broken_manifest_is_named_with_the_remedy(line: Line) -> None:
    line.run()
    (line.folder.path / "stages" / "a.json").write_text("{")
    with pytest.raises(StoreError, match=r"a\.json is not valid JSON .* delete it"):
        line.run()


def test_stages_draw_from_different_seeds_and_the_same_stage_from_the_same() -> None:
    assert stage_seed(0, "generate") == stage_seed(0, "generate")
    assert len({stage_seed(seed, stage) for seed in range(3) for stage in ("collect", "generate", "evaluate")}) == 9
