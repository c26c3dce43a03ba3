"""The application as a browser meets it, over a real socket."""

import io
import json
import time
from collections.abc import Iterator

import pytest
from PIL import Image
from websockets.exceptions import ConnectionClosed, InvalidStatus

from demoloom.storage import PluginRef
from demoloom.teleop.web.messages import MOST_BYTES

from .conversation import ask, heard, keep_a_take, next_frame, send_and_wait
from .site import TOKEN, Site


@pytest.fixture
def site(make_plan) -> Iterator[Site]:
    with Site.open(make_plan(max_sessions=2)) as site:
        yield site


@pytest.fixture
def far_site(make_plan) -> Iterator[Site]:
    """Of a server that other machines reach."""
    with Site.open(make_plan(), TOKEN) as site:
        yield site


def test_the_page_and_its_modules_are_served_and_nothing_else_is(site: Site) -> None:
    assert "<title>demoloom" in site.get("/").text
    assert site.get("/page/main.js").headers["content-type"].startswith("text/javascript")
    for path in ("/page/..%2Fapp.py", "/page/%2Fetc%2Fpasswd", "/page/main.js%00", "/page/app.py", "/app.py", "/page/"):
        assert site.get(path).status_code == 404


def test_a_page_is_told_what_there_is_to_drive(site: Site) -> None:
    about = site.get("/api/about").json()
    assert (about["task"], about["text"], about["fps"]) == ("count", "Count to 8.", 10)
    assert about["cameras"] == [{"name": "top", "height": 16, "width": 16}]
    assert about["action"] == {"names": ["add"], "low": [-1], "high": [1]}
    assert (about["max_sessions"], about["sessions"], about["num_starts"]) == (2, 0, 0)
    assert about["keys"] == {"KeyA": "add -", "KeyD": "add +"}


def test_every_answer_tells_browsers_what_to_keep_to(site: Site) -> None:
    headers = site.get("/").headers
    assert headers["content-security-policy"].startswith("default-src 'self';")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_a_take_is_driven_recorded_kept_shown_and_deleted(site: Site) -> None:
    with site.drive() as socket:
        assert heard(socket, "welcome")["role"] == "driver"
        keep_a_take(socket)
        assert heard(socket, "state", takes=1)["recording"] is False
    (take,) = site.get("/api/takes").json()
    assert (take["length"], take["seconds"], take["outcome"], take["made_by"]) == (5, 0.5, "failure", "browser")
    picture = site.get(f"/api/takes/{take['id']}/frames/4.jpg?camera=top")
    assert Image.open(io.BytesIO(picture.content)).size == (16, 16)
    for rest in ("5.jpg", "64.jpg", "0.jpg?camera=../../x"):
        assert site.get(f"/api/takes/{take['id']}/frames/{rest}").status_code == 404
    assert site.ask("DELETE", f"/api/takes/{take['id']}", headers=site.own).status_code == 200
    assert site.get("/api/takes").json() == []


@pytest.mark.parametrize("name", ["x", "..%2F..%2Fx", "%00", "a" * 1000])
def test_no_name_from_outside_reaches_a_file(site: Site, name: str) -> None:
    assert site.get(f"/api/takes/{name}/frames/0.jpg").status_code == 404
    assert site.get(f"/api/starts/{name}.jpg").status_code == 404
    assert site.ask("DELETE", f"/api/takes/{name}", headers=site.own).status_code == 404


def test_a_page_of_another_site_can_neither_drive_nor_delete(site: Site) -> None:
    for origin in ("https://evil.example", "null", f"http://localhost:{site.host.partition(':')[2]}"):
        with pytest.raises(InvalidStatus, match="403"):
            site.drive(origin=origin)
        assert site.ask("DELETE", "/api/takes/x", headers={"origin": origin}).status_code == 403
        assert site.get("/api/takes", origin=origin).status_code == 403


def test_who_says_no_origin_may_look_and_not_act(site: Site) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        site.drive(accept="*/*")
    assert site.ask("DELETE", "/api/takes/x").status_code == 403
    assert site.get("/api/takes").status_code == 200


