"""Making a stored episode again from its lineage, and comparing the two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..generators.plan import RolloutPlan
from ..storage.episode import Episode
from ..storage.errors import ConfigError, StoreError
from .run_folder import RunFolder

#: A decoded H.264 frame this close to the original (in dB) is the same frame as far as a lossy codec can tell.
LOSSY_PSNR_DB = 30.0


@dataclass(frozen=True)
class Stored:
    """An episode and whether its frames were stored exactly."""

    episode: Episode
    lossless: bool


@dataclass(frozen=True)
class Verdict:
    """How one array of an episode compares."""

    name: str
    equal: bool
    text: str


def find_episode(folder: RunFolder, id: str) -> Stored:
    """Look for an episode in all datasets of a run.

    Raises:
        StoreError: no dataset of the run holds it.
    """
    from ..storage.dataset import open_dataset
    from ..storage.zarr_store import is_store

    looked = list(_datasets(folder.path))
    for path in looked:
        dataset = open_dataset(path)
        if id in dataset.ids():
            return Stored(dataset.read(id), lossless=is_store(path))
    names = ", ".join(str(path.relative_to(folder.path)) for path in looked) or "no dataset at all"
    raise StoreError(f"no episode {id!r} in {folder.path} (looked in {names}); `demoloom inspect FOLDER` lists ids")


def _datasets(run: Path) -> Iterator[Path]:
    candidates = [run / name for name in ("generated", "rejected", "interaction")]
    candidates += [run / "baseline" / name for name in ("demonstrations", "rejected")]
    candidates += sorted((run / "evaluation").glob("*/"))
    return (path for path in candidates if (path / "spec.json").is_file() or (path / "meta" / "info.json").is_file())


def remake(folder: RunFolder, episode: Episode) -> Episode:
    """Make an episode again, in this process, from the plan in its lineage.

    Raises:
        ConfigError: it has no plan, or the world or probe it was made with is no longer the same.
    """
    from ..generators.rollout import rollout

    plan = plan_of(folder, episode)
    world = plan.world.build(num_envs=plan.num_slots)
    start_world = plan.start_world.build(num_envs=plan.num_slots) if plan.start_world else None
    stream = plan.stream.build(spec=world.episode_spec)
    return next(rollout(world, stream, plan, [episode.index], start_world))


def plan_of(folder: RunFolder, episode: Episode) -> RolloutPlan:
    """The plan an episode was made by, with its folders where the run folder lies now."""
    if "plan" not in episode.lineage:
        raise ConfigError(f"episode {episode.id} was not made by a rollout (no plan in its lineage)")
    plan = RolloutPlan.from_dict(_moved(episode.lineage["plan"], _recorded_path(folder), str(folder.path)))
    if plan.episode_id(episode.index) != episode.id:
        raise ConfigError(
            f"episode {episode.id} was made with another world, probe or policy than lies in {folder.path} now; "
            "run the stages that made it again"
        )
    return plan


def _recorded_path(folder: RunFolder) -> str:
    lineage = folder.path / "lineage.json"
    return str(json.loads(lineage.read_text())["path"]) if lineage.exists() else str(folder.path)


def _moved(value: Any, old: str, new: str) -> Any:
    if isinstance(value, Mapping):
        return {key: _moved(item, old, new) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_moved(item, old, new) for item in value]
    if isinstance(value, str) and (value == old or value.startswith(f"{old}/")):
        return new + value.removeprefix(old)
    return value


def compare(stored: Stored, made: Episode) -> list[Verdict]:
    """Compare every array of an episode with the one made again."""
    old = stored.episode
    names = ("state", "action", "reward", "success", "score", "trust")
    verdicts = [_compare_exactly(name, getattr(old, name), getattr(made, name)) for name in names]
    if old.intervention is not None and made.intervention is not None:
        verdicts.append(_compare_exactly("intervention", old.intervention, made.intervention))
    verdicts += [_compare_exactly(f"label {name}", old.labels[name], made.labels[name]) for name in old.labels]
    compare_frames = _compare_exactly if stored.lossless else _compare_lossy
    verdicts += [compare_frames(f"frames {name}", old.images[name], made.images[name]) for name in old.images]
    return verdicts


def _compare_exactly(name: str, old: np.ndarray, new: np.ndarray) -> Verdict:
    if old.shape != new.shape:
        return Verdict(name, False, f"shape {old.shape} stored, {new.shape} made again")
    equal = old.tobytes() == new.tobytes()
    if equal:
        return Verdict(name, True, "bytes are equal")
    worst = np.abs(old.astype(np.float64) - new.astype(np.float64)).max()
    return Verdict(name, False, f"differs by up to {worst:g}")


def _compare_lossy(name: str, old: np.ndarray, new: np.ndarray) -> Verdict:
    exactly = _compare_exactly(name, old, new)
    if exactly.equal or old.shape != new.shape:
        return exactly
    error = np.mean((old.astype(np.float64) - new.astype(np.float64)) ** 2)
    psnr_db = 10 * np.log10(255**2 / error)
    same = bool(psnr_db >= LOSSY_PSNR_DB)
    return Verdict(name, same, f"{'equal' if same else 'differs'} up to video compression, {psnr_db:.1f} dB")
