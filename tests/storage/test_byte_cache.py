import os
import pickle

import numpy as np
import pytest

from demoloom.storage.byte_cache import ByteCache


def test_a_cache_drops_what_was_not_asked_for_longest():
    cache = ByteCache(20)
    for key in "abc":
        cache.get("a")
        cache.put(key, np.zeros(10, np.uint8))
    assert cache.get("b") is None
    assert cache.get("a") is not None
    assert cache.num_bytes == 20


def test_a_cache_passes_over_what_is_over_its_limit():
    cache = ByteCache(5)
    cache.put("a", np.zeros(10, np.uint8))
    assert cache.get("a") is None


# Python warns of forks beside threads, which other tests may have left; the child here only looks and leaves.
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork")
def test_workers_do_not_fill_caches_of_their_own():
    cache = ByteCache(20)
    cache.put("a", np.zeros(10, np.uint8))
    if (child := os.fork()) == 0:
        cache.put("b", np.zeros(5, np.uint8))
        os._exit(0 if cache.get("a") is not None and cache.get("b") is None else 1)
    assert os.waitpid(child, 0)[1] == 0
    spawned = pickle.loads(pickle.dumps(cache))
    spawned.put("b", np.zeros(5, np.uint8))
    assert spawned.num_bytes == 0
