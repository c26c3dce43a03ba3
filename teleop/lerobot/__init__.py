"""LeRobot both ways: its teleoperators drive worlds, and worlds are its robots and environments.

Importing this registers the Gymnasium environment `demoloom/World-v0`; LeRobot is imported by the modules in here,
which `--robot.discover_packages_path=demoloom.teleop.lerobot` (or `--env.…`) imports all of. See docs/lerobot.md.
"""

from gymnasium.envs.registration import register

#: The environment's id in Gymnasium; `gymnasium.make("demoloom.teleop.lerobot:demoloom/World-v0")` imports this first.
WORLD_ID = "demoloom/World-v0"

#: Steps after which an episode is cut off where nobody says otherwise; as many as `demoloom generate` gives its expert.
MAX_EPISODE_STEPS = 300

register(
    id=WORLD_ID,
    entry_point=f"{__name__}.env:WorldEnv",
    vector_entry_point=f"{__name__}.vector_env:WorldVectorEnv",
    max_episode_steps=MAX_EPISODE_STEPS,
)
