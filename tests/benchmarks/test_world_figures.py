import xml.etree.ElementTree as ElementTree

from world_figures import headline, open_loop_table, pose_table, survival_picture

LIKENESS = {"psnr": 27.04, "psnr_foreground": 12.0, "ssim": 0.9}


def test_open_loops_have_a_column_for_each_horizon_and_stand_above_what_is_beside() -> None:
    line = {
        f"{name}{suffix}": value for name, value in LIKENESS.items() for suffix in ("", "_autoencoder", "_no_change")
    }
    rows = open_loop_table([{"steps": 1, **line}, {"steps": 64, **line}]).splitlines()
    assert rows[0] == "| open loop on held-out episodes, steps | 1 | 64 |"
    assert rows[2] == "| PSNR, dB, the world | 27.0 | 27.0 |"
    assert rows[-1] == "| SSIM, first frame for ever | 0.900 | 0.900 |"


def test_blocks_that_moved_come_first() -> None:
    errors = {
        f"{kind}{suffix}": 1.0 for kind in ("place", "degrees") for suffix in ("", "_p90", "_autoencoder", "_no_change")
    }
    still, moved = ({"moved": moved, "steps": 8, "episodes": 3, **errors} for moved in (False, True))
    rows = pose_table([still, moved]).splitlines()
    assert rows[2] == "| moved | 8 | 3 | 1.0 (1.0) | 1.0 (1.0) | 1.0, 1.0° | 1.0, 1.0° |"
    assert rows[3].startswith("| did not move |")


def test_the_headline_says_which_aims_were_missed() -> None:
    rows = [
        {"name": "open loop 192 steps, PSNR", "value": 25.512, "unit": "dB", "aim": 28.0, "met": False},
        {
            "name": "alive after 9000 steps, random, 64 episodes",
            "value": 0.984,
            "unit": "share",
            "aim": 0.95,
            "met": True,
        },
    ]
    said = headline({"rows": rows})
    assert "**25.51** dB over 192 steps of open loop on held-out episodes (aim 28, missed)" in said
    assert "**98%** of episodes still" in said
    assert said.count("missed") == 1


def test_the_picture_of_survival_is_an_image_with_a_curve_for_each_stream() -> None:
    curve: dict[str, list[float]] = {"steps": [1, 9000], "alive": [1.0, 0.5], "on_board": [1.0, 0.25]}
    picture = survival_picture(dict.fromkeys(("idle", "expert", "random", "random, in reality"), curve))
    lines = ElementTree.fromstring(picture).findall("{http://www.w3.org/2000/svg}polyline")
    assert len(lines) == 5
    assert [line.get("points", "").split()[-1] for line in lines[:2]] == ["420.0,118.0"] * 2
