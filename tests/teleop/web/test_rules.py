import pytest

from demoloom.storage import ConfigError
from demoloom.teleop.web.rules import Rules, is_loopback, rules_for

TOKEN = "t" * 43


def fault(rules: Rules, host: str | None, origin: str | None, acts: bool = True, knows: bool = False) -> int | None:
    found = rules.fault(host, origin, acts=acts, knows_token=knows)
    return found[0] if found else None


@pytest.mark.parametrize(
    "host", ["localhost:80", "evil.example:8765", "localhost", "127.0.0.1.evil.example:8765", None]
)
def test_on_loopback_another_name_is_refused(host: str | None) -> None:
    assert fault(Rules(8765), host, f"http://{host}") == 400


@pytest.mark.parametrize("host", ["localhost:8765", "127.0.0.1:8765", "[::1]:8765"])
def test_on_loopback_the_names_of_this_machine_are_let_in(host: str) -> None:
    assert fault(Rules(8765), host, f"http://{host}") is None


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "null", "", "http://localhost:9999", "http://127.0.0.1:8765", "file://"]
)
def test_pages_of_other_sites_are_refused(origin: str) -> None:
    assert fault(Rules(8765), "localhost:8765", origin) == 403
    assert fault(Rules(8765), "localhost:8765", origin, acts=False) == 403


def test_without_an_origin_one_may_look_and_not_act() -> None:
    assert fault(Rules(8765), "localhost:8765", None, acts=False) is None
    assert fault(Rules(8765), "localhost:8765", None, acts=True) == 403


def test_a_program_that_brings_the_token_needs_no_origin() -> None:
    assert fault(Rules(8765, TOKEN), "robot.lab:8765", None, knows=True) is None
    assert fault(Rules(8765, TOKEN), "robot.lab:8765", None) == 403
    assert fault(Rules(8765, TOKEN), "robot.lab:8765", "https://evil.example", knows=True) == 403


def test_the_token_is_known_by_itself_and_by_its_cookie() -> None:
    rules = Rules(8765, TOKEN)
    assert (rules.is_token(TOKEN), rules.is_token(TOKEN[1:]), rules.is_token("")) == (True, False, False)
    assert (rules.is_cookie(rules.cookie), rules.is_cookie(TOKEN), rules.is_cookie("")) == (True, False, False)
    assert TOKEN not in rules.cookie


def test_where_there_is_no_token_nothing_is_one() -> None:
    assert not Rules(8765).is_token("")
    assert not Rules(8765).is_cookie("")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("::", False),
     ("192.168.1.7", False), ("localhost.evil.example", False)],
)  # fmt: skip
def test_off_loopback_a_token_is_made_and_on_it_none(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    token = rules_for(host, 8765).token
    assert (token is None) is loopback
    # 32 bytes in base64.
    assert token is None or len(token) == 43


def test_a_short_token_is_refused() -> None:
    with pytest.raises(ConfigError, match="32 letters or more, got 6"):
        Rules(8765, "secret")
