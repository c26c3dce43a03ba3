"""Numbers out of Arrow columns, whatever list type holds them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

#: What a Parquet file that is damaged, or lacks a column, raises.
UNREADABLE = (OSError, ValueError, KeyError, pa.ArrowException)


def numbers_of(column: pa.ChunkedArray | pa.Array) -> np.ndarray | None:
    """A column as (T, D) numbers or booleans, nulls as NaN; None where its rows differ in length or hold no numbers."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    length = len(array)
    while _is_list(array.type):
        if array.null_count or not _even(array):
            return None
        array = array.flatten()
    if not _is_number(array.type):
        return None
    if array.null_count:
        array = array.cast(pa.float64())
    return array.to_numpy(zero_copy_only=False).reshape(length, -1)


def dtype_of(kind: pa.DataType) -> str:
    """LeRobot's name for the dtype of a column's numbers."""
    while _is_list(kind):
        kind = kind.value_type
    return {"float": "float32", "double": "float64", "halffloat": "float16"}.get(str(kind), str(kind))


def _is_list(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)


def _even(array: pa.Array) -> bool:
    span = pc.min_max(pc.list_value_length(array)).as_py()
    return bool(span["min"] == span["max"])


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
