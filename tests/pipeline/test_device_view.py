from demoloom.pipeline.device_view import reading_lines
from demoloom.teleop.devices import Reading


def test_a_bar_grows_from_its_middle():
    lines = reading_lines(Reading(connected=True, num_reports=1), {"x": 0.5, "y": -1.0}, {"x": 0.25})
    assert lines[:3] == [
        "x        [            |######      ] +0.50  moves at +0.25",
        "y        [############|            ] -1.00  moves at +0.00",
        "z        [            |            ] +0.00  moves at +0.00",
    ]


def test_before_the_first_report_it_asks_to_be_moved():
    assert reading_lines(Reading(connected=True), {}, {})[-1] == "nothing has come yet: move it, or press a button"


def test_an_unplugged_device_is_its_sentence():
    assert reading_lines(Reading(message="plug it in"), {}, {}) == ["plug it in"]
