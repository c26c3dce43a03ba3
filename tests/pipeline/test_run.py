from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from demoloom.pipeline.choices import Given
from demoloom.pipeline.cli import main
from demoloom.pipeline.commands.run import default_options
from demoloom.pipeline.presets import DEFAULT_PRESET, RUNS, fit_to_kind
from demoloom.pipeline.run import stages_of
from demoloom.pipeline.run_config import RunConfig, load_config, save_config
from demoloom.pipeline.run_folder import RunFolder
from demoloom.pipeline.stage import stage_digests
from demoloom.pipeline.stages.collect import CollectConfig, link_interaction
from demoloom.pipeline.stages.evaluate import EvaluateConfig
from demoloom.pipeline.stages.generate import GenerateConfig, make_expert
from demoloom.policies.training import PolicyTrainingConfig
from demoloom.storage.dataset import open_dataset
from demoloom.storage.errors import CheckpointError, ConfigError, StoreError
from demoloom.storage.plugins import load_plugin

from .runs import dot_episode, write_store

SMOKE = RUNS["smoke"]


def changed_stages(tmp_path: Path, config: RunConfig, **changes: object) -> list[str]:
    folder = RunFolder(tmp_path / "run")
    before = stage_digests(stages_of(config, folder))
    after = stage_digests(stages_of(dataclasses.replace(config, **changes), folder))  # type: ignore[arg-type]
    return [name for name in after if after[name] != before.get(name)]


def test_the_stages_of_a_run_are_those_of_the_design(tmp_path: Path) -> None:
    names = [stage.name for stage in stages_of(SMOKE, RunFolder(tmp_path))]
    assert names == ["collect", "train-world", "generate", "train-policy", "evaluate", "export", "report"]


def test_a_baseline_adds_its_two_stages(tmp_path: Path) -> None:
    config = dataclasses.replace(SMOKE, baseline=True)
    names = [stage.name for stage in stages_of(config, RunFolder(tmp_path))]
    assert [name for name in names if "baseline" in name] == ["collect-baseline", "train-baseline"]


def test_every_stage_stands_after_those_it_needs(tmp_path: Path) -> None:
    stages = stages_of(dataclasses.replace(SMOKE, baseline=True), RunFolder(tmp_path))
    names = [stage.name for stage in stages]
    assert all(names.index(need) < names.index(stage.name) for stage in stages for need in stage.needs)


def test_the_number_of_workers_changes_no_digest(tmp_path: Path) -> None:
    fleet = dataclasses.replace(SMOKE.fleet, num_workers=SMOKE.fleet.num_workers + 1)
    assert changed_stages(tmp_path, SMOKE, fleet=fleet) == []


def test_another_evaluation_reruns_the_evaluation_and_the_report_only(tmp_path: Path) -> None:
    evaluate = dataclasses.replace(SMOKE.evaluate, num_episodes=3)
    assert changed_stages(tmp_path, SMOKE, evaluate=evaluate) == ["evaluate", "report"]


def test_another_number_of_demonstrations_keeps_the_world(tmp_path: Path) -> None:
    generate = dataclasses.replace(SMOKE.generate, num_demonstrations=5)
    assert changed_stages(tmp_path, SMOKE, generate=generate) == [
        "generate", "train-policy", "evaluate", "export", "report",
    ]  # fmt: skip


def test_both_policies_are_trained_in_the_mirror_of_the_task_unless_told_otherwise(tmp_path: Path) -> None:
    config = dataclasses.replace(SMOKE, baseline=True)
    stages = {stage.name: stage for stage in stages_of(config, RunFolder(tmp_path))}
    assert stages["train-policy"].config == stages["train-baseline"].config
    assert stages["train-policy"].config.mirror == load_plugin("tasks", "pusht").mirror != "none"
    without = {stage.name: stage for stage in stages_of(dataclasses.replace(config, mirror=False), RunFolder(tmp_path))}
    assert without["train-policy"].config.mirror == "none"


def test_another_seed_reruns_everything(tmp_path: Path) -> None:
    assert changed_stages(tmp_path, SMOKE, seed=1) == [stage.name for stage in stages_of(SMOKE, RunFolder(tmp_path))]


def test_given_interaction_data_is_linked_and_counted_not_copied(tmp_path: Path) -> None:
    write_store(tmp_path / "theirs", [dot_episode(0), dot_episode(1)])
    metrics = link_interaction(tmp_path / "theirs", tmp_path / "interaction")
    assert metrics == {"num_episodes": 2, "num_steps": 24, "labels": []}
    assert (tmp_path / "interaction").is_symlink()
    assert len(open_dataset(tmp_path / "interaction")) == 2


def test_given_interaction_data_that_has_changed_is_used_anew(tmp_path: Path) -> None:
    write_store(tmp_path / "theirs", [dot_episode(0)])
    config = dataclasses.replace(SMOKE, interaction=tmp_path / "theirs")
    folder = RunFolder(tmp_path / "run")
    before = stage_digests(stages_of(config, folder))
    write_store_again = open_dataset(tmp_path / "theirs")
    write_store_again.append(dot_episode(1))  # type: ignore[attr-defined]
    assert stage_digests(stages_of(config, folder))["collect"] != before["collect"]


