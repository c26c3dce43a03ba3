import os

import pytest
import torch

from demoloom.generators.fleet.gpu_share import keep_to_share, on_given_gpus
from demoloom.storage.errors import ConfigError
from demoloom.storage.plugins import PluginRef


def test_a_worker_without_a_gpu_sees_none(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "0,1")
    keep_to_share(0)
    assert os.environ["CUDA_VISIBLE_DEVICES"] == ""


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_torch_does_not_find_is_an_error_with_the_remedy():
    with pytest.raises(ConfigError, match=r"given 0\.5 GPUs by Ray, and torch finds none .* set num_gpus to 0"):
        keep_to_share(0.5)


def test_a_fraction_is_a_share_of_the_memory_too(monkeypatch):
    shares: list[float] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "set_per_process_memory_fraction", shares.append)
    keep_to_share(0.25)
    keep_to_share(2)
    assert shares == [0.25]


def test_a_learned_world_works_on_the_gpu_of_its_worker_unless_it_was_told_where(counting_plan):
    learned = PluginRef("worlds", "learned", {"checkpoint": "world"})
    told = PluginRef("worlds", "learned", {"checkpoint": "world", "device": "cpu"})
    assert on_given_gpus(counting_plan(world=learned), 0.5).world.kwargs == {"checkpoint": "world", "device": "cuda"}
    assert on_given_gpus(counting_plan(world=told), 0.5).world == told
    assert on_given_gpus(counting_plan(world=learned), 0).world == learned


def test_what_knows_no_devices_is_left_as_it_is(counting_plan):
    plan = counting_plan(start_world=PluginRef("worlds", "pusht"))
    assert on_given_gpus(plan, 1) == plan
