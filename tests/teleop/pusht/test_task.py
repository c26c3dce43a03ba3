import json
from dataclasses import asdict

import numpy as np

from demoloom.storage.plugins import load_plugin
from demoloom.teleop import Mix
from demoloom.teleop.pusht import PUSHT


def test_the_task_is_found_by_name():
    assert load_plugin("tasks", "pusht") is PUSHT


def test_the_task_says_what_its_reality_says():
    assert PUSHT.reality.build(num_envs=1).task == PUSHT.text


def test_play_is_plain_data_whether_there_is_a_probe_or_not():
    for probe in (None, "runs/1/world/probe"):
        assert json.loads(json.dumps(asdict(PUSHT.play(probe)))) == asdict(PUSHT.play(probe))
    assert PUSHT.expert("runs/1/world/probe").kwargs == {"probe": "runs/1/world/probe"}


def test_play_moves_the_tee_in_most_episodes():
    world = PUSHT.reality.build(num_envs=8)
    stream = PUSHT.play(None).build(spec=world.episode_spec)
    assert isinstance(stream, Mix)
    observation, info = world.reset(seed=0)
    stream.reset(list(range(8)), np.ones(8, bool))
    first = info["labels"]["block_pose"]
    for _ in range(60):
        observation, *_, info = world.step(stream.act(observation))
    moved = np.linalg.norm(info["labels"]["block_pose"][:, :2] - first[:, :2], axis=1)
    assert (moved > 5).sum() >= 6
