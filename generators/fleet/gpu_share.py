"""Who works on which GPU: to Ray GPUs are numbers, which nothing enforces."""

from __future__ import annotations

import inspect
import os
from dataclasses import replace

from ...storage.errors import ConfigError
from ...storage.plugins import PluginRef, load_plugin
from ..plan import RolloutPlan


def on_given_gpus(plan: RolloutPlan, num_gpus: float) -> RolloutPlan:
    """The plan with its worlds and its stream on the GPU, where workers have one and these can be told.

    It is another plan, whose episodes have other ids: a GPU gives other bytes than a CPU does.
    """
    if num_gpus == 0:
        return plan
    start_world = plan.start_world and _on_gpu(plan.start_world)
    return replace(plan, world=_on_gpu(plan.world), stream=_on_gpu(plan.stream), start_world=start_world)


def _on_gpu(ref: PluginRef) -> PluginRef:
    """A plug-in that takes a `device` and was told none gets `cuda`."""
    takes = inspect.signature(load_plugin(ref.kind, ref.name)).parameters
    return replace(ref, kwargs={"device": "cuda", **ref.kwargs}) if "device" in takes else ref


def keep_to_share(num_gpus: float) -> None:
    """Let this process see no GPU where it was given none, and take no more of one's memory than its share.

    Must come before torch first looks for GPUs, which it then remembers.

    Raises:
        ConfigError: torch finds no GPU where Ray gave one.
    """
    if num_gpus == 0:
        # Ray leaves all of them visible, and a world whose device is `auto` would take one.
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        return
    import torch

    if not torch.cuda.is_available():
        raise ConfigError(
            f"a worker was given {num_gpus:g} GPUs by Ray, and torch finds none (CUDA_VISIBLE_DEVICES is "
            f"{os.environ.get('CUDA_VISIBLE_DEVICES')!r}); install a torch built for CUDA there, or set num_gpus to 0"
        )
    if num_gpus < 1:
        torch.cuda.set_per_process_memory_fraction(num_gpus)
