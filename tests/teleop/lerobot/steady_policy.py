"""A LeRobot policy that has learnt nothing and always commands the same, whatever it sees."""

from __future__ import annotations

from pathlib import Path

from demoloom.storage.spec import EpisodeSpec


def write_steady_policy(folder: Path, spec: EpisodeSpec, action: list[float]) -> Path:
    """An ACT policy as small as it gets, random weights and all; statistics of no spread turn its outputs into one."""
    import torch
    from lerobot.configs import FeatureType, PolicyFeature
    from lerobot.policies import make_pre_post_processors
    from lerobot.policies.act.configuration_act import ACTConfig
    from lerobot.policies.act.modeling_act import ACTPolicy

    camera = spec.cameras[0]
    image = f"observation.images.{camera.name}"
    config = ACTConfig(
        input_features={
            image: PolicyFeature(FeatureType.VISUAL, (3, camera.height, camera.width)),
            "observation.state": PolicyFeature(FeatureType.STATE, (spec.state.size,)),
        },
        output_features={"action": PolicyFeature(FeatureType.ACTION, (spec.action.size,))},
        device="cpu",
        push_to_hub=False,
        pretrained_backbone_weights=None,
        chunk_size=4,
        n_action_steps=4,
        dim_model=16,
        n_heads=2,
        dim_feedforward=16,
        n_encoder_layers=1,
        n_vae_encoder_layers=1,
        latent_dim=4,
    )
    plain = {"mean": torch.zeros(3, 1, 1), "std": torch.ones(3, 1, 1)}
    state = {"mean": torch.zeros(spec.state.size), "std": torch.ones(spec.state.size)}
    steady = {"mean": torch.tensor(action), "std": torch.zeros(spec.action.size)}
    stats = {image: plain, "observation.state": state, "action": steady}
    pre, post = make_pre_post_processors(config, dataset_stats=stats)
    for part in (ACTPolicy(config), pre, post):
        part.save_pretrained(folder)
    return folder
