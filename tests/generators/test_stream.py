from demoloom.generators import ActionStream
from demoloom.generators.testing import CountingWorld, RandomCounts, StreamContract


class TestRandomCounts(StreamContract):
    def make(self):
        return RandomCounts(CountingWorld(1).episode_spec)

    def make_world(self, num_envs):
        return CountingWorld(num_envs)


def test_a_stream_is_known_by_its_methods():
    assert isinstance(RandomCounts(CountingWorld(1).episode_spec), ActionStream)
