"""Streams as somebody names them on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from demoloom.generators.learned.bundled import world_folder
from demoloom.pipeline.commands.generate import Options, _work
from demoloom.pipeline.stages.streams import make_stream, starts_ref
from demoloom.storage.errors import CheckpointError, ConfigError, PluginError
from demoloom.storage.plugins import PluginRef
from demoloom.teleop.pusht import PUSHT

BUNDLED = world_folder("pusht")


def made(name: str, **settings: object) -> PluginRef:
    return make_stream(name, settings, "pusht", BUNDLED)


def test_the_expert_is_that_of_the_task_and_sees_through_the_worlds_probe() -> None:
    assert made("expert") == PUSHT.expert(str(BUNDLED / "probe"))
    assert made("expert", action_noise=4.0).kwargs["action_noise"] == 4.0


def test_the_expert_can_stand_inside_of_another_stream() -> None:
    pushed = made("perturb", stream={"name": "expert", "kwargs": {"action_noise": 2.0}}, size=0.2)
    inner = {"name": "pusht-expert", "kwargs": {"probe": str(BUNDLED / "probe"), "action_noise": 2.0}}
    assert (pushed.name, dict(pushed.kwargs)) == ("perturb", {"stream": inner, "size": 0.2})
    mixed = made("mix", parts=[{"name": "expert", "weight": 2.0}, {"name": "idle"}])
    assert [part["name"] for part in mixed.kwargs["parts"]] == ["pusht-expert", "idle"]
    assert mixed.kwargs["parts"][0]["weight"] == 2.0


def test_folders_are_absolute_for_workers_elsewhere_and_other_texts_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "generated").mkdir()
    monkeypatch.chdir(tmp_path)
    assert made("replay", dataset="generated").kwargs == {"dataset": str(tmp_path / "generated")}
    assert made("replay", dataset="missing").kwargs == {"dataset": "missing"}
    inner = {"name": "replay", "kwargs": {"dataset": "generated"}}
    assert made("perturb", stream=inner).kwargs["stream"]["kwargs"] == {"dataset": str(tmp_path / "generated")}
    assert starts_ref(Path("generated")).kwargs == {"dataset": str(tmp_path / "generated")}


def test_what_is_carried_over_to_other_starts_the_task_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    carried = made("retarget", dataset="demonstrations", among=5)
    settings = {"label": "block_pose", "point": ["target_x", "target_y"], "ends": "world"}
    assert carried.kwargs == {"dataset": "demonstrations", "probe": str(BUNDLED / "probe"), "among": 5, **settings}
    plain = replace(PUSHT, name="plain", retarget=None)
    monkeypatch.setattr("demoloom.pipeline.stages.streams.load_task", lambda name: plain)
    with pytest.raises(ConfigError, match="task 'plain' does not say which object its demonstrations are about"):
        make_stream("retarget", {"dataset": "demonstrations"}, "plain", BUNDLED)


def test_settings_that_a_stream_does_not_take_are_refused_before_anything_is_made() -> None:
    with pytest.raises(ConfigError, match=r"stream 'replay' does not take .*; it takes dataset, tolerance, patience"):
        made("replay", data="generated")
    with pytest.raises(ConfigError, match=r"stream 'retarget' does not take .*missing a required argument: 'dataset'"):
        made("retarget")
    with pytest.raises(PluginError, match="did you mean 'perturb'"):
        made("pertrub")


def test_an_expert_needs_a_world_with_a_probe_and_a_replay_does_not(tmp_path: Path) -> None:
    assert make_stream("replay", {"dataset": "x"}, "pusht", tmp_path).name == "replay"
    with pytest.raises(CheckpointError, match="no world at "):
        make_stream("expert", {}, "pusht", tmp_path)


def test_work_that_was_begun_before_there_was_a_choice_of_streams_can_be_gone_on_with() -> None:
    assert set(_work(Options())) == {"world", "task", "seed", "attempt"}
    chosen = Options(stream="replay", settings=("dataset=x",), starts=Path("x"))
    assert set(_work(chosen)) - set(_work(Options())) == {"stream", "settings", "starts"}
