from demoloom.teleop.web.telling import Telling

STATE = {"recording": False, "takes": 0}


def test_a_change_is_told_at_once_and_once() -> None:
    telling = Telling()
    assert telling.is_due(STATE, moving=False, now=0.0)
    assert not telling.is_due(STATE, moving=False, now=0.1)
    assert telling.is_due({**STATE, "takes": 1}, moving=False, now=0.1)


def test_what_changes_with_every_step_is_told_twice_a_second() -> None:
    telling = Telling()
    told = [telling.is_due(STATE, moving=True, now=step / 10) for step in range(20)]
    assert sum(told) == 4


def test_a_world_that_stands_still_has_nothing_to_tell() -> None:
    telling = Telling()
    telling.is_due(STATE, moving=False, now=0.0)
    assert not telling.is_due(STATE, moving=False, now=60.0)


def test_to_somebody_who_has_just_come_all_is_news() -> None:
    telling = Telling()
    telling.is_due(STATE, moving=False, now=0.0)
    telling.forget()
    assert telling.is_due(STATE, moving=False, now=0.1)
