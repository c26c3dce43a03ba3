"""`demoloom teleop`: drive a robot inside a world from a browser."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from ...generators.learned.bundled import world_folder
from ...storage.plugins import PluginRef
from ...storage.trim import TrimSettings
from ...teleop.shaping import Shaping
from ...teleop.task import load_task
from ..choices import Given, refuse_preset
from ..console import say
from .record import parse_settings

if TYPE_CHECKING:
    from ...teleop.driving import KeptTakes
    from ...teleop.web.opening import TeleopPlan
    from ...teleop.web.own_device import OwnDevice
    from ...teleop.web.rules import Rules


@dataclass(frozen=True)
class Options:
    """Serve a page on which people drive the robot inside a world model, and keep the takes they like."""

    world: str = "pusht"
    """Folder of a world checkpoint, the name of a world that comes with demoloom, or `reality`."""
    out: Path = Path("takes")
    """Folder of the takes that are kept, a LeRobot dataset; one that is there is added to."""
    starts: Path | None = None
    """Dataset whose first frames are offered as starts; those in the world's checkpoint by default."""
    task: str = "pusht"
    """Name of a task plug-in, whose reality can be shown beside the world."""
    host: str = "127.0.0.1"
    """Address to listen at; any but loopback lets other machines in, which then need the token that is printed."""
    port: int = 8765
    """Port to listen at; 0: any that is free."""
    browser: bool = True
    """Whether to open the page."""
    max_sessions: int = 4
    """People who may drive at once, each a world of their own."""
    fps: float | None = None
    """Steps a second; the world's own rate by default. What is recorded is stamped with the world's own."""
    device: str = ""
    """Device of this machine that moves the robot in the first session, by a name that `demoloom devices` knows."""
    device_settings: Path | None = None
    """TOML file with other settings of the device, see docs/devices.md."""
    stream: str = ""
    """Stream that drives in the place of the page's keys, such as `lerobot:so101_leader`; for one person."""
    settings: tuple[str, ...] = ()
    """Of the stream, as name=value: `port=/dev/ttyACM0 id=blue`."""
    step_on_input: bool = False
    """Whether the world stands still while no hand moves."""
    max_steps: int = 1000
    """Steps after which a take ends by itself."""
    min_trust: float = 0.2
    """A take whose trust falls below this is kept apart as untrusted."""
    compile_model: bool = False
    """Whether to compile the world's step; the first time this takes a minute, see docs/world-model.md."""
    shaping: Shaping = field(default_factory=Shaping)
    trim: Annotated[TrimSettings, tyro.conf.arg(name="trim")] = field(default_factory=TrimSettings)


def default_options(given: Given) -> Options:
    """There are no presets."""
    refuse_preset("teleop", given)
    return Options()


def main(options: Options) -> None:
    """Serve until stopped, then say what was kept."""
    from ...teleop.web.opening import open_server
    from ...teleop.web.rules import rules_for
    from ...teleop.web.serving import bind, serve

    limit_threads()
    with bind(options.host, options.port) as listening, _own_device(options) as device:
        rules = rules_for(options.host, listening.getsockname()[1])
        server = open_server(plan_of(options, device), rules)
        try:
            serve(server, listening, lambda: _announce(address_of(options.host, rules), options))
        finally:
            _close(server.takes)


def _announce(address: str, options: Options) -> None:
    say(f"teleop: open {address} (Ctrl-C ends it; takes are kept in {options.out})")
    if options.browser:
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()


def _close(takes: KeptTakes) -> None:
    count = len(takes)
    takes.close()
    say(f"teleop: {count} take{'s' * (count != 1)} in {takes.demonstrations} and {takes.others}")


@contextmanager
def _own_device(options: Options) -> Iterator[OwnDevice | None]:
    """The device that was named, read until the block ends."""
    from ...teleop.devices import load_settings, take_in_hand
    from ...teleop.web.own_device import OwnDevice

    if not options.device:
        yield None
        return
    path = options.device_settings
    with closing(take_in_hand(options.device, lambda base: load_settings(path, base) if path else base)) as device:
        yield OwnDevice(device, options.device)


def address_of(host: str, rules: Rules) -> str:
    """Where the page is, with the token in the fragment, which browsers send to nobody."""
    from ...teleop.web.rules import is_loopback

    name = socket.gethostname() if host in ("0.0.0.0", "::") else f"[{host}]" if ":" in host else host
    token = f"#token={rules.token}" if rules.token else ""
    return f"http://{'localhost' if is_loopback(host) else name}:{rules.port}/{token}"


def plan_of(options: Options, device: OwnDevice | None = None) -> TeleopPlan:
    """What is driven, from the options and a device that is read already.

    Raises:
        ConfigError, PluginError: an option cannot be used.
    """
    from ...teleop.driving import DriveSettings
    from ...teleop.web.opening import TeleopPlan

    task = load_task(options.task)
    folder = None if options.world == "reality" else world_folder(options.world)
    kwargs = {"compile_model": True} if options.compile_model else {}
    world = task.reality if folder is None else PluginRef("worlds", "learned", {"checkpoint": str(folder), **kwargs})
    return TeleopPlan(
        world=world,
        task=task,
        out=options.out.resolve(),
        checkpoint=folder,
        starts=options.starts,
        fps=options.fps,
        on_input=options.step_on_input,
        max_sessions=1 if options.stream else options.max_sessions,
        settings=DriveSettings(options.max_steps, options.min_trust, trim=options.trim),
        shaping=options.shaping,
        stream=stream_of(options),
        device=device,
    )


def stream_of(options: Options) -> PluginRef | None:
    """The stream that is to drive; None where the page does.

    Raises:
        ConfigError, PluginError: there is no such stream, or it takes no such settings.
    """
    from ...teleop.inner_stream import check_arguments

    if not options.stream:
        return None
    settings = parse_settings(options.settings)
    check_arguments(options.stream, settings)
    # A session keeps the world's rate itself; a device that waits as well would only come late.
    paced = {"paced": False} if options.stream.startswith("lerobot:") else {}
    return PluginRef("streams", options.stream, {**settings, **paced})


def limit_threads() -> None:
    """One thread for each step: sessions step at the same time, and a step is too small to be shared out."""
    import torch

    torch.set_num_threads(1)
