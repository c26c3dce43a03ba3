"""Rows of `results/*.json`, as docs/architecture.md says."""

from __future__ import annotations

from typing import Any

Row = dict[str, Any]


def new_row(name: str, value: float, unit: str, rival: float | None = None, aim: float | None = None) -> Row:
    """A row; the aim is the least value."""
    return {
        "name": name,
        "value": round(value, 3),
        "unit": unit,
        "rival": None if rival is None else round(rival, 3),
        "ratio": round(value / rival, 3) if rival else None,
        "aim": aim,
        "met": None if aim is None else value >= aim,
    }


def at_most(row: Row, aim: float) -> Row:
    """The same row, of an error or a cost: its aim is the greatest value."""
    return row | {"aim": aim, "met": row["value"] <= aim}
