"""The task PushT, registered as `pusht`."""

from __future__ import annotations

from ...storage.plugins import PluginRef
from ..axis_map import AxisMap, Binding
from ..task import Task


def play(probe: str | None) -> PluginRef:
    """Random pushes, contact seeking, idling and a noisy expert, which reads poses by colour while there is no probe.

    The expert's turns are the longest, so that it often gets the T onto the goal; the part that follows disturbs it
    again. Without them a world model would hardly see success and what leads to it. Turns of random pushes are long as
    well: only then is the T pressed against walls and into corners, as it is when nobody leads it back.
    """
    poses = probe or "colours"
    parts = [
        {"name": "pusht-expert", "weight": 3.0, "steps": 100, "kwargs": {"probe": poses, "action_noise": 6.0}},
        {"name": "pusht-seek", "weight": 4.0, "steps": 60},
        {"name": "random", "weight": 0.5, "steps": 300},
        {"name": "idle", "weight": 2.0, "steps": 20, "kwargs": {"park": 0.1}},
    ]
    return PluginRef("streams", "mix", {"parts": parts})


def expert(probe: str) -> PluginRef:
    """The scripted expert, reading poses with this probe."""
    return PluginRef("streams", "pusht-expert", {"probe": probe})


def retarget(dataset: str, probe: str) -> PluginRef:
    """Demonstrations from where the T lay otherwise; they end where the goal is, wherever they begin."""
    settings = {"label": "block_pose", "point": ["target_x", "target_y"], "ends": "world"}
    return PluginRef("streams", "retarget", {"dataset": dataset, "probe": probe, **settings})


PUSHT = Task(
    name="pusht",
    text="Push the T-shaped block onto the T-shaped target.",
    reality=PluginRef("worlds", "pusht", {"size": 64}),
    max_steps=300,
    play=play,
    expert=expert,
    retarget=retarget,
    # The goal's axis lies along that diagonal: 45 degrees, through the middle of the board.
    mirror="anti-transpose",
    # The camera looks straight down on the whole board, so that a point in its picture is a place to go to.
    controls=AxisMap({"x": Binding("target_x"), "y": Binding("target_y")}, pointer=("target_x", "target_y")),
)
