"""Putting a server together: a world for each session, its starts, and the folder of kept takes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ...generators.world import World
from ...storage.errors import ConfigError
from ...storage.plugins import PluginRef
from ...storage.spec import EpisodeSpec
from ..axis_map import AxisMap
from ..controls import Controls, Shaping
from ..driving import Drive, DriveSettings, KeptTakes, Starts, checkpoint_starts, dataset_starts, no_starts, take_spec
from ..task import Task
from .framing import Kind
from .hands import Hands
from .own_device import OwnDevice
from .rules import Rules
from .server import Offer, Server
from .session import Audience, Session, Tempo
from .sessions import Sessions
from .stream_hand import StreamHand


@dataclass(frozen=True)
class TeleopPlan:
    """What is driven, and where takes go.

    Args:
        world: built with `num_envs=1` for each session.
        task: whose reality and controls are used.
        out: folder of the demonstrations that are kept.
        checkpoint: folder of the learned world, whose start frames are offered; None where the world is none.
        starts: dataset whose first frames are offered instead.
        fps: steps a second; None: at the world's own rate.
        on_input: whether the world only moves while the hand does.
        max_sessions: people at once.
        settings: how takes are recorded.
        shaping: of a hand's deflections.
        device: of this machine, which moves the robot beside the page's keys in the first session.
        stream: drives in the place of the page's keys and pointer, such as a device that is plugged in here; for one
            person.

    Raises:
        ConfigError: a number is out of its range.
    """

    world: PluginRef
    task: Task
    out: Path
    checkpoint: Path | None = None
    starts: Path | None = None
    fps: float | None = None
    on_input: bool = False
    max_sessions: int = 4
    settings: DriveSettings = field(default_factory=DriveSettings)
    shaping: Shaping = field(default_factory=Shaping)
    stream: PluginRef | None = None
    device: OwnDevice | None = None

    def __post_init__(self) -> None:
        if self.stream is not None and (self.max_sessions != 1 or self.on_input):
            raise ConfigError("a stream drives for one person and all the time; leave out max_sessions and on_input")
        if not 1 <= self.max_sessions <= 64:
            raise ConfigError(f"max_sessions must lie between 1 and 64, got {self.max_sessions}")

    @property
    def kind(self) -> Kind:
        """Whether it is reality that is driven, or a world that imagines it."""
        return "reality" if self.world == self.task.reality else "imagined"


def open_server(plan: TeleopPlan, rules: Rules) -> Server:
    """Load the world once, so that what is wrong with it shows now, and get all else ready.

    Raises:
        DemoloomError: the world, the starts or the folder of takes cannot be used.
    """
    world = plan.world.build(num_envs=1)
    takes = KeptTakes(plan.out, take_spec(world))
    starts = _starts(plan, world, first=len(takes))
    tempo = Tempo(plan.fps or world.episode_spec.fps, plan.on_input)
    worlds, make_reality = _Worlds(plan, world), _reality_beside(plan, world)
    offer = Offer(
        spec=world.episode_spec,
        text=world.task,
        task=plan.task.name,
        world=plan.checkpoint.name if plan.checkpoint else plan.world.name,
        controls=_controls(plan, world, plan.device),
        tempo=tempo,
        settings=plan.settings,
        has_reality=make_reality is not None,
    )

    def make_session(audience: Audience) -> Session:
        own = worlds.next()
        drive = Drive(own, takes, starts, plan.settings, make_reality)
        device = plan.device if plan.device is not None and plan.device.take() else None
        hands = Hands(_controls(plan, own, device), _stream(plan, own), device)
        return Session(drive, hands, tempo, audience, plan.kind)

    return Server(offer, starts, takes, Sessions(make_session, plan.max_sessions), rules)


class _Worlds:
    """Gives each session a world of its own; the first is there already."""

    def __init__(self, plan: TeleopPlan, first: World) -> None:
        self._plan, self._lock = plan, threading.Lock()
        self._first: World | None = first

    def next(self) -> World:
        with self._lock:
            world, self._first = self._first, None
        built: World = world or self._plan.world.build(num_envs=1)
        return built


def _starts(plan: TeleopPlan, world: World, first: int) -> Starts:
    if plan.starts is not None:
        return dataset_starts(plan.starts, world.episode_spec, first=first)
    if plan.checkpoint is not None:
        return checkpoint_starts(plan.checkpoint, world.episode_spec, first=first)
    return no_starts(first=first)


def _controls(plan: TeleopPlan, world: World, device: OwnDevice | None = None) -> Controls:
    """By the device's settings; where they leave it open, by the task's map if the world has its actions."""
    spec, shaping = world.episode_spec, plan.shaping
    if device is not None:
        shaping = device.device.settings.shaping
        if device.device.settings.axes is not None:
            return Controls(spec, device.device.settings.axes, shaping)
    fits = plan.task.controls is not None and _fits(plan.task.controls, spec)
    return Controls(spec, plan.task.controls if fits else None, shaping)


def _fits(axis_map: AxisMap, spec: EpisodeSpec) -> bool:
    try:
        axis_map.check(spec)
    except ConfigError:
        return False
    return True


def _stream(plan: TeleopPlan, world: World) -> StreamHand | None:
    if plan.stream is None:
        return None
    return StreamHand(plan.stream.build(spec=world.episode_spec), plan.stream.name)


def _reality_beside(plan: TeleopPlan, world: World) -> Callable[[], World] | None:
    """What makes a reality to show beside an imagined world of the same robot."""
    if plan.kind == "reality":
        return None
    reality: World = plan.task.reality.build(num_envs=1)
    differs = bool(reality.episode_spec.differences(world.episode_spec))
    return None if differs else lambda: plan.task.reality.build(num_envs=1)
