from __future__ import annotations

from pathlib import Path

import pytest

from demoloom.generators.learned.config import WorldConfig
from demoloom.generators.learned.presets import presets, read_preset
from demoloom.storage.errors import ConfigError


def test_every_preset_is_a_file_and_every_file_a_preset() -> None:
    import demoloom.generators.learned.presets as package

    files = Path(package.__file__).parent.glob("*.toml")
    assert {file.stem for file in files} == set(presets)


def test_what_a_file_leaves_out_is_as_by_default(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("seed = 3\n[model]\nhistory = 4\n")
    preset = read_preset(tmp_path / "mine.toml")
    assert preset.seed == 3
    assert preset.model == WorldConfig(history=4)


def test_a_value_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text("held_out = 0.9\n")
    with pytest.raises(ConfigError, match=r"held_out must be .* got 0\.9"):
        read_preset(tmp_path / "mine.toml")
