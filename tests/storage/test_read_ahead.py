import threading
import time

import pytest

from demoloom.storage.read_ahead import read_ahead


def test_the_items_come_in_their_order():
    assert list(read_ahead(iter(range(100)))) == list(range(100))
    assert list(read_ahead(iter([]))) == []


def test_no_more_than_count_are_made_ahead():
    made = []

    def numbers():
        for number in range(100):
            made.append(number)
            yield number

    items = read_ahead(numbers(), count=3)
    assert next(items) == 0
    time.sleep(0.1)
    # One was taken, three wait, one more is made and waits for room.
    assert made == [0, 1, 2, 3, 4]
    items.close()


def test_an_error_comes_where_the_item_would_have():
    def broken():
        yield 1
        raise ValueError("torn")

    items = read_ahead(broken())
    assert next(items) == 1
    with pytest.raises(ValueError, match="torn"):
        next(items)


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_caller_that_stops_leaves_no_thread(count):
    before = threading.active_count()
    items = read_ahead(iter(range(1000)), count)
    next(items)
    items.close()
    assert threading.active_count() == before
