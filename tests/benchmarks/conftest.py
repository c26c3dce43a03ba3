"""Benchmarks and scripts import each other by their plain names."""

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "benchmarks"), str(ROOT / "scripts")]
