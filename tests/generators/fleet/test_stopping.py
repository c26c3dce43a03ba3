import os
import signal
import threading

import pytest

from demoloom.generators.fleet.stopping import stop_on_signal


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_noted_and_the_second_interrupts(number):
    with stop_on_signal() as stop:
        assert not stop.requested
        os.kill(os.getpid(), number)
        assert stop.requested
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)


def test_afterwards_signals_do_what_they_did_before():
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with stop_on_signal():
        assert signal.getsignal(signal.SIGINT) != before[0]
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_in_another_thread_nothing_is_caught():
    seen = []

    def ask():
        with stop_on_signal() as stop:
            seen.append(stop.requested)

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert seen == [False]
