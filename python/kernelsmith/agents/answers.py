"""The answers of tools: short texts that fit a model's context."""

from __future__ import annotations

from typing import Any

from .. import _core
from .._errors import Error
from .._run import Run
from .._words import number
from .desk import Verdict

MOST_CHARACTERS = 12_000  # limit of any answer
_MOST_DIAGNOSTICS = 3_000
# Features that the program's author can see in the program's text.
_OF_THE_TEXT = frozenset({"branches", "bytes", "calls", "complexity", "knobs", "lines", "loops", "max_nesting", "tokens"})


def tail(text: str, most: int) -> str:
    """The end of a text, cut between lines, and the number of characters left out before it."""
    if len(text) <= most:
        return text
    kept = text[-most:]
    kept = kept[kept.find("\n") + 1:] if "\n" in kept[:-1] else kept
    return f"[{len(text) - len(kept)} characters left out]\n{kept}"


def interval(measurement: _core.Measurement) -> str:
    """"1.83 (1.80 to 1.86)"."""
    return f"{measurement.median:.4g} ({measurement.low:.4g} to {measurement.high:.4g})"


_BY_ITSELF = ", measured again at the run's end, by itself"


def end(run: Run) -> str:
    """The result of an ended run."""
    head = f"The run is over ({run.ended or 'it was stopped'}); `best` and `history` can still be asked."
    shown = run.best_evaluation
    if run.best is None or shown is None or shown.measurement is None:
        return f"{head} No program was accepted."
    again = (f"{_BY_ITSELF}: that is the run's result, without the measurements that made the program win"
             if run.best.id in run.confirmed else ", which was not measured again")
    return f"{head} Its best is program {run.best.id}, fitness {interval(shown.measurement)}{again}."


def left(run: Run) -> str:
    """The evaluations left for an agent, and how the run ends."""
    number, ends = run.evaluations_left, "`finish` ends the run and measures its best again."
    if number is None:
        return f"evaluations are not limited. {ends}"
    if number > 1:
        return f"left: {number} evaluations, the last of them for a new program, not for `confirm`. The run ends with it; {ends}"
    return f"left: {number} evaluation, for a new program. The run ends with it, and with the next `submit`; {ends}"


def evaluation(one: _core.Evaluation) -> str:
    """An evaluation's verdict in a few lines."""
    if not one.accepted or one.measurement is None:
        said = tail((one.diagnostics or "").strip(), _MOST_DIAGNOSTICS)
        return f"rejected at {one.stage}: {one.code}" + (f"\n{said}" if said else "")
    ranked = f", ranked by {one.measurement.low:.4g}" if one.measurement.low < one.measurement.median else ""
    lines = [f"accepted, fitness {interval(one.measurement)}{ranked}; higher is better"]
    lines += [_shape(shape) for shape in one.report.get("shapes", [])[:12] if shape.get("timed")]
    measured = {name: value for name, value in one.features.items() if name not in _OF_THE_TEXT and "." not in name}
    if measured:
        lines.append("- " + ", ".join(f"{name} {number(value)}" for name, value in list(measured.items())[:24]))
    if one.report.get("advice"):
        lines.append(tail(str(one.report["advice"]), _MOST_DIAGNOSTICS))
    return "\n".join(lines)


def _shape(shape: dict[str, Any]) -> str:
    time, gain = shape.get("runtime_us"), shape.get("speedup")
    return f"- {shape['shape']}: " + ", ".join(
        ([f"{number(time['median'])} us"] if time else []) + ([f"{gain['median']:.3g} times the baseline's speed"] if gain else []))


def verdict(one: Verdict) -> str:
    """The answer of evaluate and submit."""
    lines = [f"program {one.program.id}: {evaluation(one.program.evaluation)}"]
    if one.known:
        lines.insert(0, "The run has this program already; it cost nothing.")
    if one.confirmation is not None:
        lines.append(f"measured again with care: {evaluation(one.confirmation)}")
        if one.confirmation.accepted:
            lines.append("The last line is this measurement alone. The first line is the program's result in the run: all its "
                         "measurements together, or, if the run had ended before, the measurement at its end alone.")
    if one.unconfirmed:
        lines.append(f"not measured again: {one.unconfirmed}")
    return "\n".join(lines)


def row(one: dict[str, Any], by_itself: bool) -> str:
    """A program in one line of a history."""
    made = f" from {', '.join(str(parent) for parent in one['parents'])}" if one["parents"] else ""
    if one["accepted"]:
        return f"{one['id']}: {one['fitness']:.4g} ({one['low']:.4g} to {one['high']:.4g}){_BY_ITSELF if by_itself else ''}, {one['origin']}{made}"
    said = (one["diagnostics"] or "").strip().splitlines() or [""]
    first = next((line for line in said if "error:" in line), said[0])[:120]
    return f"{one['id']}: rejected, {one['stage']}/{one['code']}, {one['origin']}{made}" + (f": {first}" if first else "")


def program(one: _core.Program, offset: int, by_itself: bool) -> str:
    """A program's files from character `offset` on. From offset 0 on, its verdict comes first."""
    head = f"program {one.id}, {one.origin}{_BY_ITSELF if by_itself else ''}: {evaluation(one.evaluation)}\n" if offset == 0 else ""
    return head + _files(one.source, offset)


def seed(source: _core.Source, offset: int) -> str:
    """The seed's files from character `offset` on, while the seed has no verdict."""
    return ("program 0, seed: not evaluated yet\n" if offset == 0 else "") + _files(source, offset)


def _files(source: _core.Source, offset: int) -> str:
    return piece("\n".join(f"--- {path}\n{text}" for path, text in source.files.items()), offset)


def piece(text: str, offset: int) -> str:
    """As much of a text from character `offset` on as fits, and how to get the rest. Raises Error for an
    offset below 0."""
    if offset < 0:
        raise Error("offset is 0 or more", "invalid_argument", "offset")
    whole = text.encode("utf-8", "replace").decode()
    part = whole[offset:offset + MOST_CHARACTERS]
    rest = len(whole) - offset - len(part)
    return part + (f"\n[{rest} characters follow: ask with offset={offset + len(part)}]" if rest > 0 else "")
