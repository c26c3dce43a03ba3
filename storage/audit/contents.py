"""What each episode holds, as hashes: to find episodes that are there twice, or changed since they were recorded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ..recorder import ContentDigest
from .finding import Finding


class Contents:
    """One digest for each episode, fed in any order and in blocks of any length."""

    def __init__(self) -> None:
        self._digests: dict[str, ContentDigest] = defaultdict(ContentDigest)
        self._forgotten: set[str] = set()

    def __getitem__(self, id: str) -> ContentDigest:
        return self._digests[id]

    def forget(self, id: str) -> None:
        """Compare an episode no further: rows or frames of it are missing, which is named elsewhere."""
        self._forgotten.add(id)

    def whole(self) -> Iterator[tuple[str, ContentDigest]]:
        """Id and digest of each episode that was not forgotten."""
        return ((id, digest) for id, digest in self._digests.items() if id not in self._forgotten)

    def identical(self) -> Iterator[Finding]:
        """A warning for each episode whose frames and numbers are those of an earlier one under another id."""
        seen: dict[tuple[str, ...], str] = {}
        for id, digest in self.whole():
            first = seen.setdefault(tuple(digest.columns()[name] for name in sorted(digest.columns())), id)
            if first != id:
                yield Finding(
                    field="episode",
                    message=f"it is the same as episode {first!r} in every frame and number; drop one of them",
                    severity="warning",
                    episode=id,
                )


CHANGED = "its content is not what was recorded: a frame or number was changed, lost or shifted since"
