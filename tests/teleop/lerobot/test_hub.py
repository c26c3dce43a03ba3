"""A world in a repository of the hub, found in the cache as there is no network."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from demoloom.generators.learned.bundled import world_folder

DOCUMENT = Path(__file__).parents[3] / "docs" / "lerobot.md"

OPEN = """
from lerobot.envs import make_env
((env,),) = [list(suite.values()) for suite in make_env("you/pusht-world", n_envs=2, trust_remote_code=True).values()]
observation, info = env.reset(seed=[1, 2])
print("seen:", observation["pixels"]["top"].shape, env.call("task_description")[1])
"""


def documented_env() -> str:
    """The `env.py` that the documentation has people write."""
    _, _, rest = DOCUMENT.read_text().partition("this `env.py`:\n")
    block = rest.partition("\nWhoever")[0]
    return textwrap.dedent(block)


@pytest.mark.slow
def test_a_world_on_the_hub_is_opened_as_lerobot_opens_environments_there(tmp_path: Path) -> None:
    repository = tmp_path / "hub" / "models--you--pusht-world"
    snapshot = shutil.copytree(world_folder("pusht"), repository / "snapshots" / ("0" * 40))
    (snapshot / "env.py").write_text(documented_env())
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0" * 40)
    offline = os.environ | {"HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", OPEN], env=offline, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "seen: (2, 64, 64, 3) Push the T-shaped block" in done.stdout
