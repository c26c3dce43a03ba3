from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demoloom.pipeline.inspection import inspect_dataset, write_page
from demoloom.pipeline.inspection.distributions import Distribution
from demoloom.pipeline.inspection.page import describe
from demoloom.storage import Episode, StoreError, open_dataset
from demoloom.storage.content import content_hash
from demoloom.storage.create import new_dataset
from demoloom.storage.recorder import append

from ..runs import SPEC, dot_episode, write_store


def page_of(folder: Path, episodes: list[Episode], num_episodes: int = 48, **options: Any) -> str:
    write_store(folder / "store", episodes)
    reader = open_dataset(folder / "store")
    write_page(reader, inspect_dataset(reader, num_episodes), folder / "page.html", **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def table_in(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="episodes">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def text_of(page: str) -> str:
    return " ".join(unescape(re.sub("<[^>]*>", " ", page.partition("<main>")[2])).split())


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    failed = dot_episode(3, outcome="failure", reason="not solved within 12 steps")
    return page_of(tmp_path_factory.mktemp("page"), [*map(dot_episode, range(3)), failed])


def test_the_page_asks_nothing_of_the_network_nor_of_other_files(page: str) -> None:
    assert "http:" not in page
    assert "https:" not in page
    assert all(source.startswith("data:") for source in re.findall(r'(?:src|poster)="([^"]*)"', page))
    assert "<link" not in page
    assert "<script src" not in page
    assert "@import" not in page


def test_the_page_begins_with_what_the_dataset_holds(page: str) -> None:
    assert "4 episodes, 48 steps, 5 s: 3 success , 1 failure" in text_of(page)


def test_the_page_names_the_content_and_what_made_it(tmp_path: Path) -> None:
    lineage = {"plan": {"stage": "generate", "run_seed": 7, "stream": {"name": "<expert>"}}, "code": "0.1.0+gabc"}
    page = page_of(tmp_path, [replace(dot_episode(0), lineage=lineage)])
    assert content_hash(open_dataset(tmp_path / "store")) in page
    assert "generate <expert> 0.1.0+gabc 7 1" in text_of(page)


def test_episodes_of_which_nothing_says_what_made_them_are_unknown(tmp_path: Path) -> None:
    assert "episodes unknown 1" in text_of(page_of(tmp_path, [replace(dot_episode(0), lineage={})]))


def test_every_episode_has_stills_a_film_and_a_row(page: str) -> None:
    ids = [f"dot-{index:06d}" for index in range(4)]
    assert re.findall(r'<figure id="stills-([^"]*)"', page) == ids
    assert re.findall(r'<figure id="film-([^"]*)"', page) == ids
    assert [row[1] for row in table_in(page)["rows"]] == ids


def test_a_row_of_the_table_says_what_came_of_the_episode(page: str) -> None:
    table = table_in(page)
    index, id, steps, outcome, score, trust, task, reason = table["rows"][3]
    assert (index, id, steps, score, trust) == (3, "dot-000003", 12, 1, 1)
    words = [table["texts"][number] for number in (outcome, task, reason)]
    assert words == ["failure", "Move right.", "not solved within 12 steps"]


def test_what_varies_has_a_histogram_and_what_does_not_says_so(page: str) -> None:
    # Score and reward of the steps, action and state; nothing of the episodes varies here, nor does trust.
    assert page.count('<path class="bars"') == 4
    assert "always 12" in page


def test_whatever_is_in_a_text_stays_text(tmp_path: Path) -> None:
    wild = '</script><script>alert("x")</script>\n& größe 🤖'
    page = page_of(tmp_path, [replace(dot_episode(0, outcome="failure", reason=wild), task=wild)])
    assert page.count("<script>") == 1
    assert "alert(&#34;x&#34;)" in page
    table = table_in(page)
    assert table["texts"][table["rows"][0][6]] == wild


def test_a_dataset_without_a_success_or_without_an_episode_has_a_page(tmp_path: Path) -> None:
    failed = dot_episode(0, length=1, outcome="failure", reason="late")
    assert "1 episode, 1 steps, 0 s: 1 failure" in text_of(page_of(tmp_path / "one", [failed]))
    assert "0 episodes, 0 steps, 0 s: nothing was recorded" in text_of(page_of(tmp_path / "none", []))


def test_a_dataset_without_a_camera_has_a_page_without_pictures(tmp_path: Path) -> None:
    with new_dataset(tmp_path / "store", "zarr", replace(SPEC, cameras=())) as store:
        append(store, replace(dot_episode(0), images={}))
    reader = open_dataset(tmp_path / "store")
    write_page(reader, inspect_dataset(reader), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Contact sheet" not in page
    assert [row[1] for row in table_in(page)["rows"]] == ["dot-000000"]


def test_a_page_holds_no_more_than_it_may_and_says_what_it_leaves_out(tmp_path: Path) -> None:
    most = 70_000
    page = page_of(tmp_path, [dot_episode(index, length=20) for index in range(40)], most_bytes=most)
    assert len(page.encode()) <= most
    films, shown = page.count("<video"), page.count("<img")
    assert 4 <= films < 40
    assert 4 <= shown < 40
    assert f"{films} of 40 episodes can be played here" in text_of(page)
    assert f"{shown} of 40 episodes are shown" in text_of(page)
    played = [int(number) for number in re.findall(r'id="film-dot-(\d+)"', page)]
    assert played == sorted(played)
    # Whatever is left out, it is not the end.
    assert played[0] == 0
    assert played[-1] > 20


def test_a_page_is_replaced_by_a_later_one(tmp_path: Path) -> None:
    page_of(tmp_path / "a", [dot_episode(0)])
    reader = open_dataset(tmp_path / "a" / "store")
    write_page(reader, inspect_dataset(reader), tmp_path / "a" / "page.html")
    assert sorted(entry.name for entry in (tmp_path / "a").iterdir()) == ["page.html", "store"]


def test_a_folder_in_the_place_of_the_page_is_named(tmp_path: Path) -> None:
    write_store(tmp_path / "store", [dot_episode(0)])
    reader = open_dataset(tmp_path / "store")
    with pytest.raises(StoreError, match="is a folder; name a file to write"):
        write_page(reader, inspect_dataset(reader), tmp_path)


def test_a_quantity_is_described_in_a_line() -> None:
    values = Distribution.of
    assert describe(values("x", np.array([0.0, 1.0]), (0, 2))) == "0 to 1, mean 0.5; limits 0 to 2"
    assert describe(values("x", np.array([3.0, np.nan]))) == "always 3; 1 not finite"
    assert describe(values("x", np.array([]))) == "no number"
