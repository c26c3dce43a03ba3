from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest

from demoloom.generators import RolloutPlan, rollout
from demoloom.pipeline.cli import main
from demoloom.pipeline.replay import compare, find_episode, plan_of, remake
from demoloom.pipeline.run_folder import RunFolder
from demoloom.storage.convert import convert
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import ConfigError, StoreError
from demoloom.storage.plugins import PluginRef
from demoloom.storage.zarr_store import ZarrStore

from .runs import dot_episode, write_store

COUNTING = "demoloom.generators.testing:CountingWorld"
COUNTS = "demoloom.generators.testing:RandomCounts"
PLAN = RolloutPlan(
    stage="generate",
    world=PluginRef("worlds", COUNTING),
    stream=PluginRef("streams", COUNTS),
    run_seed=3,
    max_steps=12,
    num_slots=2,
)


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """A run whose `rejected` store holds three episodes of a counting world."""
    folder = RunFolder(tmp_path / "run")
    world = PLAN.world.build(num_envs=PLAN.num_slots)
    store = ZarrStore.create(folder.path / "rejected", world.episode_spec)
    for episode in rollout(world, PLAN.stream.build(spec=world.episode_spec), PLAN, range(3)):
        store.append(episode)
    return folder


def test_an_episode_is_made_again_byte_by_byte(folder: RunFolder) -> None:
    stored = find_episode(folder, PLAN.episode_id(2))
    verdicts = compare(stored, remake(folder, stored.episode))
    assert {verdict.name for verdict in verdicts} >= {"action", "state", "frames top", "label count"}
    assert all(verdict.text == "bytes are equal" for verdict in verdicts)


def test_the_command_says_so(folder: RunFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", PLAN.episode_id(1), "--run-dir", str(folder.path)]) == 0
    assert "bytes are equal" in capsys.readouterr().out


def test_a_changed_array_is_named_with_its_difference(folder: RunFolder) -> None:
    stored = find_episode(folder, PLAN.episode_id(0))
    changed = dataclasses.replace(stored.episode, action=stored.episode.action + np.float32(0.5))
    differing = [verdict for verdict in compare(stored, changed) if not verdict.equal]
    assert [(verdict.name, verdict.text) for verdict in differing] == [("action", "differs by up to 0.5")]


def test_another_length_is_named_with_both_shapes(folder: RunFolder) -> None:
    stored = find_episode(folder, PLAN.episode_id(0))
    shorter = dataclasses.replace(stored.episode, reward=stored.episode.reward[:-1])
    texts = [verdict.text for verdict in compare(stored, shorter) if not verdict.equal]
    assert texts == [f"shape {stored.episode.reward.shape} stored, {shorter.reward.shape} made again"]


def test_frames_of_a_video_are_compared_up_to_compression(folder: RunFolder) -> None:
    convert(open_dataset(folder.path / "rejected"), folder.path / "generated", "lerobot")
    shutil.rmtree(folder.path / "rejected")
    stored = find_episode(folder, PLAN.episode_id(1))
    made = remake(folder, stored.episode)
    assert all(verdict.equal for verdict in compare(stored, made))
    for off, text in ((1, "equal up to video compression, 48.1 dB"), (100, "differs up to video compression, 8.1 dB")):
        other = dataclasses.replace(made, images={"top": stored.episode.images["top"] + np.uint8(off)})
        assert {verdict.name: verdict.text for verdict in compare(stored, other)}["frames top"] == text


def test_a_moved_run_is_replayed_where_it_lies(folder: RunFolder) -> None:
    there = str(folder.path / "world")
    plan = dataclasses.replace(PLAN, lineage={}, world=PluginRef("worlds", COUNTING, {"checkpoint": there}))
    (folder.path / "world").mkdir()
    (folder.path / "world" / "weights").write_text("weights")
    episode = dataclasses.replace(dot_episode(0), id=plan.episode_id(0), lineage={"plan": plan.to_dict()})
    (folder.path / "lineage.json").write_text(f'{{"path": "{folder.path}"}}')
    moved = RunFolder(folder.path.rename(folder.path.with_name("moved")))
    assert plan_of(moved, episode).world.kwargs == {"checkpoint": str(moved.path / "world")}
    (moved.path / "world" / "weights").write_text("other weights")
    with pytest.raises(ConfigError, match="made with another world, probe or policy"):
        plan_of(moved, episode)


def test_an_unknown_id_says_where_it_was_looked_for(folder: RunFolder) -> None:
    with pytest.raises(StoreError, match=r"no episode 'nobody' in .* \(looked in rejected\)"):
        find_episode(folder, "nobody")


def test_an_episode_without_a_plan_cannot_be_made_again(tmp_path: Path) -> None:
    write_store(tmp_path / "run" / "generated", [dot_episode(0)])
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(ConfigError, match="was not made by a rollout"):
        remake(folder, find_episode(folder, "dot-000000").episode)
