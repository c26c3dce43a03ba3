import os

import pytest
import torch

from demoloom.generators.gpu_share import keep_to_share
from demoloom.storage.errors import ConfigError


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
