import numpy as np
import pyarrow.parquet as pq
import pytest

from demoloom.storage.audit import audit, repair
from demoloom.storage.create import new_dataset

from .damage import RECORDS, VIDEO, decode, encode, make_foreign, named, the_finding

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


def test_frames_that_look_like_bgr_never_become_the_statistics(reddish):
    before = (reddish / "meta/stats.json").read_bytes()
    encode(reddish / VIDEO, decode(reddish / VIDEO)[..., ::-1])
    assert repair(reddish).done == ()
    assert (reddish / "meta/stats.json").read_bytes() == before


def test_without_means_of_episodes_those_of_the_dataset_tell(reddish):
    table = pq.ParquetFile(reddish / RECORDS).read()
    means = [name for name in table.column_names if name.startswith("stats/")]
    pq.write_table(table.drop_columns(means), reddish / RECORDS)
    assert audit(reddish).findings == ()
    encode(reddish / VIDEO, decode(reddish / VIDEO)[..., ::-1])
    assert "red and blue look swapped (BGR)" in the_finding(audit(reddish), TOP).message


def test_other_frames_than_those_recorded_are_a_warning_where_the_codec_may_have_changed_them(reddish):
    encode(reddish / VIDEO, np.full_like(decode(reddish / VIDEO), 10))
    report = audit(reddish)
    assert ("d-000001", TOP) in named(report, "warning")
    assert "not those recorded: RGB 10.0 10.0 10.0 on average" in the_finding(report, TOP, "d-000001").message
