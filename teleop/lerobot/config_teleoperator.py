"""`--teleop.type=demoloom_stream`: one of demoloom's streams in the place of a person with a device."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lerobot.teleoperators.config import TeleoperatorConfig


@TeleoperatorConfig.register_subclass("demoloom_stream")
@dataclass(kw_only=True)
class DemoloomStreamConfig(TeleoperatorConfig):
    """A stream as LeRobot's teleoperator, for a robot of type `demoloom_world`.

    Args:
        stream: name of a stream plug-in: a script, a recording, a policy, a device that demoloom reads.
        settings: keyword arguments of it.
    """

    stream: str = "random"
    settings: dict[str, Any] = field(default_factory=dict)
