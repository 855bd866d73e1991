"""Plots as inline SVG: stacked bars, lines over budgets, and scatters with a front. Colours of text and rules come from the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 560
_CHARACTER = 6.4
"""About how wide a character of a label is, in pixels."""

COLOURS = (
    "#3b6fd4", "#d9772b", "#2f9e63", "#c2467f", "#8a5fd0", "#b8961c", "#1f97a8", "#a3543d", "#6b7f3a", "#7a7f8c", "#d14b4b", "#4f8f8f",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """A bar of two parts, `inner` first."""

    label: str
    inner: float
    outer: float
    colour: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line over the common x values; None where nothing was measured."""

    label: str
    colour: str
    values: Sequence[float | None]
    dashed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Dot:
    """A point of a scatter; `low` and `high` bound its interval."""

    label: str
    colour: str
    x: float
    y: float
    low: float
    high: float
    front: bool
    hollow: bool = False


def number(value: float) -> str:
    """A short number for an axis."""
    if value >= 10_000:
        return f"{value / 1000:.0f}k"
    if value >= 1_000:
        return f"{value / 1000:.1f}k".replace(".0k", "k")
    return f"{value:.0f}"


def bars(title: str, items: Sequence[Bar]) -> str:
    """Horizontal bars, shortest first, with the total at the end of each."""
    ordered = sorted(items, key=lambda bar: (bar.inner + bar.outer, bar.label))
    left = max(len(bar.label) for bar in ordered) * _CHARACTER + 12
    room = WIDTH - left - 60
    most = max(bar.inner + bar.outer for bar in ordered)
    rows = []
    for place, bar in enumerate(ordered):
        y = 8 + place * 20
        inner, outer = bar.inner / most * room, bar.outer / most * room
        total = bar.inner + bar.outer
        rows.append(
            f"<g><title>{escape(bar.label)}: {bar.inner:,.0f} of {total:,.0f} tokens are the graph</title>"
            f'<text x="{left - 8:.0f}" y="{y + 11}" class="end">{escape(bar.label)}</text>'
            f'<rect x="{left:.1f}" y="{y}" width="{max(inner, 1):.1f}" height="14" fill="{bar.colour}"/>'
            f'<rect x="{left + inner:.1f}" y="{y}" width="{outer:.1f}" height="14" fill="{bar.colour}" opacity=".3"/>'
            f'<text x="{left + inner + outer + 6:.1f}" y="{y + 11}" class="soft">{number(total)}</text></g>'
        )
    return _figure(title, "".join(rows), 16 + len(ordered) * 20)


def lines(title: str, xs: Sequence[float], series: Sequence[Line], *, y_label: str) -> str:
    """Lines over budgets on a scale of doublings; values are shares. Labels stand at the right end, pushed apart where they would meet."""
    right = max((len(line.label) for line in series), default=0) * _CHARACTER + 20
    frame = _Frame(math.log2(min(xs)), math.log2(max(xs)), right=right)
    marks = [frame.axes([(math.log2(x), f"{x:.0f}") for x in xs], "tokens of the whole prompt", y_label)]
    ends: list[tuple[float, str, str]] = []
    for line in series:
        known = [(frame.x(math.log2(x)), frame.y(y)) for x, y in zip(xs, line.values, strict=True) if y is not None]
        if not known:
            continue
        path = " ".join(f"{'M' if not place else 'L'}{x:.1f},{y:.1f}" for place, (x, y) in enumerate(known))
        dash = ' stroke-dasharray="5 3"' if line.dashed else ""
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{line.colour}"/>' for x, y in known)
        marks.append(
            f"<g><title>{escape(line.label)}</title>"
            f'<path d="{path}" fill="none" stroke="{line.colour}" stroke-width="1.8"{dash}/>{dots}</g>'
        )
        ends.append((known[-1][1], line.label, line.colour))
    for y, (at, label, colour) in zip(_apart([end[0] for end in sorted(ends)]), sorted(ends), strict=True):
        marks.append(
            f'<path d="M{frame.right + 3:.1f},{at:.1f} L{frame.right + 11:.1f},{y:.1f}" stroke="{colour}" fill="none"/>'
            f'<text x="{frame.right + 14:.1f}" y="{y + 4:.1f}" fill="{colour}">{escape(label)}</text>'
        )
    height = max(_Frame.HEIGHT, 14 * len(ends) + 60)
    return _figure(title, "".join(marks), height)


