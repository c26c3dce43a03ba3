"""The rooms depend on each other in one direction only, and importing one costs little."""

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ["storage", "generators", "teleop", "policies", "pipeline"]
HEAVY = ["torch", "ray", "prefect", "lerobot", "zarr", "av", "pyarrow", "gym_pusht"]


def imported_rooms(path: Path) -> set[str]:
    """Rooms that a module of ours imports, however deep in a function the import stands."""
    depth = len(path.relative_to(ROOT).parts)
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level == depth and node.module:
            found.add(node.module.split(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and (node.module or "").startswith("demoloom"):
            found.update((node.module or "").split(".")[1:2])
    return found & set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_lower_rooms_only(room: str) -> None:
    allowed = set(ROOMS[: ROOMS.index(room) + 1])
    for path in (ROOT / room).rglob("*.py"):
        assert imported_rooms(path) <= allowed, path


def test_the_reader_of_imports_sees_a_wrong_one() -> None:
    assert imported_rooms(ROOT / "generators" / "world.py") == {"storage"}


@pytest.mark.parametrize("room", ROOMS)
def test_importing_a_room_loads_nothing_heavy(room: str) -> None:
    code = f"import sys, demoloom.{room}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == ""


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_room_lists_is_what_it_has(room: str) -> None:
    module = importlib.import_module(f"demoloom.{room}")
    assert module.__all__ == sorted(module.__all__)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
