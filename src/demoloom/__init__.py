"""demoloom makes robot demonstrations inside a learned world model."""

__version__ = "0.1.0"
