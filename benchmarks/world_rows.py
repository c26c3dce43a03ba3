"""Rows of `results/world.json` from what was measured of a learned PushT world."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from rows import Row, at_most, new_row
from world_extent import Extent
from world_stability import Survival
from world_trials import FAR, STEPS, TURNED, Verdicts, auroc


def survival_rows(survivals: Mapping[str, Survival], real: Survival, extent: Extent) -> list[Row]:
    """Shares of episodes that are alive and of blocks on the board, for which reality stands beside; creep."""
    rows = []
    for kind, survival in survivals.items():
        alive = dict(zip(survival.steps, survival.alive, strict=True))
        episodes = f"{kind}, {len(survival.creep[0])} episodes"
        for step in extent.marks:
            aim = 0.95 if step == extent.num_steps else None
            rows.append(new_row(f"alive after {step} steps, {episodes}", alive[step], "share", None, aim))
        beside = real.on_board[-1] if kind == "random" else None
        name = f"block on the board for all {extent.num_steps} steps, {episodes}"
        rows.append(new_row(name, survival.on_board[-1], "share", beside))
    for unit, creep, aim in zip(("units of 512", "degrees"), survivals["idle"].creep, (10.0, 3.0), strict=True):
        name = f"creep of an untouched block after {extent.num_steps} steps, 95th percentile"
        rows.append(at_most(new_row(name, float(np.quantile(creep, 0.95)), unit), aim))
    return rows


def truth_rows(found: Mapping[str, Any]) -> list[Row]:
    """Open loop on held-out episodes; beside it the first frame shown for ever."""
    rows = []
    for line in found["open_loop"]:
        name, aim = f"open loop {line['steps']} steps", 28.0 if line["steps"] == 192 else None
        rows.append(new_row(f"{name}, PSNR", line["psnr"], "dB", line["psnr_no_change"], aim))
    for line in (line for line in found["poses"] if line["steps"] == 64 and line["moved"]):
        name = f"open loop 64 steps, median error of {line['episodes']} blocks that moved"
        for field, unit, aim in (("place", "units of 512", FAR), ("degrees", "degrees", TURNED)):
            rows.append(at_most(new_row(name, line[field], unit, line[f"{field}_no_change"]), aim))
    return rows


def fidelity_rows(late: Sequence[Verdicts], early: Sequence[Verdicts], extent: Extent) -> list[Row]:
    """Errors of touched blocks on the board after a trial; beside them those of blocks that nothing moves."""
    groups = [("at real moments early in an episode", list(early))]
    groups += [(f"where the world is at step {one.step}", [one]) for one in late if one.step in extent.fidelity]
    rows = []
    for name, verdicts in groups:
        units, degrees, still = (_of_touched(verdicts, field) for field in ("units", "degrees", "units_if_still"))
        if len(units):
            title = f"physics put {name}, {STEPS} steps on, median error of {len(units)} touched blocks"
            rows += [
                at_most(new_row(title, float(np.median(units)), "units of 512", float(np.median(still))), FAR),
                at_most(new_row(title, float(np.median(degrees)), "degrees"), TURNED),
            ]
    return rows


def _of_touched(verdicts: Sequence[Verdicts], field: str) -> np.ndarray:
    return np.concatenate([getattr(one, field)[one.on_board & one.touched] for one in verdicts])


def trust_rows(trials: Sequence[Verdicts]) -> list[Row]:
    """How well trust tells the trials in which the world left reality from the others, blocks off the board apart."""
    diverged = np.concatenate([one.diverged[one.on_board] for one in trials])
    trust = np.concatenate([one.trust[:, one.on_board] for one in trials], axis=1)
    rows = [new_row(f"share of {len(diverged)} trials of {STEPS} steps that left reality", diverged.mean(), "share")]
    for kind, values in (("mean", trust.mean(0)), ("least", trust.min(0)), ("last", trust[-1])):
        area = auroc(-values, diverged)
        if math.isfinite(area):
            # Trust at a step speaks of the 32 steps up to it, and so do the trials.
            aim = 0.85 if kind == "last" else None
            rows.append(new_row(f"trust tells them from the others, {kind} of a trial", area, "AUROC", 0.5, aim))
    return rows


def action_rows(found: Mapping[str, float], shuffled: float) -> list[Row]:
    """Whether the world does what it is told; beside it reality."""
    read = "actions read from its video by a linear regression on real video, median error"
    return [
        new_row("squared error after 16 steps under another episode's actions, over that under its own", shuffled, ""),
        new_row("frames until a jump of the command shows in the agent", found["lag"], "frames", found["lag_real"]),
        new_row("distance from the real agent in the frames after that jump", found["off"], "units of 512"),
        new_row(read, found["inverse"], "units of 512", found["inverse_real"]),
    ]
