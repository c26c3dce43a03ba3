"""A policy as files for a robot: LeRobot's folder, an ONNX program and the contract between the two sides."""

from __future__ import annotations

import hashlib
import shutil
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..storage.atomic import publish_folder, write_json
from ..storage.errors import CheckpointError
from ..teleop.policy_checkpoint import PolicyCheckpoint, load_policy

if TYPE_CHECKING:
    from ..storage.spec import EpisodeSpec, Vector

TOLERANCE = 1e-4  # of the action's range
NUM_CHECKS = 4


def export_policy(policy: Path, out: Path) -> dict[str, Any]:
    """Write `out/pretrained_model/` (LeRobot), `out/policy.onnx` and `out/contract.json` in one piece.

    The program takes raw observations (uint8 frames, states in the robot's units) and the noise a plan starts from,
    and returns actions in the robot's units: normalisation is part of it. It is run by ONNX Runtime on random
    observations and compared with LeRobot's policy and processors.

    Returns:
        The contract: inputs and outputs (names, shapes, dtypes, units), fps, executed actions, SHA-256, difference.

    Raises:
        CheckpointError: the policy folder is incomplete, or the program's actions differ from LeRobot's by more than
            1e-4 of the action's range.
        StoreError: `out` exists.
    """
    checkpoint = load_policy(policy)
    if checkpoint.spec is None:
        raise CheckpointError(f"{policy} has no spec.json that names the robot's cameras and joints; train it again")
    with publish_folder(out) as folder:
        shutil.copytree(policy, folder / "pretrained_model")
        difference = write_program(checkpoint, folder / "policy.onnx")
        span = np.ptp([checkpoint.spec.action.low, checkpoint.spec.action.high], axis=0).max()
        if difference > TOLERANCE * span:
            raise CheckpointError(
                f"the ONNX program of {policy} differs from the policy by {difference:.2g} in its actions, more than "
                f"{TOLERANCE * span:.2g}; export from a fresh copy, and report this if it stays"
            )
        contract = describe(checkpoint, checkpoint.spec, difference)
        contract["sha256"] = hashlib.sha256((folder / "policy.onnx").read_bytes()).hexdigest()
        write_json(folder / "contract.json", contract)
    return contract


def write_program(checkpoint: PolicyCheckpoint, path: Path) -> float:
    """Export to ONNX, and return the largest difference from the policy's own actions, in the robot's units."""
    import onnxruntime
    import torch

    from .program import PolicyProgram

    inputs = random_inputs(checkpoint, 0)
    with warnings.catch_warnings():
        # torch's exporter calls parts of torch that announce their own end; nothing is lost.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            PolicyProgram(checkpoint).eval(),
            tuple(torch.as_tensor(value) for value in inputs.values()),
            path,
            input_names=list(inputs),
            output_names=["action"],
            dynamo=True,
            external_data=False,
            verbose=False,
        )
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    differences = [_difference(checkpoint, session, random_inputs(checkpoint, seed)) for seed in range(NUM_CHECKS)]
    return max(differences)


def random_inputs(checkpoint: PolicyCheckpoint, seed: int) -> dict[str, np.ndarray]:
    """Observations (and noise, where the policy starts from one) of one episode, by the names of the contract."""
    random, spec, steps = np.random.default_rng(seed), checkpoint.spec, checkpoint.num_observations
    assert spec is not None
    inputs: dict[str, np.ndarray] = {
        f"observation.images.{camera.name}": random.integers(
            0, 256, (1, steps, camera.height, camera.width, 3), np.uint8
        )
        for camera in spec.cameras
    }
    state = random.uniform(spec.state.low, spec.state.high, (1, steps, spec.state.size))
    inputs["observation.state"] = state.astype(np.float32)
    if checkpoint.noise_shape is not None:
        inputs["noise"] = random.standard_normal((1, *checkpoint.noise_shape), np.float32)
    return inputs


def describe(checkpoint: PolicyCheckpoint, spec: EpisodeSpec, difference: float) -> dict[str, Any]:
    """The contract as plain data."""
    inputs = random_inputs(checkpoint, 0)
    chunk = _plan(checkpoint, inputs)
    return {
        "policy_type": checkpoint.policy.config.type,
        "fps": spec.fps,
        "inputs": {name: {**_layout(value), **_meaning(name, spec)} for name, value in inputs.items()},
        "outputs": {"action": {**_layout(chunk), **_vector(spec.action)}},
        "num_observations": checkpoint.num_observations,
        "num_action_steps": checkpoint.policy.config.n_action_steps,
        "max_difference_to_lerobot": difference,
    }


def _layout(value: np.ndarray) -> dict[str, Any]:
    return {"shape": list(value.shape), "dtype": str(value.dtype)}


def _meaning(name: str, spec: EpisodeSpec) -> dict[str, Any]:
    """What stands in an input besides its shape; axis 1 runs over observations, the present one last."""
    if name.startswith("observation.images."):
        return {"layout": "BOHWC", "colour": "RGB", "range": [0, 255]}
    if name == "observation.state":
        return {"layout": "BOS", **_vector(spec.state)}
    return {"layout": "BTA", "distribution": "standard normal"}


def _vector(vector: Vector) -> dict[str, Any]:
    return {"names": list(vector.names), "low": list(vector.low), "high": list(vector.high)}


def _plan(checkpoint: PolicyCheckpoint, inputs: Mapping[str, np.ndarray]) -> np.ndarray:
    observations = {name: value for name, value in inputs.items() if name != "noise"}
    return checkpoint.plan(observations, inputs.get("noise"))


def _difference(checkpoint: PolicyCheckpoint, session: Any, inputs: Mapping[str, np.ndarray]) -> float:
    (action,) = session.run(["action"], dict(inputs))
    return float(np.abs(action - _plan(checkpoint, inputs)).max())
