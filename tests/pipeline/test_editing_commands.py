from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demoloom.pipeline.cli import main
from demoloom.storage.atomic import read_json
from demoloom.storage.dataset import open_dataset

from .runs import SPEC, dot_episode, write_store


@pytest.fixture
def source(tmp_path: Path) -> Path:
    failed = dot_episode(1, outcome="failure", reason="not solved")
    write_store(tmp_path / "source", [dot_episode(0), failed, dot_episode(2), dot_episode(3)])
    return tmp_path / "source"


def indices(path: Path) -> list[int]:
    return [summary.index for summary in open_dataset(path).summaries()]


def test_convert_takes_a_codec(source: Path, tmp_path: Path) -> None:
    assert main(["convert", str(source), str(tmp_path / "out"), "--codec", "images"]) == 0
    info = read_json(tmp_path / "out" / "meta" / "info.json")
    assert info["features"]["observation.images.top"]["dtype"] == "image"
    assert main(["convert", str(source), str(tmp_path / "small"), "--codec", "compact", "--crf", "30"]) == 0
    assert read_json(tmp_path / "small" / "meta/demoloom/codec.json")["crf"] == 30


def test_merge_says_what_it_skipped_and_what_came_twice(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_store(tmp_path / "more", [dot_episode(3), dot_episode(4)])
    write_store(tmp_path / "empty", [])
    paths = [str(tmp_path / name) for name in ("source", "empty", "more")]
    assert main(["merge", *paths, "--out", str(tmp_path / "out")]) == 0
    assert indices(tmp_path / "out") == [0, 1, 2, 3, 4]
    said = capsys.readouterr().err
    assert f"skipped {tmp_path / 'empty'}: it has no episode" in said
    assert f"wrote 5 episodes to {tmp_path / 'out'}; 1 came twice and were stored once" in said


def test_merge_of_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", "--out", str(tmp_path / "out")]) == 2
    assert "name the datasets to merge" in capsys.readouterr().err


def test_split_writes_a_folder_for_each_part(source: Path, tmp_path: Path) -> None:
    assert main(["split", str(source), str(tmp_path / "out"), "--parts", "train", "3", "val", "1"]) == 0
    train, val = indices(tmp_path / "out" / "train"), indices(tmp_path / "out" / "val")
    assert (len(train), len(val)) == (3, 1)
    assert sorted(train + val) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--outcomes", "success"], [0, 2, 3]),
        (["--outcomes", "success", "--drop"], [1]),
        (["--indices", "0", "2:4"], [0, 2, 3]),
        (["--ids", "dot-000002"], [2]),
        (["--task", "Move*", "--count", "2"], [1, 3]),
    ],
)
def test_select_keeps_what_meets_the_conditions(
    source: Path, tmp_path: Path, options: list[str], kept: list[int]
) -> None:
    assert main(["select", str(source), str(tmp_path / "out"), *options]) == 0
    assert indices(tmp_path / "out") == kept


def test_select_takes_every_second_row(source: Path, tmp_path: Path) -> None:
    assert main(["select", str(source), str(tmp_path / "out"), "--ids", "dot-000000", "--every", "2"]) == 0
    out = open_dataset(tmp_path / "out")
    assert out.spec.fps == SPEC.fps / 2
    np.testing.assert_array_equal(out.read("dot-000000").images["top"], dot_episode(0).images["top"][::2])


def test_a_seed_without_a_count_is_refused(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["select", str(source), str(source.parent / "out"), "--seed", "1"]) == 2
    assert "--seed says which --count episodes to take" in capsys.readouterr().err


@pytest.mark.parametrize(("options", "fps", "length"), [(["--fps", "20"], 20, 12), (["--resample", "5"], 5, 6)])
def test_retime_keeps_the_rows_or_resamples_them(
    source: Path, tmp_path: Path, options: list[str], fps: int, length: int
) -> None:
    assert main(["retime", str(source), str(tmp_path / "out"), *options]) == 0
    out = open_dataset(tmp_path / "out")
    assert out.spec.fps == fps
    assert {summary.length for summary in out.summaries()} == {length}


@pytest.mark.parametrize("options", [[], ["--fps", "20", "--resample", "5"]])
def test_retime_in_two_ways_or_none_is_refused(
    source: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retime", str(source), str(source.parent / "out"), *options]) == 2
    assert "give either --fps or --resample" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--fps", "--resample"])
def test_retime_to_a_rate_between_two_whole_ones_is_refused(
    source: Path, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["retime", str(source), str(source.parent / "out"), option, "29.97"]) == 2
    assert "fps must be a whole number of 1 or more, got 29.97; take the nearest" in capsys.readouterr().err


def test_import_reads_what_is_said_of_a_foreign_file(tmp_path: Path) -> None:
    import zarr

    group = zarr.open_group(tmp_path / "pusht.zarr", mode="w", zarr_format=2)
    group.create_array("data/img", data=np.full((4, 6, 8, 3), 7, np.uint8))
    group.create_array("data/state", data=np.arange(20, dtype=np.float32).reshape(4, 5))
    group.create_array("data/action", data=np.ones((4, 2), np.float32))
    group.create_array("meta/episode_ends", data=np.array([4]))
    arguments = ["import", str(tmp_path / "pusht.zarr"), str(tmp_path / "out"), "--fps", "10", "--solved"]
    described = ["--task", "push", "--state", "state[:2]", "--labels", "block", "state[2:]", "--cameras", "top", "img"]
    assert main([*arguments, *described]) == 0
    out = open_dataset(tmp_path / "out")
    episode = out.read("pusht-000000")
    assert episode.state.tolist() == [[0, 1], [5, 6], [10, 11], [15, 16]]
    assert episode.labels["block"][0].tolist() == [2, 3, 4]
    assert (episode.task, episode.outcome, list(episode.images)) == ("push", "success", ["top"])
