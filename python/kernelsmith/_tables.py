"""Results for notebooks: small tables with escaped foreign text."""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import Any

from ._words import clock, code_point, is_odd, measured, number

_LAST_LINES = 12  # the end of diagnostics, where compilers and tracebacks put the error
_STYLE = "text-align: left; white-space: pre-wrap"


def _text(foreign: str) -> str:
    """Escapes for HTML; shows characters that hide or reorder others as code points."""
    return "".join(code_point(one) if is_odd(one) else html.escape(one) for one in foreign)


def _table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    kept = [(name, str(value)) for name, value in rows if value not in (None, "")]
    lines = "".join(f'<tr><th>{_text(name)}</th><td style="{_STYLE}">{_text(value)}</td></tr>' for name, value in kept)
    return f"<table><caption>{_text(title)}</caption>{lines}</table>"


def _verdict(evaluation: Any) -> list[tuple[str, Any]]:
    if evaluation.accepted:
        value, interval = measured(evaluation.measurement)
        return [("fitness", f"{value} {interval}".strip()), ("speedup", _speedup(evaluation)),
                *((name, number(one)) for name, one in evaluation.features.items())]
    told = (evaluation.diagnostics or "").strip().splitlines()
    return [("rejected", f"{evaluation.stage}, {evaluation.code}"), ("diagnostics", "\n".join(told[-_LAST_LINES:]))]


def _speedup(evaluation: Any) -> str | None:
    return None if evaluation.speedup is None else " ".join(measured(evaluation.speedup)).strip()


def evaluation(one: Any) -> str:
    return _table("Evaluation", _verdict(one))


def program(one: Any) -> str:
    parents = ", ".join(map(str, one.parents))
    return _table(f"Program {one.id}", [("origin", one.origin), ("parents", parents), ("files", ", ".join(one.source.files)),
                                        *_verdict(one.evaluation)])


def outcome(one: Any) -> str:
    counts = one.counts
    best = one.best
    rows = [("ended", " ".join(filter(None, (one.reason, one.budget)))), ("error", one.error),
            ("iterations", counts["iterations"]),
            ("evaluations", f"{counts['evaluations']}, {counts['rejected']} rejected"),
            ("cost", f"{one.usd:.4f} USD" if one.usd else None), ("time", clock(one.elapsed_s))]
    if best is not None:
        rows += [("best", f"program {best.id}, {best.origin}"), *_verdict(one.confirmation or best.evaluation)]
    return _table("Outcome", rows)


def evolution(one: Any) -> str:
    rows = [("best score", number(one.best_score)), *one.metrics.items(), ("folder", one.output_dir)]
    return _table("EvolutionResult", rows)
