from __future__ import annotations

import json
from dataclasses import replace

from demoloom.pipeline.inspection.table import MOST_TEXT, clip, episode_table
from demoloom.storage import summarise

from ..runs import dot_episode


def test_a_table_of_very_many_episodes_is_cut_to_its_size() -> None:
    summaries = [summarise(dot_episode(index, 2)) for index in range(200)]
    table = episode_table(summaries, most_bytes=4000)
    assert len(json.dumps(table)) <= 4000
    assert 40 < len(table["rows"]) < 200
    assert [table["rows"][0][0], table["rows"][-1][0]] == [0, 199]
    assert len(table["texts"]) == 3


def test_a_score_that_is_no_number_leaves_the_table_readable() -> None:
    table = episode_table([replace(summarise(dot_episode(0)), score_max=float("nan"))], most_bytes=4000)
    assert table["rows"][0][4] is None


def test_a_long_text_is_cut() -> None:
    assert clip("a" * (MOST_TEXT + 1)) == "a" * (MOST_TEXT - 1) + "…"
    assert clip("short") == "short"
