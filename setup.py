"""Finds every package under the five rooms, so that no new subpackage is left out of the wheel."""

from setuptools import find_packages, setup

ROOMS = ("storage", "generators", "teleop", "policies", "pipeline")
subpackages = [f"demoloom.{room}.{name}" for room in ROOMS for name in find_packages(room)]
setup(packages=["demoloom", *(f"demoloom.{room}" for room in ROOMS), *subpackages])
