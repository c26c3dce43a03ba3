from dataclasses import replace

import pytest

from demoloom.storage.audit import audit
from demoloom.storage.create import new_dataset

from .conftest import KINDS, new_of_kind
from .damage import make_foreign, named


@pytest.mark.parametrize("kind", KINDS)
def test_an_episode_that_is_there_twice_under_two_ids_is_a_warning(tmp_path, make_episode, kind):
    with new_of_kind(tmp_path / "d", kind) as store:
        store.append(make_episode(0))
        store.append(make_episode(1))
        store.append(replace(make_episode(0), id="run-again"))
    id = "run-again"
    if kind == "foreign":
        make_foreign(tmp_path / "d")
        id = "d-000002"
    report = audit(tmp_path / "d")
    assert named(report, "warning") == {(id, "episode")}
    assert named(report) == set()


def test_episodes_that_differ_in_one_pixel_are_not_the_same(tmp_path, spec, make_episode):
    other = make_episode(0, id="other")
    other.images["top"][3, 0, 0, 0] ^= 1
    with new_dataset(tmp_path / "d", "lerobot", spec) as store:
        store.append(make_episode(0))
        store.append(other)
    assert audit(tmp_path / "d").findings == ()
