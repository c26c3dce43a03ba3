"""What the model of throughput predicts for GPUs that are not here, and the rows of what it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from fleet_costs import Stored
from fleet_model import Costs, Limits, frames_per_s
from rows import Row, new_row

#: Assumed, not measured: there was no GPU. What a GPU takes for a step of 64 slots, and what a shared disk takes in.
GPU_STEP_S = 0.02
DISK_BYTES_PER_S = 1e9
NUM_GPUS = (8, 64)


def cost_rows(costs: Mapping[int, Costs], stored: Stored) -> list[Row]:
    """Milliseconds of a core for each frame, by the size of the batch."""
    rows = []
    for slots, cost in costs.items():
        rows += [
            new_row(f"world step at batch {slots}, of one frame", 1000 * cost.step_s / slots, "ms"),
            new_row(f"expert and rollout loop at batch {slots}, of one frame", 1000 * cost.core_s / slots, "ms"),
        ]
    return [
        *rows,
        new_row("encoding and writing a frame", 1000 * stored.seconds, "ms"),
        new_row("a frame in the store", stored.num_bytes, "bytes"),
    ]


def prediction_rows(costs: Costs, stored: Stored, driver_s: float, frames_per_episode: float) -> list[Row]:
    """Frames per second on so many GPUs with one worker each, whose costs on a core are as measured here."""
    on_gpu = replace(costs, step_s=GPU_STEP_S, has_device=True)
    limits = Limits(episodes_per_s=1 / driver_s, bytes_per_s=DISK_BYTES_PER_S)
    name = f"PREDICTED, assuming {1000 * GPU_STEP_S:.0f} ms a step of {costs.num_slots} slots"
    paces = {number: frames_per_s(on_gpu, number, limits, frames_per_episode, stored.num_bytes) for number in NUM_GPUS}
    return [new_row(f"{name}: {number} GPUs", pace, "frames/s") for number, pace in paces.items()]
