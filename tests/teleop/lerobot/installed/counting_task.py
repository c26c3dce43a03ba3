"""A task whose reality is a counter, as a team's own package would define one."""

from demoloom.storage.plugins import PluginRef
from demoloom.teleop.task import Task

_IDLE = PluginRef("streams", "idle")

COUNTING = Task(
    name="counting",
    text="Count to 8.",
    reality=PluginRef("worlds", "demoloom.generators.testing:CountingWorld"),
    max_steps=20,
    play=lambda probe: _IDLE,
    expert=lambda probe: _IDLE,
)
