"""A robot so simple that a policy learns it in seconds: a dot in the plane that walks to the middle."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from demoloom.storage.episode import Episode
from demoloom.storage.spec import Camera, EpisodeSpec, Vector

SIZE = 16
SPEC = EpisodeSpec(
    fps=10,
    cameras=(Camera("top", SIZE, SIZE),),
    state=Vector(("x", "y"), (0.0, 0.0), (16.0, 16.0)),
    action=Vector(("x", "y"), (0.0, 0.0), (16.0, 16.0)),
    labels={},
    robot_type="dot",
)
POSE = Vector(("x", "y", "cos", "sin"), (0.0, 0.0, -1.0, -1.0), (16.0, 16.0, 1.0, 1.0))


def picture(point: np.ndarray) -> np.ndarray:
    """A white frame with a red dot at (x, y)."""
    frame = np.full((SIZE, SIZE, 3), 255, np.uint8)
    x, y = np.clip(point.astype(int), 1, SIZE - 2)
    frame[y - 1 : y + 2, x - 1 : x + 2] = (255, 0, 0)
    return frame


def walk(index: int, length: int = 12, outcome: str = "success") -> Episode:
    """From a random place, a quarter of the rest of the way to (8, 8) with each step."""
    place = np.random.default_rng(index).uniform(2, 14, 2).astype(np.float32)
    images, state, action = [], [], []
    for _ in range(length):
        images.append(picture(place))
        state.append(place)
        place = np.asarray(place + (8 - place) / 4, np.float32)
        action.append(place)
    flat = np.zeros(length, np.float32)
    return Episode(
        id=f"walk-{index:03d}",
        index=index,
        seed=index,
        task="Go to the middle.",
        images={"top": np.stack(images)},
        state=np.array(state, np.float32),
        action=np.array(action, np.float32),
        reward=flat,
        success=np.arange(length) == length - 1,
        score=flat,
        trust=np.ones(length, np.float32),
        outcome=outcome,  # type: ignore[arg-type]
        reason="" if outcome == "success" else "it fell over",
    )


def write_store(path: Path, episodes: list[Episode]) -> Path:
    """The episodes as a Zarr store."""
    from demoloom.storage.zarr_store import ZarrStore

    store = ZarrStore.create(path, SPEC)
    for episode in episodes:
        store.append(episode)
    return path


def write_world(path: Path, spec: EpisodeSpec = SPEC) -> Path:
    """A world checkpoint, untrained, with a probe if there are labels for one."""
    import torch

    from demoloom.generators.learned.checkpoint import save_pretrained
    from demoloom.generators.learned.config import WorldConfig
    from demoloom.generators.learned.model import WorldModel
    from demoloom.generators.probe import Probe, ProbeNet

    torch.manual_seed(0)
    config = WorldConfig(
        latent_channels=4, autoencoder_width=16, dynamics_width=8, num_dynamics_blocks=1, reader_width=8
    )
    num_labels = sum(label.size for label in spec.labels.values())
    names = {name: label.names for name, label in spec.labels.items()}
    probe = Probe(ProbeNet(1, SIZE, SIZE, num_labels, 8, 1), names, (SIZE, SIZE, 1)) if names else None
    start = np.full((1, SIZE, SIZE, 3), 255, np.uint8)
    state = np.zeros((1, 2), np.float32)
    save_pretrained(path, WorldModel(config, spec, ["Go to the middle."]), probe, start, state)
    return path


#: Each kind of policy as small as it gets.
SETTINGS: dict[str, tuple[str, ...]] = {
    "latent": ("width=16", "embedding=32", "num_blocks=1", "optimizer_lr=0.005"),
    "latent-by-probe": ("embedding=32", "num_blocks=1", "optimizer_lr=0.005"),
    "act": ("dim_model=16", "dim_feedforward=16", "n_encoder_layers=1", "n_vae_encoder_layers=1", "latent_dim=4"),
    "diffusion": ("down_dims=[16,32]", "n_groups=4", "diffusion_step_embed_dim=8", "num_inference_steps=2"),
}


def observe(places: np.ndarray) -> dict[str, np.ndarray]:
    """What a world would show of robots at `places` (N, 2)."""
    return {
        "observation.images.top": np.stack([picture(place) for place in places]),
        "observation.state": places.astype(np.float32),
    }
