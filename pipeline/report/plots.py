"""Plots as inline SVG that follows the page's colours, in light and in dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from markupsafe import Markup

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 360, 200
LEFT, RIGHT, TOP, BOTTOM = 56, 18, 12, 34
_SMALL_WIDTH, _SMALL_HEIGHT, _SIDE = 240, 96, 14


def line_plot(series: Mapping[str, Points], x_label: str) -> Markup:
    """Curves over a common x axis; the y axis is logarithmic where all values allow it.

    Args:
        series: name -> (x, y) points; points that are not finite are left out.
        x_label: what x counts.
    """
    finite = {
        name: [p for p in points if math.isfinite(p[0]) and math.isfinite(p[1])] for name, points in series.items()
    }
    curves = {name: points for name, points in finite.items() if points}
    if not curves:
        return Markup('<p class="quiet">nothing was recorded</p>')
    xs, ys = zip(*(point for points in curves.values() for point in points), strict=True)
    x_axis, y_axis = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT), _y_axis(min(ys), max(ys))
    parts = [_grid(x_axis, y_axis), _x_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 3, x_label)]
    parts += [_curve(points, x_axis, y_axis, number) for number, points in enumerate(curves.values())]
    svg = Markup('<svg viewBox="0 0 {} {}" role="img">{}</svg>').format(WIDTH, HEIGHT, Markup("").join(parts))
    return svg + _legend(list(curves))


def histogram(counts: Sequence[int], edges: Sequence[float]) -> Markup:
    """Bars whose areas are the counts between each edge and the next; the highest fills the plot.

    Args:
        counts: (B,), at least one of them above 0.
        edges: (B + 1,), rising.
    """
    x_axis = Axis(edges[0], edges[-1], _SIDE, _SMALL_WIDTH - _SIDE)
    base, height = _SMALL_HEIGHT - 20, _SMALL_HEIGHT - 26
    path = "".join(
        f"M{x_axis.place(low):.1f} {base}V{base - height * count / max(counts):.1f}H{x_axis.place(high):.1f}V{base}"
        for count, low, high in zip(counts, edges, edges[1:], strict=False)
        if count
    )
    parts = [Markup('<path class="bars" d="{}"/>').format(path)]
    parts += [Markup('<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/>').format(0, _SMALL_WIDTH, base, base)]
    parts += [_x_text(x_axis.place(tick), _SMALL_HEIGHT - 4, _number(tick)) for tick in x_axis.ticks()]
    return Markup('<svg viewBox="0 0 {} {}" role="img">{}</svg>').format(
        _SMALL_WIDTH, _SMALL_HEIGHT, Markup("").join(parts)
    )


def interval_bar(value: float, low: float, high: float) -> Markup:
    """A value in [0, 1] as a bar, with its interval as a whisker."""
    return Markup(
        '<svg class="interval" viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="track" width="200" height="16"/><rect class="bar" width="{:.1f}" height="16"/>'
        '<line class="whisker" x1="{:.1f}" x2="{:.1f}" y1="8" y2="8"/></svg>'
    ).format(200 * value, 200 * low, 200 * high)


class Axis:
    """Maps values to pixels, linearly or by their logarithm."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool = False) -> None:
        self.low, self.high, self.start, self.end, self.log = low, high, start, end, log

    def place(self, value: float) -> float:
        """The pixel of a value."""
        low, high, at = (math.log10(v) if self.log else v for v in (self.low, self.high, value))
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """A few round values within the axis."""
        if self.log:
            exponents = range(math.floor(math.log10(self.low)), math.floor(math.log10(self.high)) + 1)
            round_values = [factor * 10.0**exponent for exponent in exponents for factor in (1, 2, 5)]
            within = [value for value in round_values if self.low <= value <= self.high]
            decades = [value for value in within if math.log10(value) % 1 == 0]
            return decades if len(decades) > 2 else within
        if self.high <= self.low:
            return [self.low]
        step = _round_step((self.high - self.low) / 4)
        return [step * n for n in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]


def _round_step(rough: float) -> float:
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def _y_axis(low: float, high: float) -> Axis:
    return Axis(low, high, HEIGHT - BOTTOM, TOP, log=low > 0 and high / low > 5)


def _grid(x_axis: Axis, y_axis: Axis) -> Markup:
    lines = [_grid_line(y_axis.place(tick), _number(tick)) for tick in y_axis.ticks()]
    lines += [_x_text(x_axis.place(tick), HEIGHT - BOTTOM + 16, _number(tick)) for tick in x_axis.ticks()]
    return Markup("").join(lines)


def _grid_line(y: float, text: str) -> Markup:
    return Markup(
        '<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text x="{}" y="{:.1f}" class="y">{}</text>'
    ).format(LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4, text)


def _x_text(x: float, y: float, text: str) -> Markup:
    return Markup('<text x="{:.1f}" y="{}" class="x">{}</text>').format(x, y, text)


def _curve(points: Points, x_axis: Axis, y_axis: Axis, number: int) -> Markup:
    path = " ".join(f"{x_axis.place(x):.1f},{y_axis.place(y):.1f}" for x, y in thinned(points))
    return Markup('<polyline class="curve c{}" points="{}"/>').format(number % 6, path)


def thinned(points: Points, most: int = 400) -> Points:
    """At most about `most` of the points, evenly chosen, always with the last."""
    stride = -(-len(points) // most)
    return [*points[::stride], *([points[-1]] if (len(points) - 1) % stride else [])]


def _legend(names: Sequence[str]) -> Markup:
    key = Markup('<span class="key c{}">{}</span>')
    items = [key.format(number % 6, name.replace("_", " ")) for number, name in enumerate(names)]
    return Markup('<p class="legend">{}</p>').format(Markup(" ").join(items))


def _number(value: float) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 10_000 and value % 1000 == 0:
        return f"{value / 1000:g}k"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
