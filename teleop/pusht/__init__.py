"""PushT: the T's geometry and physics, an expert, and play that seeks contact."""

from .expert import PushTExpert
from .seek import ContactSeeking
from .task import PUSHT

__all__ = ["PUSHT", "ContactSeeking", "PushTExpert"]
