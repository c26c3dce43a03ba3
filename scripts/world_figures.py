"""What `benchmarks/results/world.json` says of a learned world, as tables, as one sentence and as curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: Of the table of open loops: what a figure is called in the results, and here.
_LIKENESS = {"psnr": "PSNR, dB", "psnr_foreground": "PSNR of the foreground, dB", "ssim": "SSIM"}
_BESIDE = {"": "the world", "_autoencoder": "autoencoder alone", "_no_change": "first frame for ever"}
#: Curves of the picture: stream, what of it, and how it is drawn.
_CURVES = (
    ("idle", "alive", "alive, idle", "#3a923a", ""),
    ("expert", "alive", "alive, expert in the loop", "#3274a1", ""),
    ("random", "alive", "alive, random play", "#c03d3e", ""),
    ("random", "on_board", "block on the board, random play", "#c03d3e", "4 3"),
    ("random, in reality", "on_board", "the same in reality", "#555555", "4 3"),
)
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 260, 44, 420, 14, 222


def open_loop_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """A column for each number of steps; the world, its autoencoder alone and the first frame among each other."""
    head = ["open loop on held-out episodes, steps", *(str(line["steps"]) for line in lines)]
    rows = [
        [f"{title}, {who}", *(f"{line[f'{name}{suffix}']:.{3 if name == 'ssim' else 1}f}" for line in lines)]
        for name, title in _LIKENESS.items()
        for suffix, who in _BESIDE.items()
    ]
    return _markdown(head, rows)


def pose_table(lines: Sequence[Mapping[str, Any]]) -> str:
    """Median (90th percentile) of the errors of blocks read from frames."""
    head = ["block", "steps", "episodes", "place, units of 512", "degrees", "autoencoder alone", "first frame for ever"]
    moved_first = sorted(lines, key=lambda line: not line["moved"])
    return _markdown(head, (_pose_cells(line) for line in moved_first))


def _pose_cells(line: Mapping[str, Any]) -> list[str]:
    return [
        "moved" if line["moved"] else "did not move",
        str(line["steps"]),
        str(line["episodes"]),
        *(f"{line[kind]:.1f} ({line[f'{kind}_p90']:.1f})" for kind in ("place", "degrees")),
        *(f"{line[f'place_{of}']:.1f}, {line[f'degrees_{of}']:.1f}°" for of in ("autoencoder", "no_change")),
    ]


def headline(result: Mapping[str, Any]) -> str:
    """How far, how long and how fast, with the aims that were missed."""
    rows = {row["name"]: row for row in result["rows"]}
    chosen = (
        ("open loop 192 steps, PSNR", "{} dB over 192 steps of open loop on held-out episodes"),
        ("alive after 9000 steps, random", "{} of episodes still a PushT world after 15 minutes of random play"),
        ("alive after 9000 steps, expert", "{} with the expert in the loop"),
        ("trust tells them from the others, last", "an AUROC of {} of its trust in telling where it has left reality"),
        ("frames per second, interactive, 2 threads", "{} frames a second for one stream on two cores"),
        ("frames per second, interactive, compiled, 2 threads", "{} compiled"),
    )
    said = [_said(row, text) for start, text in chosen for name, row in rows.items() if name.startswith(start)]
    return f"The world model by itself: {'; '.join(said)}. More in [docs/world-model.md](docs/world-model.md#measured)."


def _said(row: Mapping[str, Any], text: str) -> str:
    value = f"{row['value']:.0%}" if row["unit"] == "share" else f"{row['value']:.4g}"
    aim = "" if row["met"] is not False else f" (aim {row['aim']:g}, missed)"
    return f"{text.format(f'**{value}**')}{aim}"


def survival_picture(curves: Mapping[str, Mapping[str, Sequence[float]]]) -> str:
    """SVG of the shares of episodes over steps."""
    longest = max(max(curve["steps"]) for curve in curves.values())
    parts = [f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>', *_axes(longest)]
    for number, (stream, what, title, colour, dashes) in enumerate(_CURVES):
        points = [(0, 1.0), *zip(curves[stream]["steps"], curves[stream][what], strict=True)]
        path = " ".join(f"{_x(step / longest):.1f},{_y(share):.1f}" for step, share in points)
        style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
        level = _TOP + 12 + 20 * number
        parts += [
            f'<polyline points="{path}" {style}/>',
            f'<line x1="{_RIGHT + 14}" x2="{_RIGHT + 38}" y1="{level}" y2="{level}" {style}/>',
            f'<text x="{_RIGHT + 44}" y="{level + 4}">{title}</text>',
        ]
    body = "\n".join(parts)
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'


def _axes(longest: float) -> Iterable[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        yield f'<line x1="{_LEFT}" x2="{_RIGHT}" y1="{_y(share)}" y2="{_y(share)}" stroke="#ddd"/>'
        yield f'<text x="{_LEFT - 6}" y="{_y(share) + 4}" text-anchor="end">{share:.0%}</text>'
    for third in range(4):
        step = round(longest * third / 3)
        yield f'<text x="{_x(third / 3):.1f}" y="{_BOTTOM + 16}" text-anchor="middle">{step}</text>'
    yield f'<text x="{(_LEFT + _RIGHT) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">steps (10 a second)</text>'


def _x(share: float) -> float:
    return _LEFT + share * (_RIGHT - _LEFT)


def _y(share: float) -> float:
    return _BOTTOM - share * (_BOTTOM - _TOP)


def _markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
