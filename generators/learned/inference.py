"""A trained world model made light, to be driven and not to be trained any more."""

from __future__ import annotations

import torch
from torch import nn

from .layers import PerCell
from .model import WorldModel
from .optimisation import bfloat16_pays


@torch.no_grad()
def for_inference(model: WorldModel) -> WorldModel:
    """`model`, changed in place: what would be made of its weights at each step is made once.

    Where bfloat16 pays, the weights of what works in it are kept so, which autocast would convert each time. The same
    numbers result, but that the U-Net adds up its residuals in bfloat16 as well.
    """
    model.dynamics.settle()
    if not bfloat16_pays():
        return model
    for part in (model.autoencoder, model.dynamics):
        for module in part.modules():
            if isinstance(module, nn.Conv2d) and not isinstance(module, PerCell):
                module.to(torch.bfloat16)
    # Channels last, as what it is added to.
    place = model.dynamics.place
    place.data = place.to(torch.bfloat16).permute(1, 2, 0).contiguous().permute(2, 0, 1)
    return model
