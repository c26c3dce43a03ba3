"""Datasets that LeRobot itself wrote, with no help from demoloom."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from demoloom.storage.audit import audit, repair

from .damage import edit_rows, named

FEATURES: dict[str, Any] = {
    "observation.images.top": {
        "dtype": "video",
        "shape": (64, 64, 3),
        "names": ["height", "width", "channels"],
    },
    "observation.state": {"dtype": "float32", "shape": (2,), "names": ["x", "y"]},
    "action": {"dtype": "float32", "shape": (2,), "names": ["x", "y"]},
}


def record(path: Path, spread: list[float], features: dict[str, Any] = FEATURES) -> Path:
    """An episode of 40 rows for each spread: a gradient that drifts, numbers drawn from +-spread."""
    from lerobot.configs import RGBEncoderConfig
    from lerobot.datasets import LeRobotDataset

    dataset = LeRobotDataset.create(
        "local/plain",
        fps=10,
        features=features,
        root=path,
        rgb_encoder=RGBEncoderConfig(vcodec="h264", preset="veryfast", crf=18),
    )
    rng = np.random.default_rng(0)
    ramp = np.linspace(0, 200, 64, dtype=np.uint8)
    for wide in spread:
        for step in range(40):
            frame = np.stack([np.add.outer(ramp // 2, ramp // 4) + step, *[np.full((64, 64), 30)] * 2], -1)
            numbers = rng.uniform(-wide, wide, (2, 2)).astype(np.float32)
            dataset.add_frame(
                {
                    "observation.images.top": frame.astype(np.uint8),
                    "observation.state": numbers[0],
                    "action": numbers[1],
                    "task": "drift",
                }
            )
        dataset.save_episode(parallel_encoding=False)
    dataset.finalize()
    return path


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_nothing_is_wrong_with_what_lerobot_writes_but_the_quantiles_that_it_averages(tmp_path: Path) -> None:
    from lerobot.datasets import LeRobotDataset

    report = audit(record(tmp_path / "alike", [1.0]))
    assert report.findings == ()
    assert (report.episodes, report.rows, report.frames) == (1, 40, 40)

    path = record(tmp_path / "unlike", [1.0, 1.0, 50.0])
    report = audit(path)
    assert named(report) == set()
    wrong = {field for _, field in named(report, "warning")}
    assert {"action", "observation.state"} <= wrong
    assert all("LeRobot averages those of the episodes" in finding.message for finding in report.findings)
    edit_rows(path, "timestamp", lambda stamps: [stamp + 0.003 * (at % 2) for at, stamp in enumerate(stamps)])
    assert repair(path, retime=True).report.findings == ()
    loaded = LeRobotDataset("local/plain", root=path, delta_timestamps={"action": [0.0, 0.1]}, video_backend="pyav")
    assert loaded[41]["timestamp"].item() == pytest.approx(0.1)
    assert loaded[41]["observation.images.top"].shape == (3, 64, 64)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_images_in_the_rows_that_lerobot_writes_are_read(tmp_path: Path) -> None:
    images = {**FEATURES, "observation.images.top": {**FEATURES["observation.images.top"], "dtype": "image"}}
    report = audit(record(tmp_path / "images", [1.0], images))
    assert report.findings == ()
    assert report.frames == 40
