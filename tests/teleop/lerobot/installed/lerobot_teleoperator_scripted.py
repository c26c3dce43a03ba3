"""A teleoperator plug-in as a team would write it: an arm whose joints all say the same, one number after the other."""

from dataclasses import dataclass, field
from typing import Any

from lerobot.teleoperators import Teleoperator, TeleoperatorConfig
from lerobot.teleoperators.utils import TeleopEvents


@TeleoperatorConfig.register_subclass("scripted")
@dataclass(kw_only=True)
class ScriptedArmConfig(TeleoperatorConfig):
    """What it says, and how it fails."""

    motors: list[str] = field(default_factory=lambda: ["add.pos"])
    says: list[float] = field(default_factory=lambda: [0.5])
    as_vector: bool = False
    port: str = ""
    calibrated: bool = True
    button_after: int = 0
    takes_over_after: int = 0


class ScriptedArm(Teleoperator):
    """Says `says` in turn, for ever; it breaks at -999 and gives nothing at 999."""

    config_class = ScriptedArmConfig
    name = "scripted"

    def __init__(self, config: ScriptedArmConfig) -> None:
        super().__init__(config)
        self.config, self.num_said, self._connected = config, 0, False

    @property
    def action_features(self) -> dict[str, Any]:
        if self.config.as_vector:
            names = {name: place for place, name in enumerate(self.config.motors)}
            return {"dtype": "float32", "shape": (len(names),), "names": names}
        return dict.fromkeys(self.config.motors, float)

    @property
    def feedback_features(self) -> dict[str, Any]:
        return {}

    @property
    def is_connected(self) -> bool:
        return self._connected

    @property
    def is_calibrated(self) -> bool:
        return self.config.calibrated

    def connect(self, calibrate: bool = True) -> None:
        if self.config.port == "/dev/nothing":
            raise ConnectionError(f"Could not open port '{self.config.port}'")
        if calibrate and not self.config.calibrated:
            input("Move the arm to the middle of its range and press ENTER")
        self._connected = True

    def calibrate(self) -> None: ...

    def configure(self) -> None: ...

    def get_action(self) -> dict[str, Any]:
        value = self.config.says[self.num_said % len(self.config.says)]
        self.num_said += 1
        if value == -999:
            raise OSError("read failed: no such device")
        return {} if value == 999 else dict.fromkeys(self.config.motors, value)

    def get_teleop_events(self) -> dict[TeleopEvents, bool]:
        return {
            TeleopEvents.TERMINATE_EPISODE: 0 < self.config.button_after <= self.num_said,
            TeleopEvents.IS_INTERVENTION: 0 < self.config.takes_over_after <= self.num_said,
        }

    def send_feedback(self, feedback: dict[str, Any]) -> None: ...

    def disconnect(self) -> None:
        self._connected = False
