import json

import numpy as np

from demoloom.pipeline.cli import main
from demoloom.storage.dataset import open_dataset


def test_a_person_with_a_lerobot_device_records_in_a_world(site, tmp_path):
    settings = {"calibration_dir": str(tmp_path / "arms"), "says": [1.0], "button_after": 5}
    done = main(
        [
            "record",
            "--stream=lerobot:scripted",
            "--settings",
            *(f"{name}={json.dumps(value)}" for name, value in settings.items()),
            "--world=reality:counting_task:COUNTING",
            f"--out={tmp_path / 'counts'}",
            "--num-episodes=1",
        ]
    )
    (episode,) = open_dataset(tmp_path / "counts")
    assert not done
    assert np.diff(episode.state[:, 0]).tolist() == [1.0] * (len(episode.action) - 1)
    assert episode.intervention is not None
    assert episode.intervention.all()
    assert episode.lineage["plan"]["stream"]["name"] == "lerobot:scripted"
