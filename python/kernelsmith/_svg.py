"""Pictures as SVG inside an HTML page."""

from __future__ import annotations

import html
import io
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import _style
from ._history import History

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What a page may give other values, as its variables.
VARIABLES = {
    _style.INK: "--ink", _style.MUTED: "--muted", _style.GRID: "--grid", _style.DOTS: "--dots",
    _style.ACCENT: "--accent", _style.AGAIN: "--again", _style.BAD: "--bad",
    **{colour: f"--{origin}" for origin, colour in _style.ORIGINS.items()},
}


def picture(history: History, draw: Callable[[History, Axes], None], name: str, says: str, width: float) -> str:
    """The panel as an `svg` element; `name` makes its identifiers the only ones on the page, `says` is for readers
    that cannot see it. `width` in inches sets how large its texts are beside it."""
    _style.needs_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 3.9), layout="constrained")
    draw(history, figure.add_subplot())
    file = io.BytesIO()
    figure.savefig(file, format="svg", transparent=True)
    return _inline(file.getvalue().decode(), name, says)


def _inline(document: str, name: str, says: str) -> str:
    text = document[document.index("<svg"):]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    # Its style sheet would be the page's; the page has these two rules for pictures.
    text = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    head, body = text.split(">", 1)
    box = re.search(r'viewBox="[^"]*"', head)
    head = f'<svg {box.group() if box else ""} role="img" aria-label="{html.escape(says)}"'
    return head + ">" + _coloured(_renamed(body.replace("xlink:href", "href"), name))


def _renamed(text: str, name: str) -> str:
    """With identifiers that tell the picture, and that do not differ from one time to the next."""
    numbers = {old: f"{name}-{at}" for at, old in enumerate(dict.fromkeys(re.findall(r'\bid="([^"]*)"', text)))}
    text = re.sub(r'\bid="([^"]*)"', lambda found: f'id="{numbers[found[1]]}"', text)
    text = re.sub(r'href="#([^"]*)"', lambda found: f'href="#{numbers.get(found[1], found[1])}"', text)
    return re.sub(r"url\(#([^)]*)\)", lambda found: f"url(#{numbers.get(found[1], found[1])})", text)


def _coloured(text: str) -> str:
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: f"var({VARIABLES[found[0]]})" if found[0] in VARIABLES else found[0],
                  text)
