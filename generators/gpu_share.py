"""Keeping a process to the GPUs that Ray gave it: to Ray they are numbers, which nothing enforces."""

from __future__ import annotations

import os

from ..storage.errors import ConfigError


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
