"""Interaction data wherever its frames lie."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from demoloom.generators.learned.autoencoder_training import encode_all, set_background, train_autoencoder
from demoloom.generators.learned.crops import Crops
from demoloom.generators.learned.interaction import Interaction, collect_rows, read_interaction
from demoloom.generators.learned.model import WorldModel
from demoloom.generators.learned.training_log import TrainingLog
from demoloom.generators.learned.training_stage import Training
from demoloom.storage import ZarrStore
from demoloom.storage.errors import ConfigError
from demoloom.storage.row_table import StoredFrames
from demoloom.storage.spec import Camera

from .moving_square import CONFIG, SIZE, SPEC, square_episodes


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    store = ZarrStore.create(tmp_path_factory.mktemp("data") / "squares", SPEC)
    for episode in square_episodes(3):
        store.append(episode)
    return store.path


@pytest.fixture(scope="module")
def on_disk(dataset: Path) -> Interaction:
    return read_interaction(dataset, memory_bytes=0)


def test_frames_that_do_not_fit_into_memory_stay_on_disk_and_are_the_same(dataset, on_disk) -> None:
    in_memory = read_interaction(dataset)
    assert isinstance(in_memory.frames, np.ndarray)
    assert isinstance(on_disk.frames, StoredFrames)
    assert np.array_equal(on_disk.frames[:], in_memory.frames)
    for name in ("state", "action", "score", "success", "scored", "final_score", "final_success", "starts"):
        assert np.array_equal(getattr(on_disk, name), getattr(in_memory, name)), name


def test_crops_of_frames_on_disk_are_those_of_frames_in_memory(dataset, on_disk) -> None:
    cells = torch.tensor([[2, 3, 4], [8, 9, 10]])
    rows = np.array([41, 7])
    left, right = (
        Crops(cells, cells + 1).of_frames(data.frames, rows) for data in (on_disk, read_interaction(dataset))
    )
    assert left.shape == (2, 3, 3, 3)
    assert np.array_equal(left, right)


def test_cameras_stand_side_by_side_in_the_channels() -> None:
    spec = replace(SPEC, cameras=(Camera("top", SIZE, SIZE), Camera("wrist", SIZE, SIZE)))
    episodes = [replace(e, images={**e.images, "wrist": 255 - e.images["top"]}) for e in square_episodes(2)]
    frames = collect_rows(spec, episodes).frames
    assert frames.shape == (40, SIZE, SIZE, 6)
    assert np.array_equal(frames[25][..., :3], episodes[1].images["top"][5])
    assert np.array_equal(frames[25][..., 3:], episodes[1].images["wrist"][5])


def test_cameras_of_any_sizes_share_a_canvas_whose_edges_are_repeated() -> None:
    spec = replace(SPEC, cameras=(Camera("top", SIZE, SIZE), Camera("wrist", 13, 40)))
    wrist = np.random.default_rng(0).integers(0, 256, (20, 13, 40, 3), np.uint8)
    episodes = [replace(episode, images={**episode.images, "wrist": wrist}) for episode in square_episodes(2)]
    frames = collect_rows(spec, episodes).frames
    assert frames.shape == (40, SIZE, 40, 6)
    whole = frames[np.array([25])]
    assert np.array_equal(whole[0, :13, :, 3:], wrist[5])
    assert (whole[0, 13:, :, 3:] == whole[0, 12, :, 3:]).all()
    everywhere = np.arange(SIZE)[None, :, None], np.arange(40)[None, None]
    assert np.array_equal(frames[np.array([25])[:, None, None], *everywhere], whole)


def test_every_row_knows_its_task() -> None:
    first, second, third = square_episodes(3)
    data = collect_rows(SPEC, [first, replace(second, task="Rest."), third])
    assert data.tasks == ("Move the square.", "Rest.")
    assert data.task[[0, 20, 40]].tolist() == [0, 1, 0]


def test_data_without_a_camera_is_refused() -> None:
    with pytest.raises(ConfigError, match="needs at least one camera"):
        collect_rows(replace(SPEC, cameras=()), [])


def test_an_autoencoder_learns_the_same_from_frames_on_disk(tmp_path, dataset, on_disk) -> None:
    def weights(data: Interaction) -> list[torch.Tensor]:
        torch.manual_seed(0)
        model = WorldModel(CONFIG.model, data.spec)
        rows = data.rows(np.array([0, 1]))
        set_background(model, data.frames, rows)
        stage = Training(0, TrainingLog(tmp_path / "log.jsonl", 5)).stage("autoencoder")
        train_autoencoder(model, data, rows, 5, 8, CONFIG.crop, CONFIG.lr, stage)
        return [*model.autoencoder.state_dict().values(), encode_all(model, data.frames)]

    for left, right in zip(weights(on_disk), weights(read_interaction(dataset)), strict=True):
        assert torch.equal(left, right)


def test_actions_that_did_not_lead_to_the_frames_are_refused(tmp_path):
    store = ZarrStore.create(tmp_path / "corrected", SPEC)
    for episode in square_episodes(2):
        store.append(replace(episode, lineage={"actions": "corrective"}))
    with pytest.raises(ConfigError, match="are corrections and not what led to its frames"):
        read_interaction(store.path)
