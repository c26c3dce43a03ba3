from demoloom.generators.fleet.agenda import Agenda


def begun_ahead(agenda):
    return list(iter(agenda.ahead, None))


def test_calls_that_wait_follow_their_own_order():
    agenda = Agenda()
    agenda.announce(2, [3, 4])
    agenda.announce(3, [5])
    assert list(agenda.own(1, [0, 1, 2])) == [0, 1, 2]
    assert begun_ahead(agenda) == [3, 4, 5]


def test_what_was_begun_ahead_is_left_out_of_its_own_call():
    agenda = Agenda()
    agenda.announce(2, [3, 4, 5])
    assert list(agenda.own(1, [0])) == [0]
    assert [agenda.ahead(), agenda.ahead()] == [3, 4]
    assert list(agenda.own(2, [3, 4, 5])) == [5]
    assert begun_ahead(agenda) == []


def test_it_may_be_announced_after_there_was_nothing_more():
    agenda = Agenda()
    assert list(agenda.own(1, [0])) == [0]
    assert agenda.ahead() is None
    agenda.announce(2, [1])
    assert agenda.ahead() == 1


def test_a_call_announced_too_late_is_not_made_twice():
    agenda = Agenda()
    assert list(agenda.own(1, [0])) == [0]
    assert list(agenda.own(2, [1])) == [1]
    agenda.announce(2, [1])
    assert agenda.ahead() is None


def test_calls_behind_one_that_was_not_announced_wait_for_it():
    agenda = Agenda()
    agenda.announce(3, [7])
    assert list(agenda.own(1, [0])) == [0]
    assert agenda.ahead() is None
    assert list(agenda.own(2, [1])) == [1]
    assert agenda.ahead() == 7


def test_an_episode_that_is_to_be_made_again_is_not_taken_for_begun():
    agenda = Agenda()
    agenda.announce(2, [1])
    assert list(agenda.own(1, [0])) == [0]
    assert agenda.ahead() == 1
    assert list(agenda.own(2, [1])) == []
    assert list(agenda.own(3, [1])) == [1]


def test_once_it_is_over_nothing_begins():
    agenda = Agenda()
    agenda.announce(2, [2, 3])
    own = agenda.own(1, [0, 1])
    assert next(own) == 0
    agenda.end()
    assert list(own) == []
    assert agenda.ahead() is None
