"""Durations and sizes as a person says them."""

from __future__ import annotations


def spoken_time(seconds: float) -> str:
    """`3 min 05 s`, from two hours on `2 h 04 min`."""
    minutes, rest = divmod(round(seconds), 60)
    if minutes >= 120:
        return f"{minutes // 60} h {minutes % 60:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def spoken_size(num_bytes: float) -> str:
    """`512 bytes`, `3.4 MB`, `211 GB`; a kB is 1000 bytes."""
    size, unit = float(num_bytes), "bytes"
    for larger in ("kB", "MB", "GB", "TB"):
        if size < 1000:
            break
        size, unit = size / 1000, larger
    return f"{size:.0f} {unit}" if size >= 100 or unit == "bytes" else f"{size:.1f} {unit}"
