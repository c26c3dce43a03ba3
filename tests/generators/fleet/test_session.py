import os
import subprocess
import sys
import tempfile

import pytest

from demoloom.generators.fleet import FleetConfig, ray_session
from demoloom.generators.fleet.session import _check_reachable, _check_room, _session_folder
from demoloom.storage.errors import ConfigError, FleetError


@pytest.mark.parametrize("address", ["127.0.0.1:1", "no-port"])
def test_an_address_where_nothing_answers_is_refused_at_once(address):
    with pytest.raises(ConfigError, match=f"no Ray cluster answers at '{address}'"):
        _check_reachable(address)


def test_a_cluster_too_small_for_all_workers_is_refused_with_what_is_missing():
    config = FleetConfig(num_workers=3, num_gpus=0.5, resources={"robot": 1})
    with pytest.raises(FleetError, match=r"has 1 GPU and 3 workers need 1\.5; lower num_workers or what each"):
        _check_room({"CPU": 8.0, "GPU": 1.0, "robot": 3.0}, config)
    with pytest.raises(FleetError, match="has 0 robot and 3 workers need 3"):
        _check_room({"CPU": 8.0, "GPU": 2.0}, config)
    _check_room({"CPU": 3.0, "GPU": 1.5, "robot": 3.0}, config)


@pytest.mark.usefixtures("ray_open")
def test_a_session_within_a_session_leaves_the_outer_one_open():
    import ray

    with ray_session(FleetConfig()):
        assert ray.is_initialized()
    assert ray.is_initialized()


def test_a_session_deletes_the_folders_of_killed_drivers_and_spares_those_in_use(tmp_path, monkeypatch):
    monkeypatch.setattr("demoloom.generators.fleet.session._short_root", lambda: str(tmp_path))
    left = tempfile.mkdtemp(prefix="dloom-", dir=tmp_path)
    with _session_folder() as used:
        for folder in (used, left):
            os.utime(folder, (0, 0))
        with _session_folder():
            assert os.path.exists(used)
            assert not os.path.exists(left)
    assert not os.path.exists(used)


def test_a_program_that_has_imported_ray_already_can_open_a_session():
    program = """
import ray
from demoloom.generators.fleet import FleetConfig, ray_session
with ray_session(FleetConfig(num_workers=1)):
    print(ray.get(ray.remote(lambda: 42).remote()))
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout.splitlines()[-1:] == ["42"], done.stderr
