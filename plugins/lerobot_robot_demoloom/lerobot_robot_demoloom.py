"""Registers what demoloom has for LeRobot, which imports this: robot, teleoperator, environment, `latent` policies."""

import demoloom.policies.latent
import demoloom.teleop.lerobot.config_env
import demoloom.teleop.lerobot.config_robot
import demoloom.teleop.lerobot.config_teleoperator  # noqa: F401
