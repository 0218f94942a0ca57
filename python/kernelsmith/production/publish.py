"""`kernelsmith publish`: makes a package from confirmed bests."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._errors import Error
from .capability import capability_of
from .facts import facts_of
from .held_out import Judge
from .held_out_report import kept_results
from .hub import layer_of, licence_of
from .own_tests import LOG, Tested, own_tests
from .package import write_documents, write_package
from .references import best_of_each
from .winners import Winner, winners
from .workloads import at_workloads

KINDS = ("module", "torch-op", "hf-kernel", "patch")


@dataclass(frozen=True)
class Request:
    """The command line's settings for publishing."""

    runs: list[Path]
    kind: str
    out: Path
    name: str | None = None
    between: bool = False
    capability: str | None = None
    licence: str | None = None
    repo_id: str | None = None
    force: bool = False


@dataclass(frozen=True)
class Published:
    """`overridden`: the problems that --force ignored."""

    request: Request
    package: Path
    facts: dict[str, Any]
    winner: Winner
    words: dict[str, str]
    tested: Tested
    notes: list[str]

    @property
    def overridden(self) -> list[str]:
        return list(self.facts["overridden"])

    def write_documents(self) -> None:
        """Writes the report and package.json again, with the facts known so far."""
        write_documents(self.request.out, self.package, self.request.kind, self.facts, self.winner, self.words)


def publish(request: Request, judge: Judge | None = None) -> Published:
    """Makes and tests the package. Without a GPU its own tests check only the fallback, and say so. Raises
    Error."""
    found = winners(request.runs, force=request.force)
    name = request.name or re.sub(r"\W", "_", found[0].task)
    if not name.isidentifier():
        raise Error("a package's name is a Python name", "invalid_argument", f"--name {name}")
    placed, left_out = _placed(request, found)
    facts = facts_of(name, placed, capability_of(found[0].hardware, request.capability), between=request.between)
    if request.between and not facts["between"]:
        raise Error("--between needs runs at different sizes, and these have one", "invalid_argument", "--between",
                    "give more runs, or leave it out")
    facts["held_out"], not_held = _held_out(request, found, judge)
    notes, more = _more(request, facts, placed)
    package = write_package(request.out, request.kind, facts, placed, more)
    tested = own_tests(request.out, request.kind)
    refusal = _refusal(request, tested)
    facts["tests"] = asdict(tested)
    facts["overridden"] = [*(doubt for winner in found for doubt in winner.doubts), *not_held,
                           *(f"one of its own tests failed: {failure}" for failure in tested.failures),
                           *([refusal.message] if refusal and not tested.failures else [])]
    facts["refused"] = refusal is not None and not request.force
    made = Published(request, package, facts, placed[0], more, tested, [*left_out, *notes])
    made.write_documents()
    if refusal and facts["refused"]:
        raise refusal
    return made


def _placed(request: Request, found: list[Winner]) -> tuple[list[Winner], list[str]]:
    """The winners at their workloads, and notes. Raises Error."""
    placed, notes = [], []
    for winner in found:
        some, note = at_workloads(winner, force=request.force)
        placed += some
        notes += [note] if note else []
    return placed, notes


def _held_out(request: Request, found: list[Winner], judge: Judge | None) -> tuple[list[str], list[str]]:
    """The report's text, and the failed checks. Raises Error for failed checks, unless --force is given."""
    said, not_held = [], []
    for winner in best_of_each(found):
        try:
            results = kept_results(winner, judge)
        except Error as failed:
            if not request.force:
                raise
            said.append(f"not measured: {failed.message}")
            not_held.append(f"held-out shapes were not measured: {failed.message}")
            continue
        failing = [result.words for result in results if not result.holds]
        if failing:
            not_held.append(f"overfitted: the win does not hold on held-out shapes: {'; '.join(failing)}")
            if not request.force:
                raise Error(not_held[-1], "refused", str(winner.folder),
                            "continue the search with more shapes, or publish it with --force")
        said += [result.words + ("" if result.holds else " (overfitted)") for result in results]
    return said, not_held


def _more(request: Request, facts: dict[str, Any], found: list[Winner]) -> tuple[list[str], dict[str, str]]:
    words = {"distribution": facts["name"].replace("_", "-"), "bucket_count": str(len(facts["buckets"])),
             "capability_texts": ", ".join(f'"{major}.{minor}"' for major, minor in facts["capabilities"])}
    if request.kind != "hf-kernel":
        return [], words
    layer, why_not = layer_of(facts, found[0])
    name = facts["name"].replace("_", "-")
    return [why_not] if why_not else [], {**words, "licence": licence_of(found[0], request.licence), "layer": layer,
                                          "repo_id": request.repo_id or f"kernelsmith/{name}"}


def _refusal(request: Request, tested: Tested) -> Error | None:
    if tested.failures:
        return Error(f"the package's own tests failed ({tested.words}): {tested.failures[0]}", "refused",
                     str(request.out / LOG), "the package is there for inspection; --force publishes it all the same")
    if request.between and not tested.kernels:
        return Error("sizes between those measured must be checked, and no kernel runs here", "unsupported", "--between",
                     "publish on a machine with such a GPU, or leave --between out")
    return None
