"""Policies of three kinds, untrained: what a stream does with one does not depend on how good it is."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from lerobot.configs import FeatureType, PolicyFeature
from lerobot.policies import ACTConfig, DiffusionConfig, get_policy_class, make_pre_post_processors
from safetensors.torch import load_file, save_file

from demoloom.generators.plan import RolloutPlan
from demoloom.generators.realities.pusht import PushTReality
from demoloom.generators.rollout import rollout
from demoloom.storage.episode import Episode
from demoloom.storage.errors import CheckpointError, ConfigError, SpecMismatch
from demoloom.storage.plugins import PluginRef
from demoloom.storage.spec import Camera, EpisodeSpec, Vector
from demoloom.teleop.policy_stream import PolicyStream

POINT = Vector(("x", "y"), (0.0, 0.0), (100.0, 100.0))
SPEC = EpisodeSpec(10, (Camera("top", 32, 32),), POINT, POINT, {}, "dot")
FEATURES = {
    "input_features": {
        "observation.images.top": PolicyFeature(FeatureType.VISUAL, (3, 32, 32)),
        "observation.state": PolicyFeature(FeatureType.STATE, (2,)),
    },
    "output_features": {"action": PolicyFeature(FeatureType.ACTION, (2,))},
    "device": "cpu",
    "push_to_hub": False,
    "pretrained_backbone_weights": None,
}
ONES = {
    "observation.state": np.ones(2),
    "action": np.ones(2),
    "observation.images.top": np.full((3, 1, 1), 0.01),
}
STATS = {key: {"mean": 50 * one, "std": 20 * one, "min": 0 * one, "max": 100 * one} for key, one in ONES.items()}


@pytest.fixture(scope="module")
def diffusion(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = DiffusionConfig(
        **FEATURES, horizon=8, n_action_steps=3, down_dims=(8, 16), n_groups=4, diffusion_step_embed_dim=8,
        use_group_norm=True, noise_scheduler_type="DDIM", num_train_timesteps=10, num_inference_steps=2,
    )  # fmt: skip
    return save(config, tmp_path_factory.mktemp("diffusion"))


@pytest.fixture(scope="module")
def act(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ACTConfig(
        **FEATURES, chunk_size=4, n_action_steps=2, dim_model=16, n_heads=2, dim_feedforward=16,
        n_encoder_layers=1, n_vae_encoder_layers=1, latent_dim=4,
    )  # fmt: skip
    return save(config, tmp_path_factory.mktemp("act"))


def save(config: ACTConfig | DiffusionConfig, folder: Path) -> Path:
    torch.manual_seed(0)
    for part in (get_policy_class(config.type)(config), *make_pre_post_processors(config, dataset_stats=STATS)):
        part.save_pretrained(folder)
    return folder


def observation(step: int, slots: list[int]) -> dict[str, np.ndarray]:
    """What slot s of a world shows at a step, the same in whichever row it stands."""
    rows = [np.random.default_rng([step, slot]) for slot in slots]
    return {
        "observation.images.top": np.stack([row.integers(0, 256, (32, 32, 3), np.uint8) for row in rows]),
        "observation.state": np.stack([row.uniform(0, 100, 2).astype(np.float32) for row in rows]),
    }


def drive(folder: Path, slots: list[int], steps: int = 5, restart: dict[int, list[bool]] | None = None) -> np.ndarray:
    """(steps, N, 2) actions; `restart` says at which steps which slots start anew."""
    stream = PolicyStream(SPEC, str(folder))
    stream.reset([100 + slot for slot in slots], np.ones(len(slots), bool))
    actions = []
    for step in range(steps):
        if step in (restart or {}):
            stream.reset([100 + slot for slot in slots], np.array(restart[step]))  # type: ignore[index]
        actions.append(stream.act(observation(step, slots)))
    assert not stream.finished().any()
    return np.array(actions)


@pytest.mark.parametrize("kind", ["act", "diffusion"])
def test_a_slot_acts_the_same_alone_and_among_others(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    many, alone = drive(folder, list(range(10))), drive(folder, [9])
    assert many.shape == (5, 10, 2)
    assert np.array_equal(many[:, 9], alone[:, 0])


def test_a_restarted_slot_plans_anew_and_leaves_its_neighbour_alone(diffusion: Path) -> None:
    plain, restarted = drive(diffusion, [0, 1]), drive(diffusion, [0, 1], restart={1: [True, False]})
    assert np.array_equal(plain[:, 1], restarted[:, 1])
    assert not np.array_equal(plain[1, 0], restarted[1, 0])


def test_the_stream_acts_as_lerobots_own_queues_do(act: Path) -> None:
    policy = get_policy_class("act").from_pretrained(act)
    pre, post = make_pre_post_processors(policy.config, str(act))
    expected = []
    for step in range(5):
        seen = observation(step, [0])
        image = torch.as_tensor(seen["observation.images.top"]).permute(0, 3, 1, 2).float() / 255
        batch = {"observation.images.top": image, "observation.state": torch.as_tensor(seen["observation.state"])}
        expected.append(post(policy.select_action(pre(batch))).numpy())
    assert np.allclose(drive(act, [0]), np.array(expected), atol=1e-3)


def test_diffusion_sees_the_history_that_lerobot_keeps(diffusion: Path) -> None:
    policy = get_policy_class("diffusion").from_pretrained(diffusion)
    pre, post = make_pre_post_processors(policy.config, str(diffusion))
    random = np.random.default_rng(100)
    expected = []
    for step in range(5):
        seen = observation(step, [0])
        image = torch.as_tensor(seen["observation.images.top"]).permute(0, 3, 1, 2).float() / 255
        batch = {"observation.images.top": image, "observation.state": torch.as_tensor(seen["observation.state"])}
        noise = torch.as_tensor(random.standard_normal((1, 8, 2), np.float32)) if step % 3 == 0 else None
        expected.append(post(policy.select_action(pre(batch), noise=noise)).numpy())
    assert np.allclose(drive(diffusion, [0]), np.array(expected), atol=1e-2)


@pytest.mark.parametrize("name", ["policy_preprocessor.json", "policy_postprocessor.json", "model.safetensors"])
def test_a_folder_copied_without_one_of_its_files_is_refused(tmp_path: Path, act: Path, name: str) -> None:
    shutil.copytree(act, tmp_path / "copy")
    (tmp_path / "copy" / name).unlink()
    with pytest.raises(CheckpointError, match=f"{name} is missing; copy the whole folder"):
        PolicyStream(SPEC, str(tmp_path / "copy"))


@pytest.mark.parametrize("statistic", ["action.mean", "observation.state.std"])
def test_a_policy_without_a_statistic_does_not_run_unnormalised(tmp_path: Path, act: Path, statistic: str) -> None:
    shutil.copytree(act, tmp_path / "copy")
    for file in (tmp_path / "copy").glob("*processor*.safetensors"):
        stats = load_file(file)
        stats.pop(statistic, None)
        save_file(stats, file)
    with pytest.raises(CheckpointError, match=f"has no '{statistic.split('.')[-1]}' of"):
        PolicyStream(SPEC, str(tmp_path / "copy"))


def test_a_missing_weight_is_refused(tmp_path: Path, act: Path) -> None:
    shutil.copytree(act, tmp_path / "copy")
    weights = load_file(tmp_path / "copy" / "model.safetensors")
    weights.pop("model.action_head.weight")
    save_file(weights, tmp_path / "copy" / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"cannot be loaded.*action_head"):
        PolicyStream(SPEC, str(tmp_path / "copy"))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config.json", "{"),
        ("config.json", "[]"),
        ("config.json", '{"type": "nobody"}'),
        ("model.safetensors", "cut"),
        ("policy_preprocessor_step_3_normalizer_processor.safetensors", "cut"),
        ("spec.json", "{"),
        ("spec.json", "{}"),
    ],
)
def test_a_damaged_file_is_refused_in_one_sentence(tmp_path: Path, act: Path, name: str, content: str) -> None:
    shutil.copytree(act, tmp_path / "copy")
    (tmp_path / "copy" / name).write_text(content)
    with pytest.raises(CheckpointError, match=r"the policy in .*copy (is damaged|cannot be loaded)") as caught:
        PolicyStream(SPEC, str(tmp_path / "copy"))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_another_camera_size_is_refused_with_both(act: Path) -> None:
    with pytest.raises(SpecMismatch, match=r"\(3, 32, 32\) here and \(3, 64, 64\) there"):
        PolicyStream(replace(SPEC, cameras=(Camera("top", 64, 64),)), str(act))


def test_another_camera_name_is_refused(act: Path) -> None:
    with pytest.raises(SpecMismatch, match=r"images\.top is .* here and missing there"):
        PolicyStream(replace(SPEC, cameras=(Camera("wrist", 32, 32),)), str(act))


def test_joints_in_another_order_are_refused_with_both_lists(tmp_path: Path, act: Path) -> None:
    import json

    shutil.copytree(act, tmp_path / "copy")
    (tmp_path / "copy" / "spec.json").write_text(json.dumps(SPEC.to_dict()))
    with pytest.raises(SpecMismatch, match="action is x, y here and y, x there"):
        PolicyStream(replace(SPEC, action=replace(POINT, names=("y", "x"))), str(tmp_path / "copy"))


def test_more_steps_than_planned_are_refused(act: Path) -> None:
    with pytest.raises(ConfigError, match=r"between 1 and 2.* got 3"):
        PolicyStream(SPEC, str(act), num_action_steps=3)


def test_an_evaluation_in_batches_of_two_three_and_six_is_the_same(diffusion: Path) -> None:
    runs = [evaluate(diffusion, num_slots) for num_slots in (2, 3, 6)]
    assert [len(run) for run in runs] == [6, 6, 6]
    for index in range(6):
        first, *others = (run[index] for run in runs)
        for other in others:
            assert other.seed == first.seed
            assert np.array_equal(other.images["top"], first.images["top"])
            assert np.array_equal(other.action, first.action)


def evaluate(folder: Path, num_slots: int) -> list[Episode]:
    """Six episodes of seven steps in PushT, by index."""
    world = PushTReality(num_slots, size=32)
    plan = RolloutPlan(
        stage="evaluate",
        world=PluginRef("worlds", "pusht", {"size": 32}),
        stream=PluginRef("streams", "policy", {"policy": str(folder)}),
        run_seed=3,
        max_steps=7,
        num_slots=num_slots,
    )
    stream = PolicyStream(world.episode_spec, str(folder))
    return sorted(rollout(world, stream, plan, range(6)), key=lambda episode: episode.index)
