"""What a person can ask of a session besides moving, by name; each checks its arguments and says what it did."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...storage.errors import ConfigError

if TYPE_CHECKING:
    from .session import Session

Args = Mapping[str, Any]


def obey(session: Session, name: str, args: Args) -> str:
    """Do what is asked for, and say so where the page does not show it anyway.

    Raises:
        ConfigError: there is no such command, an argument cannot be used, or it cannot be done now.
        StoreError: a take cannot be stored.
    """
    if name not in ORDERS:
        raise ConfigError(f"there is no command {name!r}; there are {', '.join(ORDERS)}")
    known, order = ORDERS[name]
    for argument in args:
        if argument not in known:
            raise ConfigError(f"{name} takes {' and '.join(known) or 'no arguments'}, got {argument!r}")
    return order(session, args) or ""


def _start(session: Session, args: Args) -> None:
    session.drive.start(seed=_integer(args, "seed"), index=_integer(args, "index"))
    session.moved()
    session.paused = False


def _record(session: Session, args: Args) -> None:
    seen = session.drive.record()
    session.paused = False
    if seen.recording and not seen.length:
        session.take_begins()


def _keep(session: Session, args: Args) -> str:
    episode = session.keep()
    session.moved()
    said = "kept as a demonstration" if episode.is_demonstration else f"kept apart: {episode.reason}"
    return f"{episode.id} ({len(episode)} steps) {said}"


def _discard(session: Session, args: Args) -> str:
    session.drive.discard()
    session.moved()
    return "the take is discarded"


def _redo(session: Session, args: Args) -> None:
    if session.drive.redo().recording:
        session.take_begins()
    session.moved()
    session.paused = False


def _undo(session: Session, args: Args) -> None:
    steps = _integer(args, "steps")
    session.drive.undo(session.drive.world.episode_spec.fps if steps is None else steps)
    session.moved()


def _seek(session: Session, args: Args) -> None:
    step = _integer(args, "step")
    if step is None:
        raise ConfigError("seek needs the step to go back to")
    session.drive.seek(step)
    session.moved()


def _pause(session: Session, args: Args) -> None:
    session.paused = True


def _resume(session: Session, args: Args) -> None:
    if session.drive.look().ended:
        session.drive.record()
    session.paused = False


def _step(session: Session, args: Args) -> None:
    session.paused = True
    session.tick()


def _reality(session: Session, args: Args) -> None:
    shown = args.get("on", session.drive.look().reality is None)
    if not isinstance(shown, bool):
        raise ConfigError(f"reality is on or off (true or false), got {shown!r}")
    session.drive.show_reality(shown)


def _integer(args: Args, name: str) -> int | None:
    value = args.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) > 2**53:
        raise ConfigError(f"{name} must be an integer, got {value!r}")
    return value


#: Command -> the arguments it takes, and what does it.
ORDERS: Mapping[str, tuple[tuple[str, ...], Callable[[Session, Args], str | None]]] = {
    "start": (("seed", "index"), _start),
    "record": ((), _record),
    "keep": ((), _keep),
    "discard": ((), _discard),
    "redo": ((), _redo),
    "undo": (("steps",), _undo),
    "seek": (("step",), _seek),
    "pause": ((), _pause),
    "resume": ((), _resume),
    "step": ((), _step),
    "reality": (("on",), _reality),
}
