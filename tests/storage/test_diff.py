import json
from dataclasses import replace

import numpy as np
import pytest

from demoloom.storage import Camera, ZarrStore, open_dataset
from demoloom.storage.diff import diff
from demoloom.storage.diff.scores import distribution_distance
from demoloom.storage.drafts import copy_of, write_drafts
from demoloom.storage.video import VideoCodec


@pytest.fixture
def episodes(make_episode):
    return [make_episode(index, length=5) for index in range(3)]


@pytest.fixture
def store(tmp_path, spec):
    """Store episodes in a new dataset of the given name."""

    def store(name, episodes, spec=spec):
        found = ZarrStore.create(tmp_path / name, spec)
        for episode in episodes:
            found.append(episode)
        return found

    return store


def test_a_dataset_is_the_same_as_itself(store, episodes):
    left = store("left", episodes)
    found = diff(left, left)
    assert found.is_same
    assert (found.spec, found.only_left, found.only_right, found.changed) == ([], [], [], {})
    assert (found.outcomes, found.lineage, found.scores) == ({}, {}, [])


def test_a_lossless_copy_in_the_other_format_is_the_same(tmp_path, store, episodes):
    left = store("left", episodes)
    write_drafts(tmp_path / "right", "lerobot", left.spec, [copy_of(left, id) for id in left.ids()])
    found = diff(left, open_dataset(tmp_path / "right"))
    assert (found.is_same, found.spec) == (True, [])


def test_a_lossy_copy_is_different_and_says_by_which_codec(tmp_path, store, episodes):
    left, codec = store("left", episodes), VideoCodec(pix_fmt="yuv420p", crf=18)
    write_drafts(tmp_path / "right", "lerobot", left.spec, [copy_of(left, id) for id in left.ids()], codec=codec)
    found = diff(left, open_dataset(tmp_path / "right"))
    assert not found.is_same
    assert found.spec == ["frames are exact here and lossy (kind video, pix_fmt yuv420p, crf 18) there"]


def test_a_copy_of_decoded_frames_differs_from_the_lossy_original_only_as_recorded(tmp_path, store, episodes):
    left, codec = store("left", episodes), VideoCodec(pix_fmt="yuv420p", crf=18)
    write_drafts(tmp_path / "lossy", "lerobot", left.spec, [copy_of(left, id) for id in left.ids()], codec=codec)
    lossy = open_dataset(tmp_path / "lossy")
    decoded = store("decoded", lossy)
    assert [" ".join(what) for what in diff(lossy, decoded).changed.values()] == [
        "the frames as they were recorded, before a lossy codec; what is read is the same"
    ] * 3


def test_episodes_on_one_side_only_are_listed(store, episodes):
    found = diff(store("left", episodes[:2]), store("right", episodes[1:]))
    assert (found.only_left, found.only_right) == (["run-000000"], ["run-000002"])
    assert (found.num_episodes, found.num_rows, found.is_same) == ((2, 2), (10, 10), False)


def test_a_changed_column_is_named_with_the_first_row_and_the_most_it_differs_by(store, episodes):
    reward = episodes[1].reward.copy()
    reward[[2, 4]] += [0.5, 3]
    found = diff(
        store("left", episodes), store("right", [episodes[0], replace(episodes[1], reward=reward), episodes[2]])
    )
    assert found.changed == {"run-000001": ["next.reward: differs in 2 of 5 rows, first in row 2, by 3 at most"]}


def test_a_changed_frame_is_named_with_its_camera(store, episodes):
    frames = episodes[0].images["top"].copy()
    frames[3, 0, 0, 0] ^= 1
    changed = replace(episodes[0], images={**episodes[0].images, "top": frames})
    found = diff(store("left", episodes), store("right", [changed, *episodes[1:]]))
    assert found.changed == {
        "run-000000": ["observation.images.top: differs in 1 of 5 frames, first in row 3"]
    }  # fmt: skip


def test_a_changed_length_and_outcome_are_named(store, episodes, make_episode):
    other = make_episode(0, length=6, outcome="failure", reason="late")
    found = diff(store("left", episodes), store("right", [other, *episodes[1:]]))
    phrases = found.changed["run-000000"]
    assert "length: 5 -> 6" in phrases
    assert "outcome: 'success' -> 'failure'" in phrases
    assert "action: shape (5, 2) -> (6, 2)" in phrases
    assert found.outcomes == {"success": (3, 2), "failure": (0, 1)}


def test_another_spec_is_said_field_by_field(store, episodes, spec):
    cameras = (Camera("top", 16, 24),)
    other = [replace(one, images={"top": one.images["top"]}) for one in episodes]
    found = diff(store("left", episodes), store("right", other, replace(spec, fps=20, cameras=cameras)))
    assert [sentence.split()[0] for sentence in found.spec] == ["fps", "cameras"]


def test_another_way_of_making_the_same_episodes_is_told_but_does_not_count(store, episodes):
    def made(code, world):
        plan = {"max_steps": 300}
        return [
            replace(one, lineage={"code": code, "world": {"checkpoint": world}, "plan": plan, "seed": one.seed})
            for one in episodes
        ]

    mixed = [*made("0.1", "aa")[:2], *made("0.2", "aa")[2:]]
    found = diff(store("left", made("0.1", "ff")), store("right", mixed))
    assert found.is_same
    assert found.lineage == {"code": ("0.1", "0.1 (2), 0.2 (1)"), "world.checkpoint": ("ff", "aa")}


def test_where_a_world_lay_is_no_difference(store, episodes):
    def made(folder):
        lineage = {"plan": {"world": {"checkpoint": folder}}, "content": {"world": {"checkpoint": "c0ffee"}}}
        return [replace(one, lineage=lineage) for one in episodes]

    assert diff(store("left", made("/here/world")), store("right", made("/there/world"))).lineage == {}


def test_what_was_edited_is_told(store, episodes):
    lineage = {**episodes[0].lineage, "edits": [{"edit": "trim", "rows": {"start": 2}}]}
    edited = [replace(one, lineage=lineage) for one in episodes]
    found = diff(store("left", episodes), store("right", [episodes[0], *edited[1:]]))
    assert found.lineage == {"edits": ("none", "trim (2), none (1)")}


def test_scores_that_moved_are_listed_with_their_medians(store, episodes, make_episode):
    longer = [make_episode(index, length=10) for index in range(3)]
    shifts = {shift.name: shift for shift in diff(store("left", episodes), store("right", longer)).scores}
    assert (shifts["length"].left, shifts["length"].right, shifts["length"].distance) == (5, 10, 1.0)
    assert "idle_share" not in shifts


def test_distributions_that_do_not_overlap_are_at_distance_1_and_equal_ones_at_0():
    low, high = np.array([1.0, 2]), np.array([3.0, 4, 5])
    assert distribution_distance(low, high) == 1.0
    assert distribution_distance(low, np.array([2.0, 1, 1, 2])) == 0.0
    assert distribution_distance(low, np.array([1.0, 3])) == 0.5


def test_a_difference_is_plain_data(store, episodes):
    found = diff(store("left", episodes), store("right", episodes[1:]))
    assert json.loads(json.dumps(found.to_dict()))["same"] is False


def test_an_empty_dataset_can_be_compared(store, episodes):
    found = diff(store("left", episodes), store("right", []))
    assert (found.only_left, found.scores) == (["run-000000", "run-000001", "run-000002"], [])
