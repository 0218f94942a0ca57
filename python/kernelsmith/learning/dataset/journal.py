"""Reads a run: converts its journal to steps, and reads kept replies without keeping their texts."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..._errors import Error
from ..._run import Run
from ..client_records import is_unicode
from ..form import form_followed
from .figures import Figure
from .plain import plain, plain_reply
from .steps import RunSteps, Step, Texts, Verdict
from .tasks import read_task

# Features that mark accepted programs whose speed has a reason that no model should learn.
_DISHONEST = ("trivial", "degenerate", "algebraic")
# Replies in memory at the same time.
BATCH = 64


def read_run(folder: str | os.PathLike[str], keep: Callable[[RunSteps, Run], None]) -> RunSteps:
    """Raises Error if the folder is not a run, or if the run kept no replies. `keep` receives the opened
    run."""
    stored = Run.open(folder)
    events = stored.events()
    started = [event for event in events if event["event"] == "session_started"]
    run = RunSteps(stored.id, str(folder), read_task(Path(folder), _seed(events)),
                   started[-1]["version"] if started else "", len(events))
    opened = {event["ticket"]: event for event in events if event["event"] == "ticket_opened"}
    outcomes: dict[int, str] = {}
    for event in events:
        if event["event"] == "proposal_arrived":
            _take_proposal(run, event, outcomes)
        elif event["event"] == "evaluation_arrived":
            _take_evaluation(run, event, opened[event["ticket"]], outcomes)
    _forget_repeats(run, {row["id"] for row in stored.programs()}, outcomes)
    asked = [ticket for ticket, event in opened.items() if "op" in event and ticket in outcomes]
    for ticket, texts in zip(asked, _looked_at(stored, asked), strict=True):
        run.steps.append(_step(run, opened[ticket], outcomes[ticket], texts))
    if not any(step.texts for step in run.steps):
        raise Error("the run kept no replies, from which a data set is made", "bad_input", str(folder),
                    "set proposer.keep.text: true in run.yaml, or begin runs with --for-training")
    keep(run, stored)
    return run


def _seed(events: Sequence[Mapping[str, Any]]) -> str:
    """The first program's text, for runs without a task folder."""
    for event in events:
        if event["event"] == "proposal_arrived" and "child" in event["proposal"]:
            return _code_of(event["proposal"]["child"])
    return ""


def joined(files: Mapping[str, str]) -> str:
    """The files as one text. Several files are separated by their names."""
    if len(files) == 1:
        return next(iter(files.values()))
    return "\n".join(f"=== {path} ===\n{text}" for path, text in files.items())


def _code_of(child: Mapping[str, Any]) -> str:
    return joined({plain(file["path"]): plain(file["text"]) for file in child["source"]})


def _take_proposal(run: RunSteps, event: Mapping[str, Any], outcomes: dict[int, str]) -> None:
    ticket, child = event["ticket"], event["proposal"].get("child")
    outcomes[ticket] = "given back" if child else "refused"  # until an evaluation comes
    if child:
        run.parents[ticket] = tuple(child["parents"])
        run.origins[ticket] = child["origin"]
        run.codes[ticket] = _digest(_code_of(child).strip())


def _take_evaluation(run: RunSteps, event: Mapping[str, Any], opened: Mapping[str, Any], outcomes: dict[int, str]) -> None:
    ticket, program, evaluation = event["ticket"], event["program"], event["evaluation"]
    if "remeasurement" not in opened:
        outcomes[ticket] = "evaluated" if event["source"] == "evaluated" else "repeat"
    if event["source"] != "evaluated":
        return
    run.verdicts[program] = _verdict(evaluation)
    run.told.setdefault(program, json.dumps({**evaluation, "report": {**evaluation["report"], "shapes": [], "artifacts": []}}))
    incumbent, report = opened.get("incumbent"), evaluation["report"]
    if incumbent is not None and "duel" in report:
        run.duels[program, incumbent] = Figure(*(report["duel"][end] for end in ("median", "low", "high")))
    if incumbent is not None and "incumbent_failed" in report:
        run.verdicts[incumbent] = Verdict(False, "duel: the incumbent failed")


def _forget_repeats(run: RunSteps, programs: set[int], outcomes: dict[int, str]) -> None:
    """A program has no number of its own if an earlier ticket, evaluated later, turned out to have its binary."""
    for ticket in run.verdicts.keys() - programs:
        del run.verdicts[ticket]
        outcomes[ticket] = "repeat"


def _verdict(evaluation: Mapping[str, Any]) -> Verdict:
    report = evaluation["report"]
    if not evaluation["accepted"]:
        return Verdict(False, f"{evaluation['stage']}: {evaluation['code']}", hardware=report["hardware"])
    metrics = evaluation["metrics"]
    features = metrics["features"]
    score = Figure.read(report.get("over_yardstick"))
    return Verdict(True, dishonest=next((name for name in _DISHONEST if features.get(name, 0) > 0), ""),
                   score=score or Figure.read(metrics["fitness"]), score_of="yardstick" if score else "fitness",
                   speedup=Figure.read(report.get("speedup")), own_share=features.get("own_share"),
                   hardware=report["hardware"], toolchain=report["toolchain"],
                   binary=report.get("binary", ""))


def _step(run: RunSteps, opened: Mapping[str, Any], outcome: str, texts: Texts | None) -> Step:
    parent = opened.get("parent")
    shown = (() if parent is None else (parent,)) + tuple(opened["top"] + opened["inspirations"] + opened["failures"])
    model = (texts.model if texts else "") or opened["model"]
    return Step(run, opened["ticket"], opened["op"], model, parent, shown, outcome, texts)


def _looked_at(stored: Run, tickets: Sequence[int]) -> Iterator[Texts | None]:
    for at in range(0, len(tickets), BATCH):
        for reply in stored.replies(tickets[at:at + BATCH]):
            yield None if reply is None or "user" not in reply else _texts(plain_reply(reply))


def _texts(reply: Mapping[str, Any]) -> Texts:
    system, user = reply.get("system", ""), reply["user"]
    return Texts(_digest(system), _digest(user), bool(reply.get("cut")),
                 all(map(is_unicode, (system, user, reply["text"], reply.get("reasoning", "")))),
                 reply["model"], reply.get("finish_reason"), form_followed(f"{system}\n{user}", reply["text"]))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()
