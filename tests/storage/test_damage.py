"""Datasets whose metadata is well-formed and wrong, as an edit by hand leaves it."""

import json

import pytest

from demoloom.storage import DemoloomError, StoreError, ZarrStore, open_dataset
from demoloom.storage.audit import audit
from demoloom.storage.damage import damage_named
from demoloom.storage.lerobot_store import LeRobotStore

from .stored import store


def test_what_damage_raises_is_named_and_our_own_errors_stay(tmp_path):
    with pytest.raises(StoreError, match=r"is damaged \(KeyError: 'shape'\); `demoloom val"), damage_named(tmp_path):
        raise KeyError("shape")
    with pytest.raises(StoreError, match=r"^the disk$"), damage_named(tmp_path):
        raise StoreError("the disk")


def edited(file, keys, value):
    """Replace what lies under `keys` in a JSON file."""
    data = json.loads(file.read_text())
    part = data
    for key in keys[:-1]:
        part = part[key]
    part[keys[-1]] = value
    file.write_text(json.dumps(data))


def read_all(path):
    dataset = open_dataset(path)
    for id in dataset.ids():
        dataset.read(id)
        dataset.columns(id)


EDITS = [
    ("lerobot", "meta/info.json", ("features", "action"), None),
    ("lerobot", "meta/info.json", ("data_path",), "{nothing}"),
    ("lerobot", "meta/info.json", ("total_episodes",), "two"),
    ("lerobot", "meta/demoloom/spec.json", ("fps",), 0),
    ("lerobot", "meta/demoloom/spec.json", ("cameras", 0, "height"), "tall"),
    ("lerobot", "meta/demoloom/spec.json", ("action", "low"), [None, None]),
    ("foreign", "meta/info.json", ("features", "action", "shape"), True),
    ("foreign", "meta/info.json", ("features", "observation.images.top", "names"), ["height", None, "channels"]),
    ("foreign", "meta/stats.json", ("action", "min"), None),
    ("zarr", "spec.json", ("state", "names"), 5),
    ("zarr", "episodes/run-000000/zarr.json", ("attributes", "summary"), None),
    ("zarr", "episodes/run-000000/zarr.json", ("attributes", "summary", "index"), "first"),
    ("zarr", "episodes/run-000000/columns/zarr.json", ("codecs", 0, "name"), 0),
    ("zarr", "episodes/run-000000/observation.images.top/zarr.json", ("shape",), []),
]


@pytest.mark.parametrize(("kind", "file", "keys", "value"), EDITS)
def test_metadata_of_another_type_is_an_error_that_names_the_dataset(
    tmp_path, spec, make_episode, kind, file, keys, value
):
    path = tmp_path / "d"
    store(path, "zarr" if kind == "zarr" else "lerobot", spec, [make_episode(0), make_episode(1)])
    if kind == "foreign":
        for entry in (path / "meta/demoloom").iterdir():
            entry.unlink()
    edited(path / file, keys, value)
    with pytest.raises(StoreError, match=str(path)):
        read_all(path)
    assert audit(path).errors


@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
def test_nothing_is_added_to_a_damaged_dataset_without_a_clear_error(tmp_path, spec, make_episode, kind):
    path = tmp_path / "d"
    store(path, kind, spec, [make_episode(0)])
    file = path / ("spec.json" if kind == "zarr" else "data/chunk-000/file-000.parquet")
    file.write_bytes(file.read_bytes()[:-5])
    opened = ZarrStore if kind == "zarr" else LeRobotStore
    with pytest.raises(DemoloomError, match=str(file)):
        opened.open(path).append(make_episode(1, length=30))
