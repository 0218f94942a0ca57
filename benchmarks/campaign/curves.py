"""The picture of a campaign: the best so far by the number of calls, as an SVG whose colours follow light and dark pages."""

from __future__ import annotations

import math

from picture import COLOURS, STYLE

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 520, 260, 52, 34, 44, 170
# The bars of the arms stand side by side to the right of the curves.
BAR_STEP = 12
# Ticks of the axis are at least so far from each other.
LINE = 18


def _ticks(highest: float) -> list[float]:
    """Speedups from 1 to the highest, as people write them, and no nearer to each other than a line of text is high."""
    shown = [1.0]
    for step in (1.02, 1.05, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 1000):
        if step <= highest and HEIGHT * math.log(step / shown[-1]) / math.log(highest) >= LINE:
            shown.append(step)
    return shown


def svg(curves: dict[str, list[float]], figures: list[dict]) -> str:
    """`curves` holds a speedup of at least 1 for each call, by arm. The bars are the 95 % intervals of `figures`: what was measured
    again at the end."""
    highest = max([1.1, *(one["speedup_high"] for one in figures), *(value for curve in curves.values() for value in curve)])
    steps = max(len(curve) for curve in curves.values())
    bars = BAR_STEP * (len(curves) + 1)

    def x(call: int) -> float:
        return LEFT + WIDTH * call / steps

    def y(speedup: float) -> float:
        return TOP + HEIGHT * (1 - math.log(speedup) / math.log(highest))

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + bars + LEGEND} {TOP + HEIGHT + BOTTOM}" role="img">',
             STYLE, f'<text x="{LEFT}" y="{TOP - 14}">best speedup so far, geometric mean over the problems</text>',
             f'<path class="axis" d="M{LEFT} {TOP}v{HEIGHT}h{WIDTH + bars}"/>']
    parts += [f'<text x="{LEFT - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{tick:g}x</text>' for tick in _ticks(highest)]
    parts += [f'<text x="{x(call):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{call}</text>'
              for call in sorted({1, max(1, steps // 2), steps})]
    parts.append(f'<text x="{LEFT + WIDTH / 2:.0f}" y="{TOP + HEIGHT + 36}" text-anchor="middle">calls to the model</text>')
    for number, (figure, (arm, curve)) in enumerate(zip(figures, curves.items(), strict=True)):
        colour = COLOURS[number % len(COLOURS)]
        points = "L".join(f"{x(call):.1f} {y(value):.1f}" for call, value in enumerate(curve, 1))
        parts.append(f'<path class="curve" stroke="{colour}" d="M{points}"/>')
        at = LEFT + WIDTH + BAR_STEP * (number + 1)
        parts.append(f'<path class="curve" stroke="{colour}" d="M{at} {y(figure["speedup_low"]):.1f}V{y(figure["speedup_high"]):.1f}"/>')
        parts.append(f'<circle cx="{at}" cy="{y(figure["speedup"]):.1f}" r="3.5" fill="{colour}"/>')
        left, top = LEFT + WIDTH + bars + 14, TOP + 14 + 20 * number
        parts.append(f'<path class="curve" stroke="{colour}" d="M{left} {top}h22"/>')
        parts.append(f'<text x="{left + 28}" y="{top + 4}">{arm}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"
