from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from demoloom.generators.interactive_world_simulator.checkpoint import load_checkpoint
from demoloom.generators.interactive_world_simulator.config import SimulatorConfig, read_config
from demoloom.generators.interactive_world_simulator.simulator import WINDOW, Simulator
from demoloom.generators.interactive_world_simulator.starts import fit_frame, read_starts
from demoloom.generators.interactive_world_simulator.world import InteractiveWorldSimulator
from demoloom.generators.testing.contracts import WorldContract
from demoloom.storage import Camera, CheckpointError, ConfigError, SpecMismatch, StoreError, load_plugin

from .moving_square import write_squares
from .simulator_checkpoint import (
    SIZE,
    hydra_settings,
    lightning_content,
    official_name,
    random_weights,
    small_config,
    write_checkpoint,
    write_images,
    write_settings,
    write_weights,
)

RELEASED = SimulatorConfig(cameras=("camera_1_color",), action_size=4)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("simulator") / "pusht_cam0")


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_images(tmp_path_factory.mktemp("starts") / "images")


class TestTheSimulatorKeepsTheContract(WorldContract):
    slot_tolerance = 1.0

    @pytest.fixture(autouse=True)
    def _given(self, checkpoint: Path, images: Path) -> None:
        self.checkpoint, self.images = checkpoint, images

    def make(self, num_envs: int) -> InteractiveWorldSimulator:
        return InteractiveWorldSimulator(str(self.checkpoint), num_envs, starts=str(self.images), device="cpu")


def _world(checkpoint: Path, images: Path | None = None, num_envs: int = 1, **more: Any) -> InteractiveWorldSimulator:
    starts = None if images is None else str(images)
    return InteractiveWorldSimulator(str(checkpoint), num_envs, starts=starts, device="cpu", **more)


def _action(x: float, y: float) -> np.ndarray:
    return np.array([[x, y]], np.float32)


def test_it_is_found_by_its_name() -> None:
    assert load_plugin("worlds", "interactive-world-simulator") is InteractiveWorldSimulator


def test_every_parameter_of_the_released_networks_has_its_place_and_shape() -> None:
    official = json.loads((Path(__file__).parent / "official_parameters.json").read_text())
    with torch.device("meta"):
        ours = Simulator(RELEASED)
    assert {official_name(name): list(value.shape) for name, value in ours.state_dict().items()} == official


def test_the_networks_are_as_large_as_the_released_ones() -> None:
    with torch.device("meta"):
        ours = Simulator(RELEASED)
    sizes = [sum(p.numel() for p in part.parameters()) for part in (ours.encoder, ours.dynamics, ours.decoder)]
    # The frequencies of the rotary embedding, 64 numbers, are a parameter there and none here.
    assert sizes == [704, 5_841_860 - 64, 27_601_483]


def test_the_networks_compute_what_the_official_code_computes(checkpoint: Path) -> None:
    simulator = Simulator(small_config(num_views=2)).eval()
    weights = random_weights(small_config(num_views=2))
    simulator.load_state_dict({name: weights[official_name(name)] for name in simulator.state_dict()})
    rng = np.random.default_rng(1)
    shapes = (1, 6, SIZE, SIZE), (1, 4, 2), (1, 8, 4, 4), (1, 6, SIZE, SIZE)
    frames, actions, noise, frame_noise = (torch.from_numpy(rng.normal(size=s).astype(np.float32)) for s in shapes)
    with torch.inference_mode():
        first = simulator.encode(frames)
        history = torch.stack([first, first.flip(2), first.flip(3)], dim=1)
        following = simulator.predict(history, actions, noise)
        drawn = simulator.decode(following, frame_noise)
    # Computed with the modules of github.com/WangYixuan12/interactive_world_sim at 3ba69b4 from the same weights.
    _assert_near(first[0, :, 1, 2], 0.166888, 0.743339, -0.647761, 0.000985, 0.356277, 0.635540, 0.105459, 0.676783)
    _assert_near(
        following[0, :, 1, 2], -0.185390, -0.380137, 0.098179, -0.900826, 0.088518, 0.650021, 0.526273, -0.540994
    )
    _assert_near(drawn[0, :, 5, 6], 0.689145, 0.197618, -0.031238, 0.850509, -0.050937, -0.222447)


