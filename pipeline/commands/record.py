"""`demoloom record`: whatever a stream does in a world, in this process and where a device is at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...storage.create import Format
from ...storage.errors import ConfigError, DeviceError
from ...storage.plugins import PluginRef
from ..checks import require_at_least
from ..choices import Given, refuse_preset
from ..console import say
from .standalone import require_free

if TYPE_CHECKING:
    from ...generators.plan import RolloutPlan
    from ...generators.stream import ActionStream
    from ...generators.world import World
    from ...storage.episode import Episode


@dataclass(frozen=True)
class Options:
    """Let one stream drive one world, such as a person with a leader arm, and keep every episode, solved or not."""

    stream: str = "lerobot:so101_leader"
    """Name of a stream plug-in; `lerobot:TYPE` is any teleoperator of LeRobot, also of its plug-ins."""
    settings: tuple[str, ...] = ()
    """Of the stream, as name=value; values are JSON, or else text: `port=/dev/ttyACM0 id=blue`."""
    world: str = "pusht"
    """Folder of a world checkpoint, the name of a world that comes with demoloom, or `reality:TASK`."""
    out: Path = Path("recorded")
    """Folder of the episodes; must not exist."""
    format: Format = "lerobot"
    """What the episodes are written as."""
    num_episodes: int = 10
    """Stop after so many; Ctrl-C stops earlier, and keeps those that have ended."""
    max_steps: int = 300
    """Steps after which an episode ends; it ends earlier when it is solved, or when the person says so."""
    seed: int = 0
    """The same seed starts episodes from the same states."""

    def __post_init__(self) -> None:
        require_at_least(1, num_episodes=self.num_episodes, max_steps=self.max_steps)


def default_options(given: Given) -> Options:
    """This command has no presets."""
    refuse_preset("record", given)
    return Options()


def main(options: Options) -> None:
    """Record, and say after each episode how it ended."""
    from ...generators.plan import RolloutPlan
    from ...generators.rollout import recorded_spec
    from ...storage.create import new_dataset
    from ...teleop.inner_stream import check_arguments
    from ...teleop.lerobot.worlds import world_ref

    require_free(options.out)
    stream_ref = PluginRef("streams", options.stream, parse_settings(options.settings))
    check_arguments(stream_ref.name, stream_ref.kwargs)
    plan = RolloutPlan("record", world_ref(options.world), stream_ref, options.seed, options.max_steps, num_slots=1)
    world = plan.world.build(num_envs=1)
    stream = stream_ref.build(spec=world.episode_spec)
    with closing(stream) if hasattr(stream, "close") else nullcontext():
        recorded = _Recorded(plan, world, stream, options.num_episodes)
        with new_dataset(options.out, options.format, recorded_spec(world, stream)) as store:
            for episode in recorded:
                store.append(episode)
                reason = episode.reason or f"solved in {len(episode.action)} step{'s' * (len(episode.action) != 1)}"
                say(f"record: episode {episode.index}, {episode.outcome}: {reason}")
    say(f"record: wrote {recorded.count} episode{'s' * (recorded.count != 1)} to {options.out}{recorded.ended}")


class _Recorded:
    """The episodes that come about, until there are enough, somebody stops them, or the device is gone."""

    def __init__(self, plan: RolloutPlan, world: World, stream: ActionStream, num_episodes: int) -> None:
        self._plan, self._world, self._stream, self._num_episodes = plan, world, stream, num_episodes
        self.count, self.ended = 0, ""

    def __iter__(self) -> Iterator[Episode]:
        from ...generators.rollout import rollout

        episodes = rollout(self._world, self._stream, self._plan, range(self._num_episodes))
        while True:
            try:
                episode = next(episodes)
            except StopIteration:
                return
            except (KeyboardInterrupt, DeviceError) as error:
                if not self.count:
                    raise
                self.ended = f"; stopped early: {str(error) or 'by Ctrl-C'}"
                return
            self.count += 1
            yield episode


def parse_settings(settings: tuple[str, ...]) -> dict[str, Any]:
    """`("port=/dev/ttyACM0", "use_degrees=true")` -> {"port": "/dev/ttyACM0", "use_degrees": True}.

    Raises:
        ConfigError: there is no equals sign.
    """
    parsed: dict[str, Any] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise ConfigError(f"a setting of a stream is written name=value, got {setting!r}")
        try:
            parsed[name.strip()] = json.loads(value)
        except json.JSONDecodeError:
            parsed[name.strip()] = value
    return parsed
