"""Worlds that stand in for the real robot: simulators which this project did not write."""
