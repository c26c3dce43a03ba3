"""The `latent` policy: a LeRobot plug-in that sees through the world model's frozen encoder.

Importing this package registers the policy with LeRobot (`--policy.discover_packages_path=demoloom.policies.latent`).
"""

from .configuration_latent import LatentConfig

__all__ = ["LatentConfig"]
