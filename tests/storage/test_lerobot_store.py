import pytest

from demoloom.storage import SpecMismatch, StoreError
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import StoreContract
from demoloom.storage.video import ImageCodec, VideoWriter


class TestLeRobotStore(StoreContract):
    def create(self, path, spec, exist_ok=False):
        return LeRobotStore.create(path, spec, exist_ok=exist_ok)


class TestLeRobotStoreOfImages(StoreContract):
    def create(self, path, spec, exist_ok=False):
        return LeRobotStore.create(path, spec, codec=ImageCodec(), exist_ok=exist_ok)


def test_resuming_with_another_codec_is_refused(tmp_path, spec):
    LeRobotStore.create(tmp_path / "d", spec)
    with pytest.raises(SpecMismatch, match=r"codec is VideoCodec\(.*\) here and ImageCodec\(.*\) there"):
        LeRobotStore.create(tmp_path / "d", spec, codec=ImageCodec(), exist_ok=True)


class ForgetfulWriter(VideoWriter):
    """Loses the last frame of whatever it is handed."""

    def write(self, frames):
        super().write(frames[:-1])


def test_an_episode_of_which_an_encoder_lost_a_frame_is_refused(tmp_path, spec, make_episode, monkeypatch):
    store = LeRobotStore.create(tmp_path / "d", spec)
    monkeypatch.setattr("demoloom.storage.encoding.VideoWriter", ForgetfulWriter)
    with pytest.raises(StoreError, match="'run-000000' has 7 rows, the encoder of camera 'top' kept 6 frames"):
        store.append(make_episode())
    assert store.ids() == []
