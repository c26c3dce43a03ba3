"""Normalisation around the latent policy: LeRobot's default pipelines."""

from __future__ import annotations

from typing import Any

import torch
from lerobot.processor import PolicyAction, PolicyProcessorPipeline, make_default_pre_post_processors

from .configuration_latent import LatentConfig


def make_latent_pre_post_processors(
    config: LatentConfig, dataset_stats: dict[str, dict[str, torch.Tensor]] | None = None
) -> tuple[
    PolicyProcessorPipeline[dict[str, Any], dict[str, Any]], PolicyProcessorPipeline[PolicyAction, PolicyAction]
]:
    """LeRobot finds this function by its name, see `lerobot.policies.make_pre_post_processors`."""
    return make_default_pre_post_processors(config, dataset_stats, normalizer_device=config.device)
