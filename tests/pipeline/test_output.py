from pathlib import Path
from typing import Any

import pytest

from demoloom.pipeline.output import Output
from demoloom.storage.errors import ConfigError
from demoloom.storage.video import ImageCodec, VideoCodec


@pytest.mark.parametrize(
    ("output", "codec"),
    [
        (Output(), None),
        (Output(codec="lossless"), VideoCodec()),
        (Output(codec="compact"), VideoCodec(pix_fmt="yuv420p", crf=18)),
        (Output(codec="compact", crf=23, gop=2), VideoCodec(pix_fmt="yuv420p", crf=23, frames_per_key=2)),
        (Output(pix_fmt="yuv444p"), VideoCodec(pix_fmt="yuv444p")),
        (Output(codec="images"), ImageCodec()),
    ],
)
def test_a_name_stands_for_a_codec_and_each_number_can_be_said(output: Output, codec: object) -> None:
    assert output.choose_codec() == codec


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"codec": "images", "pix_fmt": "yuv420p"}, "--pix-fmt are of video"),
        ({"format": "zarr", "codec": "compact"}, "a Zarr store keeps frames exactly"),
        ({"format": "zarr", "gop": 4}, "a Zarr store keeps frames exactly"),
    ],
)
def test_a_setting_without_effect_is_refused(settings: dict[str, Any], match: str) -> None:
    with pytest.raises(ConfigError, match=match):
        Output(**settings).choose_codec()


def test_the_format_is_that_of_the_source_unless_said(tmp_path: Path) -> None:
    (tmp_path / "lerobot" / "meta").mkdir(parents=True)
    (tmp_path / "lerobot" / "meta" / "info.json").write_text("{}")
    assert Output().choose_format(tmp_path / "lerobot") == "lerobot"
    assert Output().choose_format(tmp_path) == "zarr"
    assert Output(format="lerobot").choose_format(tmp_path) == "lerobot"
