"""How a command that writes a dataset is told in which format, and how frames are to be kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from ..storage.create import Format, format_of
from ..storage.errors import ConfigError

if TYPE_CHECKING:
    from ..storage.video import Codec

#: The folder that a command reads and the one that it makes, as its usage names them.
SourcePath = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="SOURCE")]
OutPath = Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="OUT")]

#: What each name stands for; the fields are those of `VideoCodec`.
_CODECS: dict[str, dict[str, Any]] = {"same": {}, "lossless": {}, "compact": {"pix_fmt": "yuv420p", "crf": 18}}


@dataclass(frozen=True)
class Output:
    """The format and the codec of a dataset that a command writes."""

    format: Literal["same", "lerobot", "zarr"] = "same"
    """What to write; same: what the source is. Zarr keeps frames exactly, LeRobot as the codec says."""
    codec: Literal["same", "lossless", "compact", "images"] = "same"
    """How LeRobot keeps frames: as the source does (exactly, if it is no LeRobot dataset of demoloom's), exactly, as
    small video for real cameras (yuv420p, crf 18), or exactly as images."""
    crf: int | None = None
    """Quality of the video, 0 (best) to 51, instead of the codec's own."""
    gop: int | None = None
    """Distance of the video's key frames, instead of the codec's own; a random read decodes half of it."""
    pix_fmt: Literal["gbrp", "yuv444p", "yuv420p"] | None = None
    """Pixel format of the video, instead of the codec's own."""

    def choose_format(self, source: Path) -> Format:
        """The format to write, where `source` is what is read."""
        return format_of(source) or "zarr" if self.format == "same" else self.format

    def choose_codec(self) -> Codec | None:
        """The codec of a LeRobot dataset's frames; None: the same as the source's.

        Raises:
            ConfigError: a number is out of its range, or one setting excludes another.
        """
        from ..storage.video import ImageCodec, VideoCodec

        fields = {"crf": self.crf, "frames_per_key": self.gop, "pix_fmt": self.pix_fmt}
        given = {name: value for name, value in fields.items() if value is not None}
        if self.format == "zarr" and (given or self.codec != "same"):
            raise ConfigError("a Zarr store keeps frames exactly; --codec and what belongs to it are for LeRobot")
        if self.codec == "images":
            if given:
                raise ConfigError("--crf, --gop and --pix-fmt are of video and have no effect with --codec images")
            return ImageCodec()
        if self.codec == "same" and not given:
            return None
        return VideoCodec(**_CODECS[self.codec] | given)


#: An `Output` whose fields are options of the command itself.
OutputOptions = Annotated[Output, tyro.conf.arg(name="")]
