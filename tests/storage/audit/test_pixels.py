import numpy as np
import pytest

from demoloom.storage.audit import audit
from demoloom.storage.create import new_dataset

from .damage import VIDEO, decode, encode, make_foreign, named, the_finding

TOP = "observation.images.top"


@pytest.fixture
def reddish(tmp_path, spec, make_episode):
    """A dataset of someone else whose frames are mostly red."""
    with new_dataset(tmp_path / "d", "lerobot", spec) as store:
        for index in range(2):
            episode = make_episode(index)
            for frames in episode.images.values():
                frames[..., 2] //= 4
            store.append(episode)
    return make_foreign(tmp_path / "d")


def test_red_and_blue_swapped_against_the_recorded_means_are_guessed_to_be_bgr(reddish):
    assert audit(reddish).findings == ()
    encode(reddish / VIDEO, decode(reddish / VIDEO)[..., ::-1])
    report = audit(reddish)
    assert "red and blue look swapped (BGR)" in the_finding(report, TOP, "d-000001").message
    assert named(report) == {("d-000000", TOP), ("d-000001", TOP)}


def test_other_frames_than_those_recorded_are_a_warning_where_the_codec_may_have_changed_them(reddish):
    encode(reddish / VIDEO, np.full_like(decode(reddish / VIDEO), 10))
    report = audit(reddish)
    assert ("d-000001", TOP) in named(report, "warning")
    assert "not those recorded: RGB 10.0 10.0 10.0 on average" in the_finding(report, TOP, "d-000001").message
