"""Teleoperation from a browser: a server of sessions, and the page it serves."""
