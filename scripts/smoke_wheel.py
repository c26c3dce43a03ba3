"""Imports every module of the installed wheel and loads every plug-in, from wherever it is run."""

import importlib
import pkgutil
import sys
from importlib.metadata import entry_points
from pathlib import Path

import demoloom

home = Path(demoloom.__file__)
if Path(sys.prefix) not in home.parents:
    sys.exit(f"expected the wheel installed under {sys.prefix}, got {home}")
names = [module.name for module in pkgutil.walk_packages(demoloom.__path__, "demoloom.")]
for name in names:
    importlib.import_module(name)
for kind in ("worlds", "streams", "policies", "tasks"):
    for point in entry_points(group=f"demoloom.{kind}"):
        point.load()
from demoloom.generators.learned.bundled import bundled_worlds, world_folder  # noqa: E402
from demoloom.generators.learned.world import LearnedWorld  # noqa: E402

for name in bundled_worlds():
    LearnedWorld(str(world_folder(name)), num_envs=1).reset(seed=0)
print(f"drove {', '.join(bundled_worlds())}")
print(f"imported {len(names)} modules of the wheel")
