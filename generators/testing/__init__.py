"""For testing worlds, streams and what hosts them: the contracts as test classes, and small stand-ins.

Only the contracts need pytest, which they import; the stand-ins do not.
"""

from typing import TYPE_CHECKING, Any

from .counting import CountingWorld, FaultyWorld, RandomCounts

if TYPE_CHECKING:
    from .contracts import StreamContract, WorldContract

__all__ = ["CountingWorld", "FaultyWorld", "RandomCounts", "StreamContract", "WorldContract"]


def __getattr__(name: str) -> Any:
    if name in ("StreamContract", "WorldContract"):
        from . import contracts

        return getattr(contracts, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
