"""The whole line on the smoke preset, as a user runs it: one process, real physics, real training, tiny sizes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from demoloom.generators.learned.checkpoint import hash_checkpoint
from demoloom.pipeline.run_folder import RunFolder
from demoloom.storage.dataset import open_dataset

pytestmark = pytest.mark.slow

DEMOLOOM = [sys.executable, "-m", "demoloom.pipeline.cli"]


def demoloom(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*DEMOLOOM, *arguments], capture_output=True, text=True, cwd=cwd, timeout=600)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """`demoloom run --preset smoke --baseline`, through Prefect, finished."""
    cwd = tmp_path_factory.mktemp("smoke")
    done = demoloom("run", "--preset", "smoke", "--baseline", cwd=cwd)
    assert done.returncode == 0, done.stderr
    folder = RunFolder(cwd / "runs" / "smoke")
    assert done.stdout.strip() == str(folder.path / "report" / "index.html")
    return folder


def test_the_run_folder_holds_all_that_the_design_names(run: RunFolder) -> None:
    made = {path.name for path in run.path.iterdir() if not path.name.startswith(".")}
    assert made >= {
        "interaction", "world", "generated", "rejected", "policy", "baseline", "evaluation", "export", "report",
        "lineage.json", "events.jsonl",
    }  # fmt: skip
    lineage = json.loads((run.path / "lineage.json").read_text())
    assert list(lineage["stages"]) == [
        "collect", "train-world", "generate", "train-policy", "collect-baseline", "train-baseline", "evaluate",
        "export", "report",
    ]  # fmt: skip


def test_the_world_can_be_read_by_every_user(run: RunFolder) -> None:
    files = [path for path in (run.path / "world").rglob("*") if path.is_file()]
    assert {path.stat().st_mode & 0o777 for path in files} == {0o644}


def test_a_run_with_a_trained_world_goes_on_from_it_to_its_report(run: RunFolder, tmp_path: Path) -> None:
    done = demoloom("run", "--preset", "smoke", "--pretrained-world", str(run.path / "world"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    folder = RunFolder(tmp_path / "runs" / "smoke")
    assert (folder.path / "report" / "index.html").is_file()
    assert not (folder.path / "interaction").exists()
    assert hash_checkpoint(folder.path / "world") == hash_checkpoint(run.path / "world")


def test_a_second_call_finds_everything_done(run: RunFolder) -> None:
    events = run.events()
    done = demoloom("run", "--preset", "smoke", "--baseline", cwd=run.path.parent.parent)
    assert done.returncode == 0, done.stderr
    assert "nothing to do" in done.stderr
    assert run.events() == events


def test_generated_holds_exactly_the_demonstrations_asked_for(run: RunFolder) -> None:
    summaries = open_dataset(run.path / "generated").summaries()
    assert len(summaries) == 6
    assert all(summary.is_demonstration for summary in summaries)
    assert not any(summary.is_demonstration for summary in open_dataset(run.path / "rejected").summaries())


def test_no_two_episodes_of_a_run_share_a_seed_except_evaluations_from_one_list(run: RunFolder) -> None:
    made = [
        summary.seed
        for name in ("interaction", "generated", "rejected", "baseline/demonstrations")
        for summary in open_dataset(run.path / name).summaries()
    ]
    lists = [
        [summary.seed for summary in open_dataset(path).summaries()]
        for path in sorted((run.path / "evaluation").glob("*/"))
    ]
    assert len(set(made)) == len(made)
    assert all(seeds == lists[0] for seeds in lists)
    assert not set(made) & set(lists[0])


def test_demonstrations_load_in_plain_lerobot_without_our_code(run: RunFolder) -> None:
    code = f"""
import sys
from lerobot.datasets import LeRobotDataset
dataset = LeRobotDataset("someone/generated", root={str(run.path / "generated")!r})
item = dataset[0]
assert not [name for name in sys.modules if name.split(".")[0] == "demoloom"]
print(dataset.num_episodes, tuple(item["observation.images.top"].shape), tuple(item["action"].shape))
"""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert loaded.stdout.splitlines()[-1:] == ["6 (3, 64, 64) (2,)"], loaded.stderr


def test_an_episode_of_the_run_is_replayed(run: RunFolder) -> None:
    id = open_dataset(run.path / "generated").ids()[3]
    done = demoloom("replay", id, "--run-dir", str(run.path), cwd=run.path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "bytes are equal" in done.stdout


def test_scores_start_from_the_same_states_and_have_intervals(run: RunFolder) -> None:
    rows = json.loads((run.path / "evaluation" / "scores.json").read_text())["scores"]
    assert [row["key"] for row in rows] == [
        "policy-in-reality", "policy-in-world", "baseline-in-reality", "random-in-reality",
    ]  # fmt: skip
    assert all(
        row["success_rate"]["low"] <= row["success_rate"]["value"] <= row["success_rate"]["high"] for row in rows
    )


def test_a_round_adds_demonstrations_from_where_the_policy_failed_and_scores_both(run: RunFolder) -> None:
    arguments = ["--num-demonstrations", "3", "--max-attempts", "9", "--num-starts", "10", "--no-prefect"]
    done = demoloom("improve", "--run-dir", str(run.path), *arguments, cwd=run.path)
    assert done.returncode == 0, done.stderr
    made = run.path / "rounds" / "001"
    before = open_dataset(run.path / "evaluation" / "policy-in-reality").summaries()
    failed = {summary.id for summary in before if not summary.success}
    assert {id.rpartition("-row-")[0] for id in open_dataset(made / "starts").ids()} == failed
    assert len(open_dataset(made / "generated")) == 6 + 3
    scores = json.loads((made / "evaluation" / "scores.json").read_text())["scores"]
    assert [row["key"] for row in scores] == ["policy-in-reality", "before-in-reality"]
    after = open_dataset(made / "evaluation" / "policy-in-reality").summaries()
    assert not {summary.seed for summary in after} & {summary.seed for summary in before}


def test_generate_killed_in_the_middle_goes_on_to_the_exact_count(run: RunFolder, tmp_path: Path) -> None:
    arguments = ["generate", "--preset", "smoke", "--world", str(run.path / "world"), "--format", "zarr"]
    arguments += ["--num-demonstrations", "60", "--max-attempts", "60"]
    process = subprocess.Popen([*DEMOLOOM, *arguments], cwd=tmp_path, start_new_session=True, stderr=subprocess.DEVNULL)
    before = wait_for_episodes(tmp_path, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "generated").exists()
    done = demoloom(*arguments, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summaries = open_dataset(tmp_path / "generated").summaries()
    assert [summary.index for summary in summaries] == list(range(60))
    assert before <= {summary.id for summary in summaries}


def wait_for_episodes(folder: Path, process: subprocess.Popen[bytes]) -> set[str]:
    """Ids of the first episodes that are stored while `process` still makes others."""
    for _ in range(2000):
        stored = {path.name for path in folder.glob("generated.work-*/episodes/episodes/*") if path.name[0] != "."}
        if stored:
            assert process.poll() is None
            return stored
        time.sleep(0.05)
    raise AssertionError("no episode was stored within 100 s")