def test_a_name_that_was_pointed_at_this_machine_is_refused(site: Site) -> None:
    evil = {"host": "evil.example:8765", "origin": "http://evil.example:8765"}
    assert site.get("/api/takes", **evil).status_code == 400
    handshake = {"connection": "upgrade", "upgrade": "websocket", "sec-websocket-version": "13"}
    key = {"sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}
    assert site.get("/drive", **evil, **handshake, **key).status_code == 403


def test_from_other_machines_all_but_the_page_needs_the_token(far_site: Site) -> None:
    assert far_site.get("/").status_code == far_site.get("/page/main.js").status_code == 200
    for path in ("/api/about", "/api/takes", "/api/takes/x/frames/0.jpg", "/api/starts/0.jpg"):
        assert far_site.get(path).status_code == 401
    assert far_site.ask("DELETE", "/api/takes/x", headers=far_site.own).status_code == 401
    with pytest.raises(InvalidStatus, match="403"):
        far_site.drive()


def test_a_login_with_the_token_lets_a_browser_in(far_site: Site) -> None:
    assert far_site.ask("POST", "/api/login", json={"token": "x" * 43}, headers=far_site.own).status_code == 403
    cookie = far_site.ask("POST", "/api/login", json={"token": TOKEN}, headers=far_site.own).headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert far_site.get("/api/about").status_code == 200
    with far_site.drive() as socket:
        assert heard(socket, "welcome")["role"] == "driver"


def test_a_login_from_another_site_is_refused_even_with_the_token(far_site: Site) -> None:
    evil = {"origin": "https://evil.example"}
    assert far_site.ask("POST", "/api/login", json={"token": TOKEN}, headers=evil).status_code == 403


def test_a_program_drives_with_the_token_and_no_origin(far_site: Site) -> None:
    with far_site.drive(authorization=f"Bearer {TOKEN}") as socket:
        assert heard(socket, "welcome")["role"] == "driver"
    with pytest.raises(InvalidStatus, match="403"):
        far_site.drive(authorization=f"Bearer {TOKEN[1:]}")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"token": 1}', b'{"token": "\xc3\xa4"}', b"[" * 3000])
def test_a_login_that_is_none_is_refused(far_site: Site, body: bytes) -> None:
    assert far_site.ask("POST", "/api/login", content=body, headers=far_site.own).status_code == 403


def test_a_body_of_a_megabyte_is_refused(far_site: Site) -> None:
    answer = far_site.ask("POST", "/api/login", content=b"x" * 1_000_000, headers=far_site.own)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "must be JSON"),
        (b"\x00", "messages are texts"),
        ('{"type": "input", "seq": 1, "t": 0, "axes": {"x": NaN}}', "NaN is no number"),
        ('{"type": "command", "id": 1, "name": "../../x"}', "there is no command"),
        ('{"type": "command", "id": 1, "name": "keep", "args": {"id": "../../x"}}', "keep takes no arguments"),
        (f'{{"type": "ack", "tick": 0, "filling": "{"x" * MOST_BYTES}"}}', "at most 4096 bytes"),
    ],
)
def test_a_bad_message_is_refused_and_the_session_goes_on(site: Site, text: str | bytes, sentence: str) -> None:
    with site.drive() as socket:
        socket.send(text)
        assert sentence in heard(socket, "done")["error"]
        assert ask(socket, 2, "record") is None


def test_a_message_of_ten_megabytes_ends_the_line_and_not_the_session(site: Site) -> None:
    with site.drive() as socket:
        session = heard(socket, "welcome")["session"]
        assert ask(socket, 1, "record") is None
        with pytest.raises(ConnectionClosed):
            send_and_wait(socket, "x" * 10_000_000)
    with site.drive(session) as socket:
        assert heard(socket, "welcome")["session"] == session
        assert heard(socket, "state")["recording"]


def test_a_flood_of_messages_is_told_so_and_then_sent_away(site: Site) -> None:
    with site.drive() as socket, pytest.raises(ConnectionClosed, match="far more than 200 messages a second"):
        send_and_wait(socket, *['{"type": "ack", "tick": 0}'] * 100_000)


