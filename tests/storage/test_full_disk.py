import subprocess
import sys

import pytest

FILL = """
import sys
from demoloom.storage import StoreError, ZarrStore, open_dataset
from demoloom.storage.lerobot_store import LeRobotStore
from demoloom.storage.testing import assert_same, numbered_episode, numbered_spec

spec, length = numbered_spec(), 60
make = {"zarr": ZarrStore, "lerobot": LeRobotStore}[sys.argv[1]].create
store = make("/mnt/s", spec)
room = open("/mnt/room", "wb")
room.write(bytes(300_000))
room.flush()
for index in range(1000):
    try:
        store.append(numbered_episode(spec, index, length))
    except StoreError as error:
        message = str(error)
        break
assert "no space left" in message, message
assert index > 1
for number, episode in enumerate(open_dataset("/mnt/s")):
    assert_same(episode, numbered_episode(spec, number, length))
assert not list(store.path.rglob(".tmp-*"))
assert number == index - 1
room.truncate(0)
assert store.append(numbered_episode(spec, index, length))
resumed = make("/mnt/s", spec, exist_ok=True)
assert resumed.append(numbered_episode(spec, index + 1, 7))
assert [episode.index for episode in open_dataset("/mnt/s")] == list(range(index + 2))
"""


@pytest.mark.parametrize("kind", ["zarr", "lerobot"])
def test_a_full_disk_harms_nothing_and_the_store_goes_on_once_there_is_space(kind):
    mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    if subprocess.run([*mount, "mount -t tmpfs -o size=1m none /mnt"], capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    command = 'mount -t tmpfs -o size=1m none /mnt && exec "$0" -c "$1" "$2"'
    done = subprocess.run([*mount, command, sys.executable, FILL, kind], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
