import pytest

from demoloom.storage import ZarrStore, open_dataset
from demoloom.storage.drafts import copy_of, write_drafts


@pytest.fixture
def make_dataset(tmp_path, spec, make_episode):
    """Make a dataset of the episodes with these indices; `changes` go into each."""

    def make(name, indices, form="zarr", spec=spec, codec=None, length=7, **changes):
        staging = ZarrStore.create(tmp_path / "staging" / name, spec)
        for index in indices:
            staging.append(make_episode(index, length, **changes))
        write_drafts(tmp_path / name, form, spec, [copy_of(staging, id) for id in staging.ids()], codec=codec)
        return open_dataset(tmp_path / name)

    return make
