from demoloom.teleop.web.rate_limit import RateLimit


def test_two_hundred_messages_a_second_pass_for_ever() -> None:
    limit = RateLimit(now=0.0)
    assert all(limit.allows(number / 200) for number in range(4000))


def test_of_a_flood_little_more_passes() -> None:
    limit = RateLimit(now=0.0)
    passed = sum(limit.allows(number / 10_000) for number in range(20_000))
    assert passed <= 400 + 2 * 200
    assert limit.num_refused == 20_000 - passed
