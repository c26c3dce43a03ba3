from dataclasses import replace
from pathlib import Path

import pytest

from demoloom.policies.kinds import ACT, LATENT, parse_settings, relative_dimensions
from demoloom.storage.errors import CheckpointError, ConfigError
from demoloom.storage.spec import Vector

from .toy import SPEC


def test_settings_are_read_as_json_or_text() -> None:
    parsed = parse_settings(("chunk_size=4", "vision_backbone=resnet18", "down_dims=[8, 16]"))
    assert parsed == {"chunk_size": 4, "vision_backbone": "resnet18", "down_dims": [8, 16]}


def test_a_setting_without_a_value_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"name=value, got 'chunk_size'"):
        parse_settings(("chunk_size",))


def test_an_unknown_setting_suggests_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"no setting 'chunksize'; did you mean 'chunk_size'"):
        ACT.make_config(SPEC, None, {"chunksize": 4})


def test_a_setting_lerobot_refuses_is_one_sentence() -> None:
    with pytest.raises(ConfigError, match="settings of a act policy cannot be used"):
        ACT.make_config(SPEC, None, {"chunk_size": 2, "n_action_steps": 4})


def test_a_latent_policy_without_a_world_says_what_to_do() -> None:
    with pytest.raises(ConfigError, match="give a world checkpoint"):
        LATENT.make_config(SPEC, None, {})


def test_the_eyes_can_be_chosen(world_with_probe: Path, world: Path) -> None:
    assert LATENT.make_config(SPEC, world_with_probe, {}).eyes == "probe"
    assert LATENT.make_config(SPEC, world_with_probe, {"eyes": "latents"}).eyes == "latents"
    with pytest.raises(CheckpointError, match="no probe at"):
        LATENT.make_config(SPEC, world, {"eyes": "probe"})
    with pytest.raises(ConfigError, match=r"probe or latents, got eyes='ears'"):
        LATENT.make_config(SPEC, world, {"eyes": "ears"})


def test_actions_are_relative_to_the_state_they_are_targets_of() -> None:
    arm = replace(
        SPEC,
        state=Vector(("a", "grip", "b"), (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        action=Vector(("b", "a", "speed"), (-1.0, -1.0, -9.0), (2.0, 2.0, 9.0)),
    )
    assert relative_dimensions(arm) == [2, 0, -1]
    points = replace(SPEC, action=replace(SPEC.action, names=("target_x", "target_y")))
    assert relative_dimensions(points) == [0, 1]
