from pathlib import Path

import pytest

from demoloom.generators.learned.bundled import bundled_worlds, world_folder


def test_a_name_stands_for_a_world_that_comes_with_demoloom() -> None:
    for name in bundled_worlds():
        assert (world_folder(name) / "model.safetensors").is_file()


def test_a_world_at_the_path_goes_before_one_of_that_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (*bundled_worlds(), "mine"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").touch()
        assert world_folder(name) == tmp_path / name


def test_any_other_path_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert world_folder("runs/../world") == tmp_path / "world"
