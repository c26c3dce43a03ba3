"""The commands of `demoloom`, one module each, found by name in `cli.py`."""
