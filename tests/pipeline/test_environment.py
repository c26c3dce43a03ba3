from __future__ import annotations

import os
from pathlib import Path

import pytest

from demoloom.pipeline.environment import make_prefect_home, prepare_environment
from demoloom.storage.errors import StoreError


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


def test_prefect_finds_its_home_where_there_was_no_cache_yet(tmp_path: Path) -> None:
    os.environ["XDG_CACHE_HOME"] = str(tmp_path / "new")
    prepare_environment()
    make_prefect_home()
    assert (tmp_path / "new" / "demoloom" / "prefect").is_dir()


def test_a_home_that_cannot_be_made_is_named_with_the_way_round(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.environ["PREFECT_HOME"] = str(tmp_path / "file" / "prefect")
    with pytest.raises(StoreError, match=r"file/prefect cannot be made .*--no-prefect"):
        make_prefect_home()
