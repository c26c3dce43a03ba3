from __future__ import annotations

import os

import pytest

from demoloom.pipeline.environment import cache_folder, prepare_environment


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"HOME": "/home/someone"})


def test_a_run_is_offline_and_tells_nobody() -> None:
    prepare_environment()
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert os.environ["WANDB_MODE"] == "disabled"
    assert os.environ["RAY_USAGE_STATS_ENABLED"] == "0"
    assert os.environ["PREFECT_SERVER_ANALYTICS_ENABLED"] == "false"


def test_what_the_user_has_set_stays() -> None:
    os.environ["HF_HUB_OFFLINE"] = "0"
    prepare_environment()
    assert os.environ["HF_HUB_OFFLINE"] == "0"


def test_the_cache_follows_xdg() -> None:
    os.environ["XDG_CACHE_HOME"] = "/cache"
    assert str(cache_folder()) == "/cache/demoloom"
