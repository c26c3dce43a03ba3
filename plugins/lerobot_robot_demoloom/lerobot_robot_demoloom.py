"""Registers demoloom's worlds (robot and environment) and its `latent` policies with LeRobot, which imports this."""

import demoloom.policies.latent
import demoloom.teleop.lerobot.config_env
import demoloom.teleop.lerobot.config_robot  # noqa: F401
