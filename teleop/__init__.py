"""Action streams: play, scripted experts and policies that drive worlds; and the tasks they are for."""

from .mix import Mix, Part
from .play import Idle, RandomPushes
from .slotwise import Behaviour, Row, Slotwise
from .task import Task

__all__ = ["Behaviour", "Idle", "Mix", "Part", "RandomPushes", "Row", "Slotwise", "Task"]
