"""Whether a world can start where another one does, asked before any worker is."""

from __future__ import annotations

from dataclasses import replace

from ...storage.errors import SpecMismatch
from ...storage.spec import EpisodeSpec, Vector
from ..plan import RolloutPlan


def refuse_foreign_starts(plan: RolloutPlan) -> None:
    """Compare the world of a plan with the world that its starts come from; nothing to do where it has its own.

    Raises:
        SpecMismatch: cameras, rate, or the names of state or action differ; the message lists how.
    """
    if plan.start_world is None:
        return
    there = plan.start_world.build(num_envs=1).episode_spec
    here = plan.world.build(num_envs=1).episode_spec
    if differences := _comparable(here).differences(_comparable(there)):
        raise SpecMismatch(
            f"the world {plan.world.name!r} cannot start from frames of {plan.start_world.name!r}: "
            f"{'; '.join(differences)}; take a checkpoint that was trained on this robot's data"
        )


def _comparable(spec: EpisodeSpec) -> EpisodeSpec:
    """Without what may differ: data has the bounds that occurred in it, and its own name for the robot."""
    return replace(spec, robot_type="", labels={}, state=_names(spec.state), action=_names(spec.action))


def _names(vector: Vector) -> Vector:
    return Vector(vector.names, (0.0,) * vector.size, (0.0,) * vector.size)
