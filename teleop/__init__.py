"""Action streams: play, scripted experts and policies that drive worlds; and the tasks they are for."""

from .intervene import Dagger, Intervene
from .mix import Mix, Part
from .perturb import Perturb
from .play import Idle, RandomPushes
from .replay import Replay
from .retarget import Retarget
from .slotwise import Behaviour, Last, Row, Slotwise
from .task import Task

__all__ = [
    "Behaviour",
    "Dagger",
    "Idle",
    "Intervene",
    "Last",
    "Mix",
    "Part",
    "Perturb",
    "RandomPushes",
    "Replay",
    "Retarget",
    "Row",
    "Slotwise",
    "Task",
]
