"""Counting worlds that cannot be brought back by a snapshot."""

from demoloom.generators.testing import CountingWorld


class OneWayWorld(CountingWorld):
    """A counting world that gives no snapshots, as reality does not."""

    def snapshot(self):
        raise NotImplementedError


class ForgetfulWorld(OneWayWorld):
    """Starts one higher each time, whatever the seed."""

    num_resets = 0

    def reset(self, *, seed=None, options=None):
        self.num_resets += 1
        return super().reset(seed=[self.num_resets], options=options)
