"""Damage to a dataset as one error that names it, whatever it made Python, numpy or pyarrow raise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import DemoloomError, StoreError

#: What values of another type or out of their range come to; of files that cannot be read, readers say it themselves.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RuntimeError, StopIteration, TypeError, ValueError)


@contextmanager
def damage_named(path: Path, remedy: str = "`demoloom validate` says what is wrong with it") -> Iterator[None]:
    """Say in a StoreError that what is at `path` is damaged, where its content makes a block fail."""
    try:
        yield
    except DemoloomError:
        raise
    except (OSError, *_DAMAGE) as error:
        # The system's errors have a number; those of libraries, such as HDF5's, are about the content.
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise StoreError(f"{path} is damaged ({type(error).__name__}: {error}); {remedy}") from error