def scatter(title: str, dots: Sequence[Dot], *, x_label: str, y_label: str) -> str:
    """Points with their intervals; those on the front are filled, joined and named."""
    longest = max((len(dot.label) for dot in dots if dot.front), default=0)
    low, high = min(dot.x for dot in dots), max(dot.x for dot in dots)
    pad = (high - low) * 0.08 or max(1.0, high * 0.05)
    frame = _Frame(low - pad, high + pad, right=longest * _CHARACTER + 16)
    ticks = [(value, number(value)) for value in _ticks(low, high)]
    marks = [frame.axes(ticks, x_label, y_label)]
    front = sorted((dot for dot in dots if dot.front), key=lambda dot: (dot.x, dot.y))
    if len(front) > 1:
        path = " ".join(f"{'M' if not i else 'L'}{frame.x(d.x):.1f},{frame.y(d.y):.1f}" for i, d in enumerate(front))
        marks.append(f'<path d="{path}" class="front"/>')
    for dot in sorted(dots, key=lambda dot: dot.front):
        x, y = frame.x(dot.x), frame.y(dot.y)
        fill = dot.colour if dot.front else "none"
        marks.append(
            f"<g><title>{escape(dot.label)}: {dot.x:,.0f} tokens, {dot.y:.2f} [{dot.low:.2f}, {dot.high:.2f}]</title>"
            + (
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame.y(dot.low):.1f}" y2="{frame.y(dot.high):.1f}" '
                f'stroke="{dot.colour}" opacity=".35"/>'
                if dot.front
                else ""
            )
            + f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{fill}" stroke="{dot.colour}" stroke-width="1.6"/></g>'
        )
    ends = sorted((frame.y(dot.y), frame.x(dot.x), dot.label, dot.colour) for dot in front)
    for y, (_, x, label, colour) in zip(_apart([end[0] for end in ends]), ends, strict=True):
        marks.append(f'<text x="{x + 9:.1f}" y="{y - 7:.1f}" fill="{colour}">{escape(label)}</text>')
    return _figure(title, "".join(marks), _Frame.HEIGHT)


class _Frame:
    HEIGHT = 260
    LEFT, TOP, BOTTOM = 56, 12, 42

    def __init__(self, low: float, high: float, *, right: float) -> None:
        self._low, self._high = low, high if high > low else low + 1
        self.right = WIDTH - right

    def x(self, value: float) -> float:
        return self.LEFT + (value - self._low) / (self._high - self._low) * (self.right - self.LEFT)

    def y(self, value: float) -> float:
        return self.TOP + (1 - value) * (self.HEIGHT - self.TOP - self.BOTTOM)

    def axes(self, ticks: Sequence[tuple[float, str]], x_label: str, y_label: str) -> str:
        """Rules at quarters and at the ticks, with their values, and the names of both axes."""
        parts = []
        for share in (0.0, 0.25, 0.5, 0.75, 1.0):
            y = self.y(share)
            parts.append(f'<line x1="{self.LEFT}" x2="{self.right:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="rule"/>')
            parts.append(f'<text x="{self.LEFT - 6}" y="{y + 4:.1f}" class="end soft">{share:.2f}</text>')
        base = self.y(0.0)
        for value, label in ticks:
            parts.append(f'<text x="{self.x(value):.1f}" y="{base + 16:.1f}" class="mid soft">{label}</text>')
        middle = (self.LEFT + self.right) / 2
        parts.append(f'<text x="{middle:.1f}" y="{base + 33:.1f}" class="mid soft">{escape(x_label)}</text>')
        parts.append(
            f'<text transform="translate(9,{self.y(0.5):.1f}) rotate(-90)" class="mid soft">{escape(y_label)}</text>'
        )
        return "".join(parts)


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round values between two bounds."""
    if high <= low:
        return [low]
    step = 10.0 ** math.floor(math.log10((high - low) / 3))
    while (high - low) / step > 6:
        step *= 2 if round(step / 10 ** math.floor(math.log10(step))) in (1, 5) else 2.5
    first = math.ceil(low / step)
    return [step * place for place in range(first, int(high / step) + 1)] or [low]


def _apart(places: Sequence[float], least: float = 13.0) -> list[float]:
    """Sorted places moved down so that no two are closer than `least`."""
    found: list[float] = []
    for place in places:
        found.append(max(place, found[-1] + least) if found else place)
    return found


def _figure(title: str, body: str, height: float) -> str:
    return (
        f"<figure><figcaption>{escape(title)}</figcaption>"
        f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title, quote=True)}">{body}</svg></figure>'
    )
