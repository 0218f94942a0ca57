"""A run as one HTML page: what was found, the pictures, the best program's changes, and what went wrong.

    >>> import kernelsmith as ks, kernelsmith.report                        # doctest: +SKIP
    >>> ks.report.report(ks.Run.open("hill.run"), "hill.html")              # doctest: +SKIP

The page stands alone: it loads nothing and runs no script. It needs matplotlib: pip install 'kernelsmith-engine[plot]'.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import _core, _page, plot
from ._history import History
from ._page import Raw, card, diff, folded, listing, note, section, table
from ._run import Run
from ._svg import picture
from ._words import clock, counted, measured, number, visible
from ._writing import write

__all__ = ["report"]

# A lineage of thousands of steps is in the run; these are from its end.
_STEPS = 40
# Of a diagnostics text: its beginning and its end, where compilers and tracebacks say what is wrong.
_DIAGNOSTICS_LINES = 30

# Inches of pictures that are as wide as the page and as half of it: their letters are equally large then.
_BROAD, _NARROW = 12.6, 6.2

_ENDS = {
    "budget": ("ended", "its budget is used up"),
    "exhausted": ("ended", "nothing new was found to propose"),
    "refused": ("ended", "the task is not usable: its seed was rejected"),
}


def report(run: Run, out: str | os.PathLike[str]) -> None:
    """Writes the page to `out`, in place of what stands there. Raises Error."""
    history = History.of(run)
    name = Path(run.folder).name
    write(Path(out), _page.page(f"{visible(name)}: kernelsmith report", _body(history, name)).encode())


def _body(history: History, name: str) -> Iterator[str]:
    yield f"<header><h1>{_page.text(visible(name))}</h1>{_cards(history)}</header>"
    yield _pictures(history)
    yield from _best_program(history)
    yield from _lineage(history)
    yield from _failures(history)
    yield from _models(history)
    run = history.run
    yield f"<footer>Run {_page.text(run.id)}, archive {_page.text(run.digest[:16])}. " \
          f"Made by kernelsmith {_page.text(_core.__version__)}.</footer>"


def _cards(history: History) -> str:
    run, counts = history.run, history.run.counts
    made = [_best_card(run)]
    made.append(card("Programs", f"{counts['accepted']:,} accepted", f"{counts['rejected']:,} rejected",
                     _nonzero(counts, "repeated", "repeat"),
                     _nonzero(counts, "refused", "proposal", " without a child"),
                     _nonzero(counts, "demoted", "former best", " that did not hold")))
    made.append(card("State", *_state(history)))
    made.append(card("Used", counted(counts["iterations"], "iteration"), counted(counts["evaluations"], "evaluation"),
                     f"{clock(run.elapsed_s)} of wall time"))
    calls = sum(row["calls"] for row in history.cost)
    if calls:
        usd = sum(row["usd"] for row in history.cost)
        tokens = sum(row["input_tokens"] + row["output_tokens"] for row in history.cost)
        made.append(card("Cost", f"{number(usd)} USD" if usd > 0 else "price unknown", counted(calls, "call"),
                         counted(tokens, "token")))
    return '<div class="cards">' + "".join(made) + "</div>"


def _best_card(run: Run) -> str:
    evaluation = run.best_evaluation
    if run.best is None or evaluation is None:
        return card("Best", "none", "nothing was accepted")
    value, interval = measured(evaluation.speedup or evaluation.measurement)
    what = "speedup over the baseline" if evaluation.speedup else "fitness, higher is better"
    again = "" if evaluation == run.best.evaluation else "measured again at the end"
    return card("Best", value, interval, what, f"program {run.best.id} ({run.best.origin})", again)


def _nonzero(counts: dict[str, int], key: str, what: str, more: str = "") -> str:
    return counted(counts[key], what) + more if counts[key] else ""


def _state(history: History) -> tuple[str, str]:
    run, error = history.run, history.session_error
    if run.ended is not None:
        return _ENDS.get(run.ended, ("ended", run.ended))
    if run.in_use:
        return "under way", "as it stood when this page was made"
    if error is not None:
        where = f"{error['where']}: " if error.get("where") else ""
        return "stopped", f"an error ended the last session: {where}{error['message']} ({error['code']})"
    return "not at its end", "it can be resumed"


def _pictures(history: History) -> str:
    panels = plot.panels(history)
    drawn = []
    for at, (name, says, draw) in enumerate(panels):
        broad = at == 0 and len(panels) % 2 == 1  # where that leaves no gap
        svg = picture(history, draw, name, says, _BROAD if broad else _NARROW)
        drawn.append(f'<figure{" class=broad" if broad else ""}>{svg}</figure>')
    return '<section class="pictures">' + "\n".join(drawn) + "</section>"


def _best_program(history: History) -> Iterator[str]:
    best, evaluation = history.run.best, history.run.best_evaluation
    if best is None or evaluation is None:
        return
    shapes = [(one["shape"], _of_json(one.get("runtime_us")), _of_json(one.get("speedup")))
              for one in evaluation.report.get("shapes", []) if one["timed"]]
    if shapes:
        yield section("Timed shapes of the best", table(("shape", "time of a call", "speedup"), shapes))
    try:
        before, after = history.run.program(history.lineage[0]["id"]).source.files, best.source.files
    except UnicodeDecodeError:
        yield section("The best program", note("Its source is not UTF-8; the run's folder has it."))
        return
    lines = _page.changes(before, after)
    if lines:
        yield section("The best program, against the seed", diff(lines))
    elif lines is None:
        yield section("The best program", note("It and the seed are too long to be compared here."), *_listing(after))
    else:
        yield section("The best program", note("It is the seed, unchanged."), *_listing(after))


def _of_json(measurement: dict[str, Any] | None) -> str:
    if measurement is None:
        return "–"
    unit = measurement["unit"]
    made = _core.Measurement(measurement["median"], measurement["low"], measurement["high"], unit=unit)
    return " ".join(measured(made))


def _listing(files: dict[str, str]) -> Iterator[str]:
    for path, content in files.items():
        yield note(path) if len(files) > 1 else ""
        yield listing(content.removesuffix("\n").split("\n"))


def _lineage(history: History) -> Iterator[str]:
    steps = history.lineage
    if len(steps) < 2:
        return
    shown = list(enumerate(steps))[-_STEPS:]
    folds = [folded(f"Step {step}: program {row['id']} ({row['origin']}), "
                    + (f"fitness {number(row['fitness'])}" if row["accepted"] else f"rejected: {row['code']}"),
                    diff(row["diff"].removesuffix("\n").split("\n"))) for step, row in shown if row["diff"]]
    less = [note(f"The last {_STEPS} of {len(steps) - 1} steps.")] if len(shown) < len(steps) else []
    yield section("How it came about", *less, *folds)


def _failures(history: History) -> Iterator[str]:
    if history.failures:
        rows = [(row["stage"], row["code"], row["count"], _example(history, row)) for row in history.failures]
        yield section("Rejected programs", table(("stage", "code", "programs", "for example"), rows))
    if history.refusals:
        refused = [(name, count, Raw(listing(_cut(words)) if words else ""))
                   for name, (count, words) in history.refusals.items()]
        yield section("Proposals without a child", table(("code", "proposals", "the last one"), refused))


def _example(history: History, failure: dict[str, Any]) -> Raw:
    for row in history.programs:
        if row["stage"] == failure["stage"] and row["code"] == failure["code"]:
            words = row["diagnostics"]
            return Raw(f"program {row['id']}" + (listing(_cut(words)) if words else ", without further words"))
    return Raw("")


def _cut(words: str) -> list[str]:
    lines = words.strip("\n").split("\n")
    left_out = len(lines) - _DIAGNOSTICS_LINES
    half = _DIAGNOSTICS_LINES // 2
    return lines if left_out <= 0 else [*lines[:half], f"… {counted(left_out, 'line')} left out …", *lines[-half:]]


def _models(history: History) -> Iterator[str]:
    rows = [(row["model"] or "(no name)", row["calls"], row["input_tokens"], row["output_tokens"],
             number(row["usd"]) if row["usd"] > 0 else "–") for row in history.cost]
    if rows:
        yield section("Models", table(("model", "calls", "tokens in", "tokens out", "USD"), rows))
