"""The picture of docs/search-quality.md: the best so far by arm, as an SVG whose colours follow light and dark pages."""

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, LEGEND = 360, 260, 46, 34, 36, 150
# Okabe and Ito's colours, which can be told apart without seeing red or green.
COLOURS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#999999", "#7f7f00"]
STYLE = """<style>
text { font: 12px sans-serif; fill: #24292f } .axis { stroke: #8c959f; fill: none } .curve { fill: none; stroke-width: 1.6 }
.ours { stroke-width: 3 } @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
</style>"""


def svg(panels: list[tuple[str, dict[str, list[float]]]]) -> str:
    """A panel for each (title, curves by arm); a curve holds a value of 0 to 1 for each evaluation."""
    arms = list(panels[0][1])
    width = len(panels) * (WIDTH + LEFT) + LEGEND
    height = TOP + HEIGHT + BOTTOM
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">', STYLE]
    for i, (title, curves) in enumerate(panels):
        parts += _panel(LEFT + i * (WIDTH + LEFT), title, curves, arms)
    for i, arm in enumerate(arms):
        x, y = len(panels) * (WIDTH + LEFT) + 14, TOP + 14 + 20 * i
        parts.append(f'<path class="{_classes(arm)}" stroke="{COLOURS[i]}" d="M{x} {y}h22"/>')
        parts.append(f'<text x="{x + 28}" y="{y + 4}">{arm}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _classes(arm: str) -> str:
    return "curve ours" if arm == "ours" else "curve"


def _panel(left, title, curves, arms) -> list[str]:
    steps = max(len(curve) for curve in curves.values())
    parts = [f'<text x="{left}" y="{TOP - 12}">{title}</text>']
    parts.append(f'<path class="axis" d="M{left} {TOP}v{HEIGHT}h{WIDTH - 20}"/>')
    for value in (0, 0.5, 1):
        y = TOP + HEIGHT * (1 - value)
        parts.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{value:g}</text>')
    for step in (1, steps // 2, steps):
        x = left + (WIDTH - 20) * step / steps
        parts.append(f'<text x="{x:.0f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{step}</text>')
    for arm, curve in curves.items():
        points = (
            f"{left + (WIDTH - 20) * (i + 1) / steps:.1f} {TOP + HEIGHT * (1 - value):.1f}" for i, value in enumerate(curve)
        )
        parts.append(f'<path class="{_classes(arm)}" stroke="{COLOURS[arms.index(arm)]}" d="M{"L".join(points)}"/>')
    return parts
