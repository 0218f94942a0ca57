"""Recovers data about tickets from a run folder's journal, for lines that a kill kept out of
history.jsonl."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .. import _core
from .._run import Run

_KINDS = {"evaluated": "evaluated", "cached": "repeated", "same_binary": "repeated"}


@dataclass(frozen=True)
class Stored:
    """A commit from the journal."""

    ticket: int
    island: int
    kind: str
    program: _core.Program | None
    refusal: _core.Refusal | None = None
    new_best: bool = False
    error: str | None = None


def commits_of(run: Run, known: set[int], *, in_order: bool) -> Iterator[Stored]:
    """The tickets that took effect and are not `known`. `in_order` is for a deterministic search, in which
    tickets take effect in order."""
    islands: dict[int, int] = {}
    refusals: dict[int, _core.Refusal] = {}
    ended: dict[int, str] = {}
    for event in run.events():
        ticket = event.get("ticket", -1)
        if event["event"] == "ticket_opened":
            islands[ticket] = event["island"]
        elif event["event"] == "proposal_arrived" and "refusal" in event["proposal"]:
            refusal = event["proposal"]["refusal"]
            refusals[ticket] = _core.Refusal(refusal["detail"], refusal["code"])
        elif event["event"] == "evaluation_arrived":
            ended.setdefault(ticket, _KINDS[event["source"]])
        elif event["event"] == "ticket_closed":
            ended.setdefault(ticket, "refused" if ticket in refusals else "given_back")
    for at, ticket in enumerate(sorted(ended) if in_order else ended):
        if in_order and at != ticket:  # an earlier ticket is still open
            return
        kind = ended[ticket]
        if ticket not in known and kind != "given_back":
            yield Stored(ticket, islands[ticket], kind, run.program(ticket) if kind == "evaluated" else None,
                         refusals.get(ticket))
