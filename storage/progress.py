"""How long work tells whoever started it how far it is."""

from collections.abc import Callable

#: Called with (done, total, message); total 0 means unknown.
Progress = Callable[[int, int, str], None]


def silent(done: int, total: int, message: str) -> None:
    """Show nothing."""
