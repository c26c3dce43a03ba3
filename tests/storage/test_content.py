import shutil
from dataclasses import replace

import pytest

from demoloom.storage import ZarrStore, open_dataset
from demoloom.storage.content import content_hash, keeps_digests, stamp
from demoloom.storage.drafts import copy_of, write_drafts
from demoloom.storage.video import ImageCodec, VideoCodec


@pytest.fixture
def store(tmp_path, spec, make_episode):
    store = ZarrStore.create(tmp_path / "zarr", spec)
    for index in range(3):
        store.append(make_episode(index, length=5))
    return store


def lerobot_copy(store, path, codec=None):
    write_drafts(path, "lerobot", store.spec, [copy_of(store, id) for id in store.ids()], codec=codec)
    return open_dataset(path)


@pytest.mark.parametrize("codec", [None, ImageCodec()])
def test_the_same_episodes_have_the_same_hash_in_both_formats(tmp_path, store, codec):
    copy = lerobot_copy(store, tmp_path / "lerobot", codec)
    assert keeps_digests(copy)
    assert content_hash(copy) == content_hash(store)


def test_the_order_of_episodes_does_not_count(tmp_path, store, spec, make_episode):
    other = ZarrStore.create(tmp_path / "other", spec)
    for index in (2, 0, 1):
        other.append(make_episode(index, length=5))
    assert content_hash(other) == content_hash(store)


def test_lineage_does_not_count(tmp_path, store, spec, make_episode):
    other = ZarrStore.create(tmp_path / "other", spec)
    for index in range(3):
        other.append(make_episode(index, length=5, lineage={"code": "later"}))
    assert content_hash(other) == content_hash(store)


@pytest.mark.parametrize("change", ["one pixel", "one reward", "one episode fewer", "the robot"])
def test_any_change_of_content_changes_the_hash(tmp_path, store, spec, make_episode, change):
    episodes = [make_episode(index, length=5) for index in range(3)]
    if change == "one pixel":
        episodes[1].images["top"][0, 0, 0, 0] ^= 1
    elif change == "one reward":
        episodes[1].reward[2] += 1
    elif change == "one episode fewer":
        episodes.pop()
    other = ZarrStore.create(tmp_path / "other", replace(spec, robot_type="new") if change == "the robot" else spec)
    for episode in episodes:
        other.append(episode)
    assert content_hash(other) != content_hash(store)


def test_a_lossy_copy_has_a_hash_of_its_own(tmp_path, store):
    lossy, lossier = (
        lerobot_copy(store, tmp_path / f"crf{crf}", VideoCodec(pix_fmt="yuv420p", crf=crf)) for crf in (18, 30)
    )
    assert len({content_hash(store), content_hash(lossy), content_hash(lossier)}) == 3


def test_a_dataset_without_digests_is_decoded_and_hashed(tmp_path, store, spec):
    copy = lerobot_copy(store, tmp_path / "foreign")
    shutil.rmtree(copy.path / "meta" / "demoloom")
    foreign = open_dataset(copy.path)
    assert not keeps_digests(foreign)
    again = ZarrStore.create(tmp_path / "again", foreign.spec)
    for episode in foreign:
        again.append(episode)
    assert content_hash(foreign) == content_hash(again)


def test_the_stamp_of_a_dataset_without_digests_needs_no_frame(tmp_path, store):
    copy = lerobot_copy(store, tmp_path / "foreign")
    shutil.rmtree(copy.path / "meta" / "demoloom")
    before = stamp(open_dataset(copy.path))
    shutil.rmtree(copy.path / "videos")
    assert stamp(open_dataset(copy.path)) == before
    data = next((copy.path / "data").rglob("*.parquet"))
    data.write_bytes(data.read_bytes() + b"\0")
    assert stamp(open_dataset(copy.path)) != before


def test_an_empty_dataset_has_a_hash(tmp_path, spec):
    assert len(content_hash(ZarrStore.create(tmp_path / "none", spec))) == 64
