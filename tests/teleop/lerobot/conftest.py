"""A folder of installed packages: a team's teleoperator and task, and demoloom's own plug-in for LeRobot."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PLUGIN = HERE.parents[2] / "plugins" / "lerobot_robot_demoloom"

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """On the path of this process, and of those that `lerobot` starts."""
    folder = tmp_path_factory.mktemp("site")
    for module in (HERE / "installed").glob("*.py"):
        shutil.copy(module, folder)
    says = folder / "lerobot_teleoperator_scripted-1.0.dist-info" / "METADATA"
    says.parent.mkdir()
    says.write_text("Metadata-Version: 2.1\nName: lerobot_teleoperator_scripted\nVersion: 1.0\n")
    sys.path.insert(0, str(folder))
    yield folder
    sys.path.remove(str(folder))


@pytest.fixture(scope="session")
def plugin(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """demoloom's plug-in for LeRobot, built from its sources and unpacked as an installer does."""
    source = shutil.copytree(PLUGIN, tmp_path_factory.mktemp("plugin") / "source")
    build = "import setuptools.build_meta as backend; print(backend.build_wheel('dist'))"
    subprocess.run([sys.executable, "-c", build], cwd=source, check=True, capture_output=True)
    (wheel,) = (source / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.fixture
def lerobot(site: Path, tmp_path: Path) -> Run:
    """Runs `lerobot-NAME ARGUMENTS...` offline in an empty folder and returns what came of it."""

    def run(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        own = {"HF_HOME": str(tmp_path / "hf"), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(site)}
        command = [str(Path(sys.executable).with_name(f"lerobot-{name}")), *arguments]
        return subprocess.run(command, cwd=tmp_path, env=os.environ | own, capture_output=True, text=True, check=False)

    return run
