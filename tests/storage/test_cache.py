from __future__ import annotations

from pathlib import Path

import pytest

from demoloom.storage.cache import cache_folder, make_cache
from demoloom.storage.errors import StoreError


def test_the_cache_follows_xdg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert str(cache_folder()) == "/cache/demoloom"


def test_without_xdg_the_cache_is_in_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "/home/someone")
    assert str(cache_folder()) == "/home/someone/.cache/demoloom"


def test_a_cache_that_cannot_be_made_names_the_variable_to_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(StoreError, match=r"file/demoloom/worlds cannot be made; set XDG_CACHE_HOME"):
        make_cache("worlds")


def test_a_cache_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (make_cache("worlds") / "one").touch()
    assert (make_cache("worlds") / "one").is_file()
