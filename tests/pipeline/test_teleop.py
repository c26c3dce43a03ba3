import socket
from pathlib import Path

import pytest

from demoloom.generators.learned.bundled import world_folder
from demoloom.pipeline.cli import find_command, main, parse_options
from demoloom.pipeline.commands.teleop import Options, address_of, plan_of
from demoloom.storage import ConfigError, PluginRef
from demoloom.teleop.pusht.task import PUSHT
from demoloom.teleop.web.rules import Rules

TOKEN = "t" * 43


def options(*arguments: str) -> Options:
    given: Options = parse_options(find_command("teleop"), arguments)
    return given


def test_the_bundled_world_is_driven_by_default_on_this_machine_alone() -> None:
    plan = plan_of(options())
    assert plan.world == PluginRef("worlds", "learned", {"checkpoint": str(world_folder("pusht"))})
    assert plan.kind == "imagined"
    assert plan.out == Path("takes").resolve()
    assert options().host == "127.0.0.1"


def test_reality_is_driven_where_it_is_asked_for() -> None:
    plan = plan_of(options("--world", "reality"))
    assert (plan.world, plan.checkpoint, plan.kind) == (PUSHT.reality, None, "reality")


def test_options_reach_the_plan() -> None:
    plan = plan_of(
        options("--fps", "15", "--step-on-input", "--max-sessions", "2", "--max-steps", "50", "--trim.keep", "4")
    )
    assert (plan.fps, plan.on_input, plan.max_sessions) == (15.0, True, 2)
    assert (plan.settings.max_steps, plan.settings.trim.keep) == (50, 4)


@pytest.mark.parametrize(
    ("host", "token", "address"),
    [
        ("127.0.0.1", None, "http://localhost:8765/"),
        ("192.168.1.7", TOKEN, f"http://192.168.1.7:8765/#token={TOKEN}"),
        ("fd00::7", TOKEN, f"http://[fd00::7]:8765/#token={TOKEN}"),
        ("0.0.0.0", TOKEN, f"http://{socket.gethostname()}:8765/#token={TOKEN}"),
    ],
)
def test_the_address_that_is_printed_can_be_opened(host: str, token: str | None, address: str) -> None:
    assert address_of(host, Rules(8765, token)) == address


def test_a_port_that_is_taken_is_named_with_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert main(["teleop", "--port", str(port), "--no-browser"]) == 2
    assert f"cannot listen at 127.0.0.1:{port}" in capsys.readouterr().err


def test_a_world_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    arguments = ["--world", str(tmp_path), "--port", "0", "--no-browser", "--out", str(tmp_path / "takes")]
    assert main(["teleop", *arguments]) == 2
    assert f"no world at {tmp_path}" in capsys.readouterr().err


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ConfigError, match="max_sessions must lie between 1 and 64, got 0"):
        plan_of(options("--max-sessions", "0"))
