"""A session's turns, by a clock that goes on only when it is told to."""

from demoloom.teleop.web.messages import Command
from demoloom.teleop.web.session import Session

from .conftest import Clock


def asked(session: Session, name: str, /, **args) -> str | None:
    """What stood in the way of a command."""
    answers: list[str | None] = []
    session.ask(Command(0, name, args), answers.append)
    session.turn()
    (answer,) = answers
    return answer


def steps(session: Session, clock: Clock, count: int) -> None:
    """Let so many steps become due, each on time."""
    for _ in range(count):
        # A little more, so that rounding never leaves a deadline just ahead.
        clock.now += 1.0001 / session.tempo.fps
        session.turn()