def test_interaction_data_that_is_not_there_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "--run-dir", str(tmp_path / "run"), "--interaction", str(tmp_path / "nothing")]
    assert main(arguments) == 2
    assert "there is no dataset at" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_interaction_data_without_labels_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_store(tmp_path / "theirs", [dot_episode(0)])
    assert main(["run", "--run-dir", str(tmp_path / "run"), "--interaction", str(tmp_path / "theirs")]) == 2
    assert "has no labels" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_task_that_is_not_installed_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "--run-dir", str(tmp_path / "run"), "--task", "pushtt"]) == 2
    assert "did you mean 'pusht'" in capsys.readouterr().err


def test_a_world_without_a_probe_cannot_host_the_expert(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(CheckpointError, match="has no probe"):
        make_expert("pusht", tmp_path)


def test_a_world_that_judges_no_success_is_sent_to_collect(tmp_path: Path) -> None:
    (tmp_path / ".hydra").mkdir()
    with pytest.raises(CheckpointError, match=r"Interactive World Simulator.*`demoloom collect`"):
        make_expert("pusht", tmp_path)


def test_a_world_that_is_not_there_is_not_said_to_lack_a_probe(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"no world at .*nowhere; train one"):
        make_expert("pusht", tmp_path / "nowhere")


def test_link_to_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no dataset at"):
        link_interaction(tmp_path / "nothing", tmp_path / "interaction")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GenerateConfig(num_demonstrations=0), "num_demonstrations must be at least 1, got 0"),
        (lambda: GenerateConfig(num_demonstrations=9, max_attempts=8), "max_attempts must be at least 9, got 8"),
        (lambda: GenerateConfig(min_trust=1.5), "min_trust must lie between 0 and 1, got 1.5"),
        (lambda: GenerateConfig(success_score=-1.0), "success_score must lie between 0 and 1, got -1.0"),
        (lambda: GenerateConfig(success_hold=9, max_steps=8), "max_steps must be at least 9, got 8"),
        (lambda: CollectConfig(max_steps=0), "max_steps must be at least 1, got 0"),
        (lambda: EvaluateConfig(num_episodes=0), "num_episodes must be at least 1, got 0"),
        (lambda: RunConfig(seed=-1), "seed must not be negative, got -1"),
    ],
)
def test_a_setting_out_of_range_is_named_with_its_value(make: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make()  # type: ignore[operator]


def test_the_default_preset_exists() -> None:
    assert DEFAULT_PRESET in RUNS


def test_settings_of_one_kind_of_policy_are_not_given_to_another() -> None:
    preset = PolicyTrainingConfig(kind="latent", settings=("width=16",))
    assert fit_to_kind(dataclasses.replace(preset, kind="act"), preset).settings == ()
    assert fit_to_kind(dataclasses.replace(preset, num_steps=7), preset).settings == ("width=16",)
    own = dataclasses.replace(preset, kind="act", settings=("dim_model=64",))
    assert fit_to_kind(own, preset).settings == ("dim_model=64",)


def test_a_run_folder_keeps_the_settings_it_was_made_with(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    config = dataclasses.replace(RUNS["cpu"], seed=7, interaction=tmp_path)
    save_config(folder, config)
    assert default_options(Given(run_dir=folder.path)).config == config
    assert default_options(Given(preset="smoke", run_dir=folder.path)).config == SMOKE


def test_a_new_run_folder_gets_the_default_preset(tmp_path: Path) -> None:
    assert default_options(Given(run_dir=tmp_path)).config == RUNS[DEFAULT_PRESET]


def test_stored_settings_that_do_not_fit_are_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"seed": "seven"}')
    with pytest.raises(ConfigError, match=r"seed: Input should be a valid integer.*name a --preset"):
        load_config(RunFolder(tmp_path))


def test_with_a_trained_world_nothing_is_collected_or_trained(tmp_path: Path) -> None:
    world = tmp_path / "given"
    world.mkdir()
    for name in ("config.json", "spec.json", "model.safetensors", "starts.npz"):
        (world / name).touch()
    stages = stages_of(RunConfig(pretrained_world=world), RunFolder(tmp_path / "run"))
    assert [stage.name for stage in stages][:2] == ["train-world", "generate"]
    assert "collect" not in stages[-1].needs


def test_a_trained_world_that_is_not_there_is_refused_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["run", "--run-dir", str(tmp_path / "run"), "--pretrained-world", str(tmp_path / "nothing")]
    assert main(arguments) == 2
    assert "no world at" in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def test_a_world_is_either_trained_on_given_data_or_given_itself() -> None:
    with pytest.raises(ConfigError, match="give one of the two"):
        RunConfig(interaction=Path("data"), pretrained_world=Path("pusht"))
