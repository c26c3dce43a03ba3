"""`--robot.type=demoloom_world`: a world in the place of a robot."""

from __future__ import annotations

from dataclasses import dataclass

from lerobot.robots.config import RobotConfig


@RobotConfig.register_subclass("demoloom_world")
@dataclass(kw_only=True)
class DemoloomWorldConfig(RobotConfig):
    """A world as LeRobot's robot.

    Args:
        world: folder of a world checkpoint, the name of one that comes with demoloom, or `reality:TASK`.
        task: text of the task, for a checkpoint with several.
        device: where a learned world predicts.
        seed: of a session; its i-th episode always starts the same.
        restarts: whether it starts anew once LeRobot has saved or thrown away an episode; false: it goes on, as where
            `lerobot-rollout` saves each correction of a policy as an episode (strategy `dagger`).
    """

    world: str = "pusht"
    task: str | None = None
    device: str = "cpu"
    seed: int = 0
    restarts: bool = True