def test_a_second_tab_of_a_session_watches_and_drives_once_the_first_is_gone(site: Site) -> None:
    with site.drive() as first:
        session = heard(first, "welcome")["session"]
        with site.drive(session) as second:
            assert heard(second, "welcome")["role"] == "watcher"
            assert next_frame(second)["views"]
            assert "only watches" in (ask(second, 1, "record") or "")
            assert ask(first, 1, "record") is None
            assert heard(second, "state", recording=True)
            first.close()
            assert heard(second, "welcome")["role"] == "driver"
            assert ask(second, 2, "discard") is None


def test_what_a_watcher_holds_moves_nothing(site: Site) -> None:
    with site.drive() as first:
        session = heard(first, "welcome")["session"]
        with site.drive(session) as second:
            heard(second, "welcome")
            assert ask(first, 1, "start", seed=0) is None
            for seq in range(20):
                second.send(json.dumps({"type": "input", "seq": seq, "t": 0, "keys": ["KeyD"]}))
                time.sleep(0.01)
            assert heard(first, "state")["score"] == 0


def test_a_page_that_comes_back_finds_its_take_standing_still(site: Site) -> None:
    with site.drive() as socket:
        session = heard(socket, "welcome")["session"]
        assert ask(socket, 1, "record") is None
        assert heard(socket, "state", recording=True)
        time.sleep(0.1)
    with site.drive(session) as socket:
        assert heard(socket, "welcome")["session"] == session
        state = heard(socket, "state", recording=True, paused=True)
        assert state["length"] > 0


def test_a_page_that_never_reads_misses_previews_and_the_take_no_step(site: Site) -> None:
    with site.drive() as socket:
        assert ask(socket, 1, "start", seed=0) is None
        socket.send(json.dumps({"type": "command", "id": 2, "name": "record", "args": {}}))
        time.sleep(1.0)
        socket.send(json.dumps({"type": "command", "id": 3, "name": "pause", "args": {}}))
        frames = 0
        while True:
            message = socket.recv(timeout=20)
            frames += isinstance(message, bytes)
            if isinstance(message, str) and (state := json.loads(message)).get("paused") and state["length"]:
                break
        # Two, and those that the commands before had acknowledged.
        assert frames <= 4
        assert state["length"] >= 30
        assert ask(socket, 4, "keep") is None
    assert [take["length"] for take in site.get("/api/takes").json()] == [state["length"]]


def test_beyond_so_many_sessions_nobody_is_let_in_and_is_told_why(site: Site) -> None:
    with site.drive() as first, site.drive() as second:
        assert heard(first, "welcome")
        assert heard(second, "welcome")
        with site.drive() as third:
            assert "2 people are here already" in heard(third, "done")["error"]
            with pytest.raises(ConnectionClosed, match="2 people are here already"):
                heard(third, "never")
        assert heard(first, "state", sessions=2)


def test_beyond_so_many_pages_nobody_watches_a_session(site: Site) -> None:
    with site.drive() as first:
        session = heard(first, "welcome")["session"]
        others = [site.drive(session) for _ in range(8)]
        assert "8 pages look at this session already" in heard(others[-1], "done")["error"]
        for other in others:
            other.close()


def test_an_id_that_the_server_did_not_make_opens_a_session_of_another(site: Site) -> None:
    with site.drive("..%2F..%2Fx") as socket:
        assert heard(socket, "welcome")["session"].rpartition("/")[2] != "x"


def test_the_same_command_twice_acts_once(site: Site) -> None:
    with site.drive() as socket:
        assert ask(socket, 1, "pause") is None
        assert ask(socket, 2, "start", seed=0) is None
        assert ask(socket, 3, "pause") is None
        before = heard(socket, "state", paused=True)["step"]
        assert ask(socket, 4, "step") is None
        assert ask(socket, 4, "step") is None
        assert ask(socket, 5, "pause") is None
        assert heard(socket, "state")["step"] == before + 1


def test_a_world_that_fails_ends_its_session_and_no_other(make_plan) -> None:
    faulty = PluginRef("worlds", "demoloom.generators.testing:FaultyWorld", {"fault": "raise", "at_step": 3})
    with Site.open(make_plan(world=faulty)) as site, site.drive() as first:
        assert heard(first, "welcome")
        with pytest.raises(ConnectionClosed, match="the counter broke at step 3"):
            heard(first, "never")
        with site.drive() as second:
            assert heard(second, "welcome")["role"] == "driver"
