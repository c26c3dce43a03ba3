"""The `latent` policy: a LeRobot plug-in that sees through a world model's frozen networks.

Importing this package registers the policy with LeRobot (`--policy.discover_packages_path=demoloom.policies.latent`).
"""

from .configuration_latent import LatentConfig

__all__ = ["LatentConfig"]
