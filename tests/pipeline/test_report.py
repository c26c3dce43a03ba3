from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from demoloom.pipeline.report import write_report
from demoloom.pipeline.report.content import loss_series, success_hold
from demoloom.pipeline.report.page import column
from demoloom.pipeline.report.pictures import preview, strip
from demoloom.pipeline.report.plots import histogram, interval_bar, line_plot, thinned
from demoloom.pipeline.report.scores import scores_text
from demoloom.pipeline.run_folder import RunFolder

from .runs import dot_episode, finished_run, score_row


@pytest.fixture
def page(tmp_path: Path) -> str:
    folder = finished_run(tmp_path / "run")
    write_report(folder, folder.path / "report")
    return (folder.path / "report" / "index.html").read_text()


def test_the_page_asks_nothing_of_the_network_nor_of_other_files(page: str) -> None:
    assert "http:" not in page
    assert "https:" not in page
    assert all(source.startswith("data:") for source in re.findall(r'src="([^"]*)"', page))
    assert "<link" not in page
    assert "<script" not in page


def test_the_page_names_scores_with_intervals_reasons_and_stages(page: str) -> None:
    for text in ("60 % (50 to 70)", "0.70 (0.60 to 0.80)", "not solved within 12 steps", "33.1", "train-world"):
        assert text in page


def test_the_page_begins_with_what_came_of_it(page: str) -> None:
    lead = " ".join(re.sub("<[^>]*>", "", page[page.index('class="lead"') :]).split())
    assert "trained on 4 demonstrations made inside the world model" in lead
    assert "solves 60 % of 4 new starts in reality; its mean best score is 0.60." in lead


def test_the_page_says_what_its_words_mean_and_how_near_a_rejected_attempt_came(page: str) -> None:
    assert "A score goes from 0 to 1" in page
    assert "PSNR in dB" in page
    assert "not solved within 12 steps, best score 1.00" in page


def test_the_page_says_why_generation_ended_which_starts_are_covered_and_what_was_lost(page: str) -> None:
    assert "4 of 5 attempts became demonstrations, as many as asked for" in page
    assert "Demonstrations by where they start" in page
    assert "Lost and redone in generate: 1 episodes" in page
    assert "its worker died" in page


def test_a_run_that_has_just_begun_has_a_report_too(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.record(stage="collect", event="started")
    write_report(folder, folder.path / "report")
    assert "0 stages finished" in (folder.path / "report" / "index.html").read_text()


def test_the_page_names_the_machine_the_run_was_made_on(tmp_path: Path) -> None:
    folder = finished_run(tmp_path / "run")
    lineage = {"machine": {"processor": "Abacus 3000", "cores": 64}, "packages": {"torch": "9.9"}}
    (folder.path / "lineage.json").write_text(json.dumps(lineage))
    write_report(folder, folder.path / "report")
    assert "64 cores" in (page := (folder.path / "report" / "index.html").read_text())
    assert "Abacus 3000" in page


def test_a_report_is_replaced_by_a_later_one(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    for _ in range(2):
        write_report(folder, folder.path / "report")
    assert [file.name for file in (folder.path / "report").iterdir()] == ["index.html"]


def decoded(uri: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])))


def test_a_preview_shows_every_frame_of_a_short_episode_with_its_exact_colours() -> None:
    episode = dot_episode(0)
    image = decoded(preview(episode))
    shown = []
    for number in range(image.n_frames):  # type: ignore[attr-defined]
        image.seek(number)
        shown.append(np.asarray(image.convert("RGB")))
    np.testing.assert_array_equal(shown[: len(episode)], episode.images["top"])


def test_a_preview_of_a_long_episode_stays_short() -> None:
    assert decoded(preview(dot_episode(0, length=350))).n_frames <= 101  # type: ignore[attr-defined]


def test_films_of_short_and_long_episodes_run_equally_fast() -> None:
    short, long = (decoded(preview(dot_episode(0, length=length), frame_ms=60)) for length in (50, 350))
    for image, duration in ((short, 60), (long, 60 * 4)):
        image.load()
        assert image.info["duration"] == duration


