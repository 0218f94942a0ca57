"""The archive's heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _style
from ._history import LARGEST
from ._run import Archive
from ._style import GRID, MUTED
from ._words import number, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# With more cells than this in a row there is no room for their numbers or for lines between them.
_NUMBERED_CELLS = 10
_LINED_CELLS = 40
# More labels than this along an axis overlap.
_LABELS = 10
_LABEL_CHARACTERS = 16

_FRAME = "#e11d48"  # visible on all colours of the map


def draw(archive: Archive, axes: Axes) -> None:
    """Draws the map over the first two axes. Each cell shows the best program over all other axes."""
    import numpy

    title = "Archive"
    if len(archive) == 0:
        return _style.nothing(axes, title, "no cell is filled")
    grid = numpy.clip(archive.grid, -LARGEST, LARGEST)
    if grid.ndim == 0:
        return _style.nothing(axes, title, f"one cell, for the best: {number(float(grid))}")
    names = [axis["feature"] for axis in archive.axes]
    hidden = tuple(range(2, grid.ndim))
    # Empty cells count as minus infinity, so that a maximum over empty cells only is defined.
    best = numpy.where(numpy.isnan(grid), -numpy.inf, grid).max(axis=hidden) if hidden else grid
    best = numpy.where(numpy.isinf(best), numpy.nan, best)
    shown = best.reshape(1, -1) if grid.ndim == 1 else best.T
    filled = int(numpy.count_nonzero(~numpy.isnan(grid)))
    title += f": {filled:,} of {grid.size:,} cells"
    if hidden:
        title += ", best over " + ", ".join(shortened(names[axis], 16) for axis in hidden)
    _style.plain(axes, title, shortened(names[0], 48), "" if grid.ndim == 1 else shortened(names[1], 48), grid="")
    image = axes.imshow(shown, origin="lower", aspect="auto", interpolation="nearest", cmap="viridis")
    for spine in axes.spines.values():
        spine.set_visible(True)
    _lines(axes, shown.shape)
    _labels(axes.set_xticks, archive.axes[0]["labels"], turned=True)
    if grid.ndim == 1:
        axes.set_yticks([])
    else:
        _labels(axes.set_yticks, archive.axes[1]["labels"])
    if max(shown.shape) <= _NUMBERED_CELLS:
        _numbers(axes, image, shown)
    top = numpy.unravel_index(numpy.nanargmax(shown), shown.shape)
    _frame(axes, int(top[1]), int(top[0]))
    if numpy.nanmin(shown) == numpy.nanmax(shown):
        return
    bar = axes.figure.colorbar(image, ax=axes, pad=0.02, fraction=0.05)
    bar.outline.set_visible(False)
    bar.ax.tick_params(colors=MUTED, labelsize=8, length=2)
    _style.words(bar.ax.set_title("fitness", fontsize=8, color=MUTED, pad=6))


def _lines(axes: Axes, shape: tuple[int, ...]) -> None:
    """Draws lines between cells, so that empty cells are visible."""
    if max(shape) > _LINED_CELLS:
        return
    axes.set_xticks([at - 0.5 for at in range(1, shape[1])], minor=True)
    axes.set_yticks([at - 0.5 for at in range(1, shape[0])], minor=True)
    axes.grid(which="minor", color=GRID, linewidth=0.8)
    axes.tick_params(which="minor", length=0)


def _labels(set_ticks: Any, labels: list[str], turned: bool = False) -> None:
    step = -(-len(labels) // _LABELS)
    texts = [shortened(label, _LABEL_CHARACTERS) for label in labels[::step]]
    long = turned and sum(map(len, texts)) > 40
    placed = set_ticks(range(0, len(labels), step), texts, **(
        {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if long else {}))
    _style.ticks([tick.label1 for tick in placed])


def _numbers(axes: Axes, image: Any, shown: Any) -> None:
    import numpy

    for (y, x), value in numpy.ndenumerate(shown):
        if numpy.isnan(value):
            continue
        red, green, blue, _ = image.cmap(image.norm(value))
        dark = 0.3 * red + 0.59 * green + 0.11 * blue < 0.5
        axes.text(x, y, number(float(value)), ha="center", va="center", fontsize=7.5,
                  color="#ffffff" if dark else "#000000")


def _frame(axes: Axes, x: int, y: int) -> None:
    from matplotlib.patches import Rectangle

    axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, fill=False, edgecolor=_FRAME, linewidth=2))
