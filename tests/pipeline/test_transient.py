from __future__ import annotations

import errno

import pytest

from demoloom.pipeline.transient import is_transient
from demoloom.storage.errors import ConfigError, StoreError


@pytest.mark.parametrize(
    "error", [ConnectionResetError("gone"), TimeoutError("late"), OSError(errno.ESTALE, "Stale file handle")]
)
def test_what_may_pass_by_itself_is_worth_another_try(error: Exception) -> None:
    assert is_transient(error)


@pytest.mark.parametrize(
    "error", [ConfigError("seed must not be negative"), OSError(errno.ENOSPC, "full"), RuntimeError("a fault of ours")]
)
def test_what_somebody_must_mend_is_not(error: Exception) -> None:
    assert not is_transient(error)


def test_an_error_of_ours_is_judged_by_its_cause() -> None:
    error = StoreError("the file system at /data does not answer")
    error.__cause__ = OSError(errno.EIO, "Input/output error")
    assert is_transient(error)


def test_the_memory_of_a_gpu_that_others_use_may_come_free() -> None:
    import torch

    assert is_transient(torch.cuda.OutOfMemoryError("out of memory"))
