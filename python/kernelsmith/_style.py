"""The style of pictures: colours, and axes without clutter. Imports matplotlib at first use."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from ._errors import Error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The colours of the page's light mode (service/ui/page/page.css).
INK = "#1f2430"
MUTED = "#687080"
GRID = "#e4e7ec"
DOTS = "#9aa3b2"
ACCENT = "#2563c9"
AGAIN = "#b3267a"
BAD = "#c2410c"
ORIGINS = {
    "seed": "#5b6472", "user": "#57606f", "translate": "#0e7490", "edit": "#0f8a6c", "rewrite": "#8b46c9",
    "crossover": "#b7791f", "tune": "#2f6fd6", "repair": "#d1495b",
}
SERIES = [*list(ORIGINS.values())[2:], *list(ORIGINS.values())[:2]]  # one for each stage


def needs_matplotlib() -> ModuleType:
    """Imports matplotlib. Raises Error `tool_missing` if it is not installed."""
    try:
        import matplotlib.figure
    except ImportError as missing:
        raise Error("pictures need matplotlib, which is not installed", "tool_missing", "kernelsmith.plot",
                    "pip install matplotlib") from missing
    return matplotlib


def plain(axes: Axes, title: str, x: str = "", y: str = "", grid: Literal["x", "y", ""] = "y") -> None:
    """Title, labels, two thin spines and a light grid."""
    _title(axes, title, 10)
    axes.set_facecolor("none")
    for side, spine in axes.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(DOTS)
    axes.tick_params(colors=MUTED, labelsize=9, length=3, width=0.8)
    for text, set_label in ((x, axes.set_xlabel), (y, axes.set_ylabel)):
        words(set_label(text, fontsize=9, color=MUTED))
    if grid:
        axes.grid(axis=grid, color=GRID, linewidth=0.8)
        axes.set_axisbelow(True)


def words(text: Any) -> Any:
    """Shows the text literally: a formula in it would come from a candidate or user, not from us."""
    text.set_parse_math(False)
    return text


def ticks(labels: list[Any]) -> None:
    for label in labels:
        words(label)


def whole_numbers(axis: Any) -> None:
    """Ticks only at whole numbers, with separators of thousands."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def nothing(axes: Axes, title: str, why: str) -> None:
    """Makes a panel that says why it is empty."""
    plain(axes, title, grid="")
    for spine in axes.spines.values():
        spine.set_visible(False)
    axes.set_xticks([])
    axes.set_yticks([])
    words(axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", fontsize=10, color=MUTED))


def legend_above(axes: Axes) -> None:
    """A legend in the title's line, or below it if it does not fit."""
    most, in_a_row = 3, 4
    entries = len(axes.get_legend_handles_labels()[1])
    below = entries > most
    if below:
        _title(axes, axes.get_title(loc="left"), 10 + 16 * -(-entries // in_a_row))
    _legend(axes, loc="lower left" if below else "lower right", bbox_to_anchor=(0.0 if below else 1.0, 1.0),
            ncols=in_a_row, columnspacing=1.2)


def legend_inside(axes: Axes) -> None:
    _legend(axes, loc="upper left")


def _title(axes: Axes, title: str, pad: float) -> None:
    words(axes.set_title(title, loc="left", fontsize=11, fontweight="bold", color=INK, pad=pad))


def _legend(axes: Axes, **where: Any) -> None:
    made = axes.legend(frameon=False, fontsize=9, labelcolor=MUTED, handlelength=1.4, handletextpad=0.5,
                       borderaxespad=0.3, **where)
    ticks(made.get_texts())