def _assert_near(found: Tensor, *expected: float) -> None:
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-4)


def test_the_configuration_is_read_through_its_references(checkpoint: Path) -> None:
    assert read_config(checkpoint / ".hydra" / "config.yaml") == small_config()


def test_actions_are_bounded_where_their_scaling_gives_minus_one_and_one(checkpoint: Path) -> None:
    spec = _world(checkpoint).episode_spec
    # 4 x - 1 and 2 y.
    assert spec.action.low == (0.0, -0.5)
    assert spec.action.high == (0.5, 0.5)
    assert spec.cameras == (Camera("camera_0", SIZE, SIZE),)


def test_actions_are_named_where_the_release_says_truly_what_they_are(tmp_path: Path, checkpoint: Path) -> None:
    assert _world(checkpoint).episode_spec.action.names == ("action_0", "action_1")
    settings, content = hydra_settings(), lightning_content()
    settings["dataset"]["action_mode"] = "single_grasp"
    settings["algorithm"]["action_dim"] = 4
    config = replace(small_config(), action_size=4)
    vectors = {f"normalizer.params_dict.action.{name}": torch.ones(4) for name in ("scale", "offset")}
    write_settings(tmp_path, settings)
    write_weights(tmp_path, content | {"state_dict": random_weights(config) | vectors})
    assert _world(tmp_path).episode_spec.action.names == ("x", "y", "z", "gripper")


def test_the_state_is_the_last_command(checkpoint: Path, images: Path) -> None:
    world = _world(checkpoint, images)
    middle = world.reset(seed=0)[0]["observation.state"]
    np.testing.assert_array_equal(middle, [[0.25, 0.0]])
    np.testing.assert_array_equal(world.step(_action(0.125, 0.25))[0]["observation.state"], [[0.125, 0.25]])


def test_the_position_at_the_start_is_the_action_that_led_there(checkpoint: Path, images: Path) -> None:
    world = _world(checkpoint, images)
    observation, _ = world.reset(seed=0)
    shown, followed = [], []
    for position in ([[0.0, 0.0]], [[0.5, 0.5]]):
        start = {**observation, "observation.state": np.array(position, np.float32)}
        shown.append(world.reset(seed=0, options={"start": start})[0]["observation.images.camera_0"])
        followed.append(world.step(_action(0.25, 0.0))[0]["observation.images.camera_0"])
    np.testing.assert_array_equal(shown[0], shown[1])
    assert (followed[0] != followed[1]).any()


def test_a_slot_begun_later_goes_on_as_one_begun_first(checkpoint: Path, images: Path) -> None:
    """Ages differ between the slots, so that windows of several lengths are predicted in one step."""
    late, fresh = _world(checkpoint, images, 2), _world(checkpoint, images, 2)
    late.reset(seed=[1, 2])
    actions = np.tile(_action(0.1, 0.2), (2, 1))
    for _ in range(3):
        late.step(actions)
    late.reset(seed=[5, 0], options={"reset_mask": np.array([True, False])})
    fresh.reset(seed=[5, 6])
    for _ in range(WINDOW + 1):
        ours, theirs = late.step(actions)[0], fresh.step(actions)[0]
        np.testing.assert_array_equal(ours["observation.images.camera_0"][0], theirs["observation.images.camera_0"][0])


def test_noise_follows_the_seed(checkpoint: Path, images: Path) -> None:
    world = _world(checkpoint, images)
    start, _ = world.reset(seed=0)
    first, other = (world.reset(seed=seed, options={"start": start})[0] for seed in (1, 2))
    assert (first["observation.images.camera_0"] != other["observation.images.camera_0"]).any()


