import hashlib
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from demoloom.policies import export_policy
from demoloom.policies.export import random_inputs
from demoloom.storage.errors import CheckpointError, StoreError
from demoloom.teleop.policy_checkpoint import load_policy

from .toy import SETTINGS

PLAIN_LEROBOT = """
import json, sys, numpy as np, torch
import demoloom.policies.latent  # what `--policy.discover_packages_path` does
from lerobot.configs import PreTrainedConfig
from lerobot.policies import get_policy_class, make_pre_post_processors
folder, inputs = sys.argv[1], np.load(sys.argv[2])
config = PreTrainedConfig.from_pretrained(folder)
policy = get_policy_class(config.type).from_pretrained(folder)
pre, post = make_pre_post_processors(config, pretrained_path=folder)
actions = []
for step in range(2):
    frame = torch.as_tensor(inputs["observation.images.top"][0, step]).permute(2, 0, 1).float() / 255
    state = torch.as_tensor(inputs["observation.state"][0, step])
    observation = {"observation.images.top": frame, "observation.state": state}
    actions.append(post(policy.select_action(pre(observation), noise=torch.as_tensor(inputs["noise"])))[0].tolist())
print(json.dumps(actions))
"""


@pytest.mark.parametrize("kind", SETTINGS)
def test_the_program_acts_as_the_policy_does(tmp_path: Path, policies: dict[str, Path], kind: str) -> None:
    contract = export_policy(policies[kind], tmp_path / "export")
    program = tmp_path / "export" / "policy.onnx"
    assert contract == json.loads((tmp_path / "export" / "contract.json").read_text())
    assert contract["sha256"] == hashlib.sha256(program.read_bytes()).hexdigest()
    assert contract["max_difference_to_lerobot"] < 1e-3  # of 16
    checkpoint = load_policy(tmp_path / "export" / "pretrained_model")
    inputs = random_inputs(checkpoint, seed=99)
    (action,) = onnxruntime.InferenceSession(program).run(["action"], inputs)
    plan = checkpoint.plan({k: v for k, v in inputs.items() if k != "noise"}, inputs.get("noise"))
    assert list(action.shape) == contract["outputs"]["action"]["shape"]
    assert np.abs(action - plan).max() < 1e-3
    assert {name: list(value.shape) for name, value in inputs.items()} == {
        name: entry["shape"] for name, entry in contract["inputs"].items()
    }


def test_the_contract_names_the_joints_in_order(tmp_path: Path, policies: dict[str, Path]) -> None:
    contract = export_policy(policies["latent"], tmp_path / "export")
    assert contract["outputs"]["action"]["names"] == ["x", "y"]
    assert contract["outputs"]["action"]["high"] == [16.0, 16.0]
    assert (contract["fps"], contract["num_observations"], contract["num_action_steps"]) == (10, 2, 4)


def test_plain_lerobot_loads_the_folder_and_acts_alike(tmp_path: Path, policies: dict[str, Path]) -> None:
    checkpoint = load_policy(policies["latent"])
    inputs = random_inputs(checkpoint, seed=5)
    np.savez(tmp_path / "inputs.npz", **dict(inputs))  # type: ignore[arg-type]
    command = [sys.executable, "-c", PLAIN_LEROBOT, str(policies["latent"]), str(tmp_path / "inputs.npz")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    first = {k: v[:, [0, 0]] for k, v in inputs.items() if k != "noise"}
    expected = checkpoint.plan(first, inputs["noise"])[0, :2]
    assert np.allclose(json.loads(result.stdout.splitlines()[-1]), expected, atol=1e-3)


def test_an_export_over_an_existing_one_is_refused(tmp_path: Path, policies: dict[str, Path]) -> None:
    (tmp_path / "export").mkdir()
    (tmp_path / "export" / "old").touch()
    with pytest.raises(StoreError, match="exists already"):
        export_policy(policies["act"], tmp_path / "export")


def test_a_policy_of_an_unknown_robot_is_refused(tmp_path: Path, policies: dict[str, Path]) -> None:
    folder = tmp_path / "policy"
    folder.mkdir()
    for file in policies["act"].iterdir():
        if file.name != "spec.json":
            (folder / file.name).write_bytes(file.read_bytes())
    with pytest.raises(CheckpointError, match=r"no spec\.json"):
        export_policy(folder, tmp_path / "export")
