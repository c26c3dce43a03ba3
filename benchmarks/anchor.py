"""How fast a network of the Interactive World Simulator's released size is on this machine, with random weights.

    .venv/bin/python benchmarks/anchor.py

It is the rival of `benchmarks/world.py`: 128 pixels, one view, a window of 10 latents run anew for each frame, three
calls of the decoder, as released (https://github.com/WangYixuan12/interactive_world_sim, numbers of 32 bits). With 16
bits it is what the release could be on this machine.
"""

from __future__ import annotations

import argparse
import time

import torch
from threads import use_threads
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from demoloom.generators.interactive_world_simulator.config import SimulatorConfig
from demoloom.generators.interactive_world_simulator.simulator import WINDOW, Simulator

RELEASED = SimulatorConfig(cameras=("camera_1",), action_size=4)
_FEWEST_FRAMES = 2


def anchor_speed(seconds: float, num_threads: int, dtype: torch.dtype = torch.float32) -> dict[str, float]:
    """Time single frames for about so many seconds, two frames at least.

    Returns:
        `seconds_per_frame` of the fastest frame, how it divides into `dynamics_seconds` and `decoder_seconds`,
        `flops_per_frame`, `gflops` (10^9 operations a second) and `num_parameters`.
    """
    with use_threads(num_threads), torch.inference_mode():
        torch.manual_seed(0)
        model, inputs = Simulator(RELEASED).eval().to(dtype), _inputs("cpu", dtype)
        began, frames = time.perf_counter(), list[tuple[float, float]]()
        while len(frames) < _FEWEST_FRAMES or time.perf_counter() - began + sum(min(frames)) < seconds:
            frames.append(_frame(model, *inputs))
    dynamics, decoder = min(frames, key=sum)
    flops = flops_per_frame()
    return {
        "seconds_per_frame": dynamics + decoder,
        "dynamics_seconds": dynamics,
        "decoder_seconds": decoder,
        "flops_per_frame": flops,
        "gflops": flops / (dynamics + decoder) / 1e9,
        "num_parameters": sum(parameter.numel() for parameter in model.parameters()),
    }


def flops_per_frame() -> int:
    """Floating-point operations of one frame, a multiplication and an addition counted as two."""
    with torch.device("meta"):
        model = Simulator(RELEASED).eval()
    with FlopCounterMode(display=False) as counter, torch.inference_mode():
        _frame(model, *_inputs("meta", torch.float32))
    return counter.get_total_flops()


def _frame(
    model: Simulator, latents: Tensor, actions: Tensor, noise: Tensor, frame_noise: Tensor
) -> tuple[float, float]:
    """Seconds of predicting one latent, and of drawing it."""
    began = time.perf_counter()
    latent = model.predict(latents, actions, noise)
    predicted = time.perf_counter()
    model.decode(latent, frame_noise)
    return predicted - began, time.perf_counter() - predicted


def _inputs(device: str, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    latent = (RELEASED.latent_channels, RELEASED.latent_side, RELEASED.latent_side)
    frame = (RELEASED.frame_channels, RELEASED.resolution, RELEASED.resolution)
    shapes = (1, WINDOW - 1, *latent), (1, WINDOW, RELEASED.action_size), (1, *latent), (1, *frame)
    latents, actions, noise, frame_noise = (torch.randn(shape, device=device, dtype=dtype) for shape in shapes)
    return latents, actions, noise, frame_noise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0, help="for each of the four measurements")
    seconds = parser.parse_args().seconds
    for dtype in (torch.float32, torch.bfloat16):
        for num_threads in (1, 2):
            found = anchor_speed(seconds, num_threads, dtype)
            print(
                f"{dtype}, {num_threads} threads: " + ", ".join(f"{name} {value:.4g}" for name, value in found.items())
            )


if __name__ == "__main__":
    main()