def test_nothing_is_judged(checkpoint: Path, images: Path) -> None:
    world = _world(checkpoint, images)
    world.reset(seed=0)
    _, reward, terminated, _, info = world.step(_action(0.5, 0.5))
    assert (reward[0], terminated[0], info["score"][0], info["trust"][0]) == (0.0, False, 0.0, 1.0)


def test_all_views_come_from_one_latent(tmp_path: Path) -> None:
    for view in range(2):
        write_images(tmp_path / "starts" / f"camera_{view}", count=3)
    world = _world(write_checkpoint(tmp_path / "world", num_views=2), tmp_path / "starts")
    observation, _ = world.reset(seed=0)
    views = [observation[f"observation.images.camera_{view}"] for view in range(2)]
    assert [view.shape for view in views] == [(1, SIZE, SIZE, 3)] * 2
    assert (views[0] != views[1]).any()


# Starts


def test_a_frame_is_cropped_to_the_middle_and_averaged() -> None:
    wide = np.zeros((4, 8, 3), np.uint8)
    wide[:, 2:4], wide[:, 4:6] = 100, 200
    np.testing.assert_array_equal(fit_frame(wide, Camera("top", 2, 2))[..., 0], [[100, 200], [100, 200]])


def test_starts_of_a_dataset_are_first_frames_and_first_actions(checkpoint: Path, tmp_path: Path) -> None:
    spec = replace(_world(checkpoint).episode_spec, cameras=(Camera("top", SIZE, SIZE),))
    starts = read_starts(write_squares(tmp_path / "squares", count=3), spec)
    assert starts.frames.shape == (3, SIZE, SIZE, 3)
    first = np.random.default_rng(0).uniform(4, 28, (20, 2))[0]
    np.testing.assert_allclose(starts.positions[0], first, rtol=1e-6)


def test_a_dataset_without_the_camera_is_refused_by_name(checkpoint: Path, tmp_path: Path) -> None:
    with pytest.raises(SpecMismatch, match="no camera 'camera_0', only top"):
        read_starts(write_squares(tmp_path / "squares", count=1), _world(checkpoint).episode_spec)


def test_a_dataset_of_other_actions_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    spec = _world(checkpoint).episode_spec
    one = replace(spec.action, names=("x",), low=(0.0,), high=(1.0,))
    spec = replace(spec, cameras=(Camera("top", SIZE, SIZE),), action=one)
    with pytest.raises(SpecMismatch, match="actions of 2 numbers and the world of 1"):
        read_starts(write_squares(tmp_path / "squares", count=1), spec)


def test_views_that_do_not_match_are_counted(checkpoint: Path, tmp_path: Path) -> None:
    spec = replace(_world(checkpoint).episode_spec, cameras=(Camera("left", SIZE, SIZE), Camera("right", SIZE, SIZE)))
    write_images(tmp_path / "left", count=2)
    write_images(tmp_path / "right", count=3)
    with pytest.raises(StoreError, match="'left': 2, 'right': 3"):
        read_starts(tmp_path, spec)


def test_a_damaged_image_is_named(checkpoint: Path, tmp_path: Path) -> None:
    (tmp_path / "broken.png").write_bytes(b"no image")
    with pytest.raises(StoreError, match=re.escape("broken.png is not an image")):
        _world(checkpoint, tmp_path)


