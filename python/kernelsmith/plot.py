"""Pictures of a run. They need matplotlib: pip install matplotlib.

    >>> import kernelsmith as ks, kernelsmith.plot                          # doctest: +SKIP
    >>> ks.plot.figure(ks.Run.open("hill.run")).savefig("hill.svg")         # doctest: +SKIP

`figure` draws every panel that has data. Each other function draws one panel on axes that you pass. pyplot is
not used, and its state does not change.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from . import _style
from ._archive_map import draw as _draw_archive
from ._history import History, clamped
from ._run import Run
from ._style import ACCENT, AGAIN, BAD, DOTS, INK, MUTED, ORIGINS, SERIES
from ._words import counted, measured, number, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["archive", "best", "cost", "failures", "figure", "lineage", "panels"]

# With more steps than this there is no room for the programs' numbers or for markers with an edge.
_NUMBERED_STEPS = 12
# This share of the worst programs may be outside of the picture, because a very bad one would flatten all others.
_LEFT_OUT = 0.05


def best(run: Run | History, axes: Axes) -> None:
    """Draws the best so far over evaluated programs, with its interval. Accepted programs are dots, and
    rejected programs are ticks."""
    history = History.of(run)
    rows, steps = history.programs, history.best
    title = "Best so far"
    if not steps:
        why = "nothing was evaluated" if not rows else f"none of {counted(len(rows), 'program')} was accepted"
        return _style.nothing(axes, title, why)
    _style.plain(axes, title, "evaluated programs", _fitness_label(history))
    accepted = [(at, row["fitness"]) for at, row in enumerate(rows, start=1) if row["accepted"]]
    rejected = [at for at, row in enumerate(rows, start=1) if not row["accepted"]]
    axes.scatter([at for at, _ in accepted], [fitness for _, fitness in accepted], s=9, color=DOTS, alpha=0.55,
                 linewidths=0, label="accepted", rasterized=len(accepted) > 5000)
    if rejected:
        axes.scatter(rejected, [0.015] * len(rejected), s=22, marker="|", color=BAD, alpha=0.6, linewidths=0.9,
                     transform=axes.get_xaxis_transform(), label="rejected", rasterized=len(rejected) > 5000)
    at = [step.evaluated for step in steps] + [len(rows)]
    lines = [[getattr(step, name) for step in [*steps, steps[-1]]] for name in ("fitness", "low", "high")]
    axes.fill_between(at, lines[1], lines[2], step="post", color=ACCENT, alpha=0.18, linewidth=0)
    axes.step(at, lines[0], where="post", color=ACCENT, linewidth=1.8, label="best so far")
    axes.plot([step.evaluated for step in steps], [step.fitness for step in steps], "o", markersize=3.2, color=ACCENT)
    again = _confirmed(history)
    if again is not None:
        middle, low, high = map(clamped, again)
        axes.errorbar([len(rows)], [middle], yerr=[[middle - low], [high - middle]], fmt="D", markersize=6,
                      color=AGAIN, elinewidth=1.8, capsize=4, label="measured again", clip_on=False, zorder=5)
        lines[1].append(low)
        lines[2].append(high)
    lowest = sorted(fitness for _, fitness in accepted)[int(_LEFT_OUT * len(accepted))]
    bottom, top = min(lowest, *lines[1]), max(lines[2])
    room = (top - bottom) * 0.06 or abs(top) * 0.1 or 1.0
    axes.set_ylim(bottom - 1.6 * room, top + room)
    axes.set_xlim(0.5, max(len(rows), 2) + 0.5)
    _style.whole_numbers(axes.xaxis)
    _style.legend_above(axes)


def archive(run: Run | History, axes: Axes) -> None:
    """Draws the archive as a heat map over its first two axes. Each cell shows the best program over all
    other axes."""
    _draw_archive(History.of(run).run.archive, axes)


def lineage(run: Run | History, axes: Axes) -> None:
    """Fitness with its interval at each step from the seed to the best along the first parents, coloured by
    origin."""
    history = History.of(run)
    rows = history.lineage
    title = "Lineage of the best"
    if not rows:
        return _style.nothing(axes, title, "nothing was accepted")
    _style.plain(axes, title, "step", _fitness_label(history))
    few = len(rows) <= _NUMBERED_STEPS
    known = [(step, row) for step, row in enumerate(rows) if row["accepted"]]
    axes.plot([step for step, _ in known], [row["fitness"] for _, row in known], color=DOTS, linewidth=1.2, zorder=1)
    for origin in dict.fromkeys(row["origin"] for row in rows):
        colour = ORIGINS.get(origin, INK)
        mine = [(step, row) for step, row in known if row["origin"] == origin]
        widths = [[row["fitness"] - row["low"] for _, row in mine], [row["high"] - row["fitness"] for _, row in mine]]
        axes.errorbar([step for step, _ in mine], [row["fitness"] for _, row in mine], yerr=widths, fmt="o",
                      markersize=7 if few else 4.5, color=colour, elinewidth=1.2, capsize=2.5, label=origin)
    broken = [step for step, row in enumerate(rows) if not row["accepted"]]
    if broken:
        axes.scatter(broken, [0.03] * len(broken), marker="x", color=BAD, s=30, transform=axes.get_xaxis_transform(),
                     label="rejected")
    if few:
        for step, row in known:
            axes.annotate(f"#{row['id']}", (step, row["high"]), xytext=(0, 7), textcoords="offset points", ha="center",
                          fontsize=8, color=MUTED)
    axes.margins(x=0.08, y=0.18)
    _style.whole_numbers(axes.xaxis)
    _style.legend_above(axes)


def cost(run: Run | History, axes: Axes) -> None:
    """The cumulative cost of calls over proposals, by model: US dollars, or tokens if no price is known."""
    spent = History.of(run).spent
    title = "Cost"
    if spent is None:
        return _style.nothing(axes, title, "no model was asked")
    _style.plain(axes, f"{title} so far", "proposals", spent.unit)
    colours = [SERIES[at % len(SERIES)] for at in range(len(spent.by_model))]
    sums = [f"{shortened(model, 32) or '(no name)'}: {_amount(amounts[-1], spent.unit)}"
            for model, amounts in spent.by_model.items()]
    axes.stackplot(spent.proposals, list(spent.by_model.values()), labels=sums, colors=colours, alpha=0.75, step="post")
    axes.set_xlim(0, max(spent.proposals[-1], 1))
    _style.whole_numbers(axes.xaxis)
    if spent.unit == "tokens":
        _style.whole_numbers(axes.yaxis)
    axes.set_ylim(0, max(sum(amounts[-1] for amounts in spent.by_model.values()), 1e-9) * 1.25)
    _style.legend_inside(axes)


def failures(run: Run | History, axes: Axes) -> None:
    """The number of rejected programs by stage and code, in the order of the stages."""
    rows = History.of(run).failures
    title = "Failures"
    if not rows:
        return _style.nothing(axes, title, "no program was rejected")
    _style.plain(axes, title, "rejected programs", grid="x")
    stages = list(dict.fromkeys(row["stage"] for row in rows))
    counts = [row["count"] for row in rows]
    bars = axes.barh(range(len(rows)), counts, height=0.62,
                     color=[SERIES[stages.index(row["stage"]) % len(SERIES)] for row in rows])
    axes.bar_label(bars, labels=[f"{count:,}" for count in counts], padding=4, fontsize=9, color=INK)
    axes.set_yticks(range(len(rows)), [f"{row['stage']}: {row['code']}" for row in rows])
    axes.set_ylim(max(len(rows), 5) - 0.5, -0.5)
    axes.margins(x=0.12)
    _style.whole_numbers(axes.xaxis)


def panels(run: Run | History) -> list[tuple[str, str, Callable[[History, Axes], None]]]:
    """The available panels in order: a name, a description, and the function. Cost is included if models were asked,
    failures if there are any."""
    history = History.of(run)
    made: list[tuple[str, str, Callable[[History, Axes], None]]] = [
        ("best", "Best fitness so far over evaluated programs", best)]
    if history.run.best is not None:
        made += [("lineage", "Fitness along the lineage of the best", lineage),
                 ("archive", "Archive as a heat map", archive)]
    if history.spent is not None:
        made.append(("cost", "Cost of calls to models over proposals", cost))
    if history.failures:
        made.append(("failures", "Rejected programs by stage and code", failures))
    return made


def figure(run: Run) -> Figure:
    """All panels() in one figure, two in a row."""
    _style.needs_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    history = History.of(run)
    drawn = panels(history)
    # The first panel is as wide as two if that leaves no gap.
    wide = len(drawn) % 2
    rows = (len(drawn) + wide) // 2
    layout = ConstrainedLayoutEngine(w_pad=0.16, h_pad=0.14, wspace=0.04, hspace=0.04)
    made = Figure(figsize=(12, 3.9 * rows), layout=layout, facecolor="white")
    grid = made.add_gridspec(rows, 2)
    for at, (_, _, draw) in enumerate(drawn):
        place = at + wide if at else 0
        draw(history, made.add_subplot(grid[0, :] if wide and at == 0 else grid[place // 2, place % 2]))
    heading = made.suptitle(_heading(history), x=0.015, ha="left", fontsize=14, fontweight="bold", color=INK)
    _style.words(heading)
    return made


def _heading(history: History) -> str:
    name = shortened(Path(history.run.folder).name, 60)
    evaluation = history.run.best_evaluation
    if evaluation is None:
        return f"{name}: nothing was accepted"
    value, interval = measured(evaluation.speedup or evaluation.measurement)
    what = f"{value} {interval}".rstrip()
    return f"{name}: {what} over the baseline" if evaluation.speedup else f"{name}: best fitness {what}"


def _confirmed(history: History) -> tuple[float, float, float] | None:
    """The best's median, low and high if it was measured again with a different result."""
    once, again = history.run.best, history.run.best_evaluation
    measured = again.measurement if again else None
    if once is None or measured is None or measured == once.evaluation.measurement:
        return None
    return measured.median, measured.low, measured.high


def _fitness_label(history: History) -> str:
    return f"fitness ({history.unit})" if history.unit else "fitness"


def _amount(value: float, unit: str) -> str:
    return f"{value:,.0f} tokens" if unit == "tokens" else f"{number(value)} USD"