def test_a_strip_begins_with_the_first_frame_and_ends_with_the_last() -> None:
    episode = dot_episode(0)
    pixels = np.asarray(decoded(strip(episode, num_frames=3)))
    assert pixels.shape == (16, 16 * 3 + 2 * 2, 4)
    np.testing.assert_array_equal(pixels[:, :16, :3], episode.images["top"][0])
    np.testing.assert_array_equal(pixels[:, -16:, :3], episode.images["top"][-1])


def test_a_plot_has_a_curve_for_each_loss_and_leaves_out_what_is_not_finite() -> None:
    svg = line_plot({"train": [(0, 1.0), (1, float("nan")), (2, 0.01)], "validation": [(0, 2.0)]}, "steps")
    assert svg.count("<polyline") == 2
    assert "nan" not in svg


def test_a_plot_of_one_repeated_value_can_be_drawn() -> None:
    assert "<polyline" in line_plot({"loss": [(0, 0.0), (1, 0.0)]}, "steps")


def test_thousands_are_written_out_in_a_plot() -> None:
    svg = line_plot({"loss": [(0, 1.0), (4000, 0.5)]}, "steps")
    assert "e+0" not in svg
    assert ">2000<" in svg


def test_a_logarithmic_axis_of_less_than_two_decades_has_round_ticks() -> None:
    svg = line_plot({"loss": [(0, 0.819), (10, 0.0192)]}, "steps")
    assert re.findall(r'class="y">([^<]*)<', svg) == ["0.02", "0.05", "0.1", "0.2", "0.5"]


def test_the_head_of_a_column_is_words() -> None:
    assert column("label_error.block_pose.x") == "label error, block pose x"
    assert column("psnr_no_change") == "PSNR no change"


def test_the_page_says_how_long_a_success_must_hold() -> None:
    assert success_hold([{"stage": "generate", "config": {"generate": {"success_hold": 3}}}]) == 3
    assert success_hold([{"stage": "collect", "config": {}}]) == 1


def test_names_in_a_plot_are_escaped() -> None:
    assert "<b>" not in line_plot({"<b>": [(0, 1.0)]}, "steps")


def test_a_long_curve_is_thinned_but_keeps_its_last_point() -> None:
    points = [(float(x), 1.0) for x in range(1001)]
    assert len(thinned(points)) < 500
    assert thinned(points)[-1] == (1000.0, 1.0)


def test_the_highest_bar_fills_a_histogram_and_an_empty_one_is_left_out() -> None:
    svg = histogram([2, 0, 1], [0.0, 1.0, 2.0, 3.0])
    path = re.search(r'class="bars" d="([^"]*)"', svg)
    assert path is not None
    left, right = path[1].split("M")[1:]
    assert left == "14.0 76V6.0H84.7V76"
    assert right == "155.3 76V41.0H226.0V76"


def test_an_interval_bar_is_as_long_as_its_value() -> None:
    assert 'class="bar" width="100.0"' in interval_bar(0.5, 0.25, 0.75)


def test_losses_are_found_by_their_names() -> None:
    rows = [{"step": 1, "loss": 2.0, "lr": 0.1, "validation_loss": 3.0}]
    assert loss_series(rows) == {"loss": [(1.0, 2.0)], "validation_loss": [(1.0, 3.0)]}


def test_a_training_in_two_parts_is_one_curve() -> None:
    rows = [{"step": step, "loss": 1.0} for step in (0, 10, 20, 0, 10)]
    assert [step for step, _ in loss_series(rows)["loss"]] == [0, 10, 20, 20, 30]


def test_the_score_table_for_a_terminal_has_a_line_for_each_contestant() -> None:
    text = scores_text([score_row("policy", "reality", 0.6), score_row("random", "reality", 0)])
    assert len(text.splitlines()) == 3
    assert "60 % (50 to 70)" in text