@pytest.mark.parametrize(("name", "message"), [("nowhere", "no folder"), (".", "no dataset at")])
def test_a_place_without_starts_is_named(checkpoint: Path, tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(StoreError, match=message):
        _world(checkpoint, tmp_path / name)


def test_a_world_without_starts_says_how_to_give_them(checkpoint: Path) -> None:
    with pytest.raises(ConfigError, match="give `starts`"):
        _world(checkpoint).reset(seed=0)


def test_a_start_of_another_shape_is_refused(checkpoint: Path, images: Path) -> None:
    world = _world(checkpoint, images)
    start = {**world.reset(seed=0)[0], "observation.state": np.zeros((1, 3), np.float32)}
    with pytest.raises(SpecMismatch, match=re.escape("observation.state is float32 (1, 3)")):
        world.reset(options={"start": start})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"device": "tpu"}, "auto, cpu and cuda, got 'tpu'"), ({"num_envs": 0}, "got num_envs=0")],
)
def test_an_impossible_setting_is_refused(checkpoint: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        InteractiveWorldSimulator(**{"checkpoint": str(checkpoint), "num_envs": 1, **arguments})


# Damaged and foreign folders


def test_a_folder_that_is_no_checkpoint_names_what_is_missing(tmp_path: Path) -> None:
    write_settings(tmp_path, hydra_settings())
    with pytest.raises(CheckpointError, match=re.escape("checkpoints/best.ckpt missing")):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("part", "name", "value", "message"),
    [
        ("diffusion", "objective", "pred_noise", "algorithm.diffusion.objective is 'pred_noise', and only 'pred_v'"),
        ("dynamics", "time_emb_type", "sinusoidal", "only 'rotary' is supported"),
        ("dynamics", "dim", "wide", "invalid literal"),
        ("dynamics", "dim", "${algorithm.nothing}", "algorithm.nothing is missing"),
    ],
)
def test_a_setting_that_cannot_be_built_is_named(
    tmp_path: Path, part: str, name: str, value: str, message: str
) -> None:
    settings = hydra_settings()
    settings["algorithm"][part][name] = value
    write_settings(tmp_path, settings)
    with pytest.raises(CheckpointError, match=re.escape(message)):
        read_config(tmp_path / ".hydra" / "config.yaml")


@pytest.mark.parametrize("text", ["a: [1,", "just words", "- 1", "\x00"])
def test_a_damaged_configuration_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(text)
    with pytest.raises(CheckpointError, match=re.escape("config.yaml is not a configuration")):
        read_config(path)


class _Unwelcome:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_what_could_run_code_is_refused_and_not_run(tmp_path: Path) -> None:
    folder, trace = write_checkpoint(tmp_path / "world"), tmp_path / "trace"
    write_weights(folder, lightning_content() | {"hyper_parameters": _Unwelcome(trace)})
    with pytest.raises(CheckpointError, match="could run code"):
        load_checkpoint(folder)
    assert not trace.exists()


def test_a_cut_off_file_is_named(tmp_path: Path) -> None:
    weights = write_checkpoint(tmp_path) / "checkpoints" / "best.ckpt"
    weights.write_bytes(weights.read_bytes()[: weights.stat().st_size // 2])
    with pytest.raises(CheckpointError, match="cannot be read as a checkpoint"):
        load_checkpoint(tmp_path)


def test_a_file_of_something_else_is_named(tmp_path: Path) -> None:
    write_weights(write_checkpoint(tmp_path), {"model": torch.zeros(3)})
    with pytest.raises(CheckpointError, match="has no state_dict"):
        load_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"encoder.0.weight": None}, "encoder.0.weight is missing"),
        ({"encoder.0.bias": torch.zeros(7)}, "encoder.0.bias is (7,), expected (4,)"),
        ({"decoder.model.extra": torch.zeros(1)}, "decoder.model.extra is not known"),
        ({"normalizer.params_dict.action.scale": None}, "action.scale is missing, expected 2 numbers"),
        ({"normalizer.params_dict.action.offset": torch.zeros(3)}, "expected 2 numbers"),
    ],
)
def test_weights_that_do_not_fit_are_named(tmp_path: Path, change: dict[str, Tensor | None], message: str) -> None:
    content = lightning_content()
    changed = {**content["state_dict"], **change}
    content["state_dict"] = {name: value for name, value in changed.items() if value is not None}
    write_weights(write_checkpoint(tmp_path), content)
    with pytest.raises(CheckpointError, match=re.escape(message)):
        load_checkpoint(tmp_path)
