"""One person's session: input, commands and deadlines become steps of a drive. No socket and no event loop."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ...storage.episode import Episode
from ...storage.errors import ConfigError, DemoloomError, DeviceError
from ..driving import Drive, Seen
from .framing import Kind, frame_bytes
from .hands import Hands
from .messages import Command
from .orders import obey
from .pacing import Pace
from .telling import Telling

#: Seconds without a word from a page that spoke before, after which its world stands still: a tab in the background
#: may speak once a second, a machine that sleeps does not.
SILENT_S = 2.0
#: Commands that may wait.
_MOST_WAITING = 64

log = logging.getLogger(__name__)

Answer = Callable[[str | None], None]


class Audience(Protocol):
    """Whoever looks at a session; called from its thread, and never waited for."""

    def show(self, tick: int, frame: bytes) -> None:
        """There is a new frame to see."""
        ...

    def tell(self, state: dict[str, Any]) -> None:
        """The state changed."""
        ...

    def end(self, reason: str) -> None:
        """The session is over."""
        ...


@dataclass(frozen=True)
class Tempo:
    """When the world moves.

    Args:
        fps: steps a second.
        on_input: whether it only moves while the hand does.
    """

    fps: float
    on_input: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.fps <= 240:
            raise ConfigError(f"fps must be above 0 and at most 240, got {self.fps}")


class Session:
    """Lets one person drive. `turn` does what is due and says how long nothing is; `run` does that until closed.

    Args:
        drive: the world and its takes; only this session's thread may use it.
        hands: what is driven with.
        tempo: when the world moves.
        audience: who looks.
        kind: of the world.
        clock: seconds.
    """

    def __init__(
        self, drive: Drive, hands: Hands, tempo: Tempo, audience: Audience, kind: Kind = "imagined",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        self.drive, self.hands, self.tempo = drive, hands, tempo
        self.paused = False
        self._audience, self._kind, self._clock = audience, kind, clock
        self._pace, self._late_before_take = Pace(tempo.fps, clock()), 0
        self._telling, self._message, self._tick = Telling(), "", 0
        self._waiting: deque[tuple[Command, Answer]] = deque()
        self._woken, self._closing, self._looks_again = threading.Event(), False, True
        self.moved()

    def ask(self, command: Command, answer: Answer) -> None:
        """Have a command done in the session's thread; `answer` is called there with what stood in its way, or None.

        Raises:
            ConfigError: too many are waiting.
        """
        if len(self._waiting) >= _MOST_WAITING:
            raise ConfigError(f"{_MOST_WAITING} commands are waiting; send them more slowly")
        self._waiting.append((command, answer))
        self._woken.set()

    def look_again_soon(self) -> None:
        """Have all shown and told again, to somebody who has just come."""
        self._looks_again = True
        self._woken.set()

    def let_go(self) -> None:
        """The page that drove is gone: nothing is held, and the world stands still until somebody goes on."""
        self.hands.page.forget()
        self.paused = True
        self._woken.set()

    def close(self) -> None:
        """Let `run` end; the take in progress is lost."""
        self._closing = True
        self._woken.set()

    def run(self) -> None:
        """Do what is due until closed; a world that fails ends the session, and what was kept stays."""
        try:
            while not self._closing:
                self._woken.wait(self.turn())
                self._woken.clear()
        except Exception as error:
            log.exception("a session failed")
            self._audience.end(_failure(error))
        finally:
            self.drive.world.close()
            self.hands.close()

    def turn(self) -> float:
        """Do what is due now; returns the seconds until something else is."""
        while self._waiting:
            self._obey(*self._waiting.popleft())
        now = self._clock()
        self._look_at_hands(now)
        if self._looks_again:
            self._looks_again = False
            self._telling.forget()
            self._show()
        if self.standing_still:
            self._pace.rest(now)
        elif self._pace.wait_s(now) == 0:
            self._step(now)
        self._tell()
        return self._pace.wait_s(self._clock())

    @property
    def standing_still(self) -> bool:
        """Whether the world waits for a command."""
        return self.paused or self.drive.look().ended

    def tick(self) -> None:
        """One step of the world, by what is held now; where a device does not answer the world stands still instead."""
        dt = 1 / self.drive.world.episode_spec.fps
        try:
            action, is_persons = self.hands.command(self.drive.look(), dt, self._clock())
        except DeviceError as error:
            self.paused, self._message = True, f"paused: {error}"
            return
        if self.drive.tick(action, is_persons).ended:
            self._message = f"a take has at most {self.drive.settings.max_steps} steps; keep it or discard it"
        self._show()

    def moved(self) -> None:
        """The robot is suddenly elsewhere."""
        self.hands.begin(self.drive.look().state)

    def take_begins(self) -> None:
        """A take begins now: count its late steps, and note by which hands it is made."""
        self._late_before_take = self._pace.num_late
        self.hands.take_begins()

    def keep(self) -> Episode:
        """Keep the take; its lineage says who drove, by which rule of time, and how many steps were late."""
        rule = "step-on-input" if self.tempo.on_input else "real-time"
        num_late = self._pace.num_late - self._late_before_take
        tempo = {"rule": rule, "fps": self.tempo.fps, "num_late": num_late}
        return self.drive.keep({"stream": self.hands.driver(), "tempo": tempo})

    def _step(self, now: float) -> None:
        self._pace.begin(now)
        if self.tempo.on_input and not self.hands.moving(now):
            self._pace.rest(now)
        else:
            self.tick()

    def _look_at_hands(self, now: float) -> None:
        """See what a device does; where it is gone, or the page is silent, the world stands still."""
        news = self.hands.look()
        if self.hands.silent_s(now) > SILENT_S and not self.paused:
            self.paused, self._message = True, "paused: nothing was heard from your page for a while"
        for name in news.commands:
            pressed_again = name == "pause" and self.standing_still
            self._obey(Command(0, "resume" if pressed_again else name), self._answer_device)
        self.paused = self.paused or news.lost
        self._message = news.message or self._message

    def _answer_device(self, error: str | None) -> None:
        # A device has no answers to its commands; its person looks at the page.
        self._message = error or self._message

    def _obey(self, command: Command, answer: Answer) -> None:
        try:
            self._message = obey(self, command.name, command.args)
        except DemoloomError as error:
            answer(str(error))
        except Exception as error:
            answer(_failure(error))
            raise
        else:
            answer(None)
        self._looks_again = True

    def _show(self) -> None:
        self._tick += 1
        self._audience.show(self._tick, frame_bytes(self._tick, self.drive.look(), self.hands.held, self._kind))

    def _tell(self) -> None:
        seen, still = self.drive.look(), self.standing_still
        lasting = {
            "recording": seen.recording,
            "paused": still,
            "success": seen.success,
            "reality": seen.reality is not None,
            "takes": len(self.drive.takes),
        }
        if self._message:
            self._telling.forget()
        if self._telling.is_due(lasting, moving=not still, now=self._clock()):
            self._audience.tell({**lasting, **self._passing(seen), "message": self._message})
        self._message = ""

    def _passing(self, seen: Seen) -> dict[str, Any]:
        """What changes with every step."""
        return {
            "step": seen.step,
            "length": seen.length,
            "score": round(seen.score, 4),
            "trust": round(seen.trust, 4),
            "fps": round(self._pace.rate(), 1),
            "late": self._pace.num_late,
        }


def _failure(error: Exception) -> str:
    return f"the world failed ({type(error).__name__}: {error}); open the page again, kept takes are safe"
