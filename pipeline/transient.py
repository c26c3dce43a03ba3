"""Which failures of a stage may pass by themselves, so that trying again is no waste."""

from __future__ import annotations

import errno
import sys

from ..storage.errors import DemoloomError

#: What a network file system or a network says while it comes back.
_PASSING = {
    errno.EAGAIN, errno.EBUSY, errno.EIO, errno.ENETDOWN, errno.ENETRESET, errno.ENETUNREACH, errno.EHOSTUNREACH,
    errno.ESTALE, errno.ETIMEDOUT,
}  # fmt: skip


def is_transient(error: BaseException) -> bool:
    """Whether `error`, or what caused it, may be gone in a minute.

    A lost connection, a file system that does not answer, or the memory of a GPU that others use may be; a setting
    that cannot be used or a full disk stay as they are until somebody mends them.
    """
    if isinstance(error, ConnectionError | TimeoutError) or _lacks_gpu_memory(error):
        return True
    if isinstance(error, OSError) and error.errno in _PASSING:
        return True
    cause = error.__cause__ if isinstance(error, DemoloomError) else None
    return cause is not None and is_transient(cause)


def _lacks_gpu_memory(error: BaseException) -> bool:
    # A stage that never imported torch cannot fail of it.
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(error, torch.cuda.OutOfMemoryError)
