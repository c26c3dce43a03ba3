import pytest

from demoloom.storage import ConfigError, StoreError
from demoloom.storage.editing.select import Selection, index_range, select, thin


@pytest.fixture
def source(make_dataset, make_episode, tmp_path, spec):
    from demoloom.storage import ZarrStore

    store = ZarrStore.create(tmp_path / "zarr", spec)
    for index in range(6):
        failed = {"outcome": "failure", "reason": "timeout"} if index % 3 == 0 else {}
        store.append(make_episode(index, task="push" if index < 4 else "pull it", **failed))
    return store


def numbers(ids):
    return [int(id[-1]) for id in ids]


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        (Selection(), [0, 1, 2, 3, 4, 5]),
        (Selection(ids=["run-000004", "run-000001"]), [1, 4]),
        (Selection(indices=[range(0, 2), range(5, 9)]), [0, 1, 5]),
        (Selection(outcomes=["failure"]), [0, 3]),
        (Selection(task="pu*t"), [4, 5]),
        (Selection(outcomes=["success"], task="push"), [1, 2]),
        (Selection(min_trust=0.95, ids=None), []),
    ],
)
def test_dropping_is_the_other_sign_of_keeping(source, selection, kept):
    others = [number for number in range(6) if number not in kept]
    for drop, expected in ((False, kept), (True, others)):
        if expected:
            assert numbers(select(source, selection, drop=drop)) == expected
        else:
            with pytest.raises(StoreError, match=r"of the 6 episodes .* none is left"):
                select(source, selection, drop=drop)


def test_an_id_that_is_not_there_is_named(source):
    with pytest.raises(StoreError, match="no episode 'nobody'"):
        select(source, Selection(ids=["nobody"]))


def test_a_condition_that_cannot_hold_is_named():
    with pytest.raises(ConfigError, match=r"outcome must be one of .*, got 'won'"):
        Selection(outcomes=["won"])  # type: ignore[list-item]
    with pytest.raises(ConfigError, match=r"min_score must lie in \[0, 1\], got 7"):
        Selection(min_score=7)


def test_thinning_evenly_takes_the_middle_of_equal_parts():
    assert thin("abcdefghij", 2) == ["c", "h"]
    assert thin("abc", 3) == ["a", "b", "c"]


def test_thinning_at_random_keeps_the_order_and_depends_on_the_seed_alone():
    chosen = thin("abcdefghij", 4, seed=1)
    assert chosen == sorted(chosen)
    assert len(set(chosen)) == 4
    assert chosen == thin("abcdefghij", 4, seed=1)
    assert chosen != thin("abcdefghij", 4, seed=2)


@pytest.mark.parametrize("count", [0, 4])
def test_more_than_there_are_cannot_be_had(count):
    with pytest.raises(ConfigError, match=rf"count must be 1 .. 3 .*, got {count}"):
        thin("abc", count)


def test_an_index_range_leaves_out_its_end():
    assert list(index_range("7")) == [7]
    assert list(index_range("2:5")) == [2, 3, 4]


@pytest.mark.parametrize("text", ["", "a", "1:", ":3", "-1", "1:2:3"])
def test_what_is_no_index_range_is_named(text):
    with pytest.raises(ConfigError, match="such as 10:20"):
        index_range(text)
