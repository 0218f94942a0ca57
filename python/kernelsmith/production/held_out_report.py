"""Held-out results of runs, measured once after the search, kept in the run folder and reported separately."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from .._errors import Error
from .._files import write
from .held_out import FILE, Judge, Result, cases_of, results_of
from .references import digest
from .winners import Winner, winners

KEPT = "held_out.json"


@dataclass(frozen=True)
class Reported:
    """A run's results, or why there are none. `searched` is the winner's speedup on the searched shapes."""

    run: Path
    searched: float | None
    results: list[Result]
    why_not: str = ""

    @property
    def is_overfitted(self) -> bool:
        return not all(result.holds for result in self.results)

    def lines(self) -> list[str]:
        if self.searched is None:
            return [f"{self.run}: not measured: {self.why_not}"]
        unseen = "overfitted: the win does not hold on shapes that the search did not see"
        verdict = unseen if self.is_overfitted else "it holds"
        return [f"{self.run}: {self.searched:.2f}x where it was searched; {verdict}",
                *(f"  {result.words}{'' if result.holds else ' (overfitted)'}" for result in self.results)]


def kept_results(winner: Winner, judge: Judge | None = None) -> list[Result]:
    """The results in the run folder for this winner and these cases. Measures and stores those that are
    missing. Raises Error."""
    cases = cases_of(winner)
    key = digest(winner.text, json.dumps(cases))
    file = winner.folder / KEPT
    if file.exists():
        kept = json.loads(file.read_text())
        if kept["key"] == key:
            return [Result(**each) for each in kept["results"]]
    results = results_of(winner, judge)
    if cases:
        write(file, (json.dumps({"key": key, "results": [asdict(each) for each in results]}, indent=2) + "\n").encode())
    return results


def has_cases(folder: Path) -> bool:
    """Whether the folder is a run whose task has held-out cases."""
    return (folder / "task" / FILE).exists()


def runs_in(folder: Path) -> list[Path]:
    """The folder itself, or a suite's run folders below it."""
    return [folder] if has_cases(folder) else sorted(file.parent.parent for file in folder.rglob(f"task/{FILE}"))


def reported(folders: Iterable[Path], judge: Judge | None = None) -> list[Reported]:
    """A report for each run with held-out cases. If a run cannot be measured, its report has the reason."""
    found = []
    for run in folders:
        try:
            [winner] = winners([run], force=True)
            found.append(Reported(run, winner.speedup["median"], kept_results(winner, judge)))
        except Error as failed:
            found.append(Reported(run, None, [], failed.message))
    return found


def text_of(reports: list[Reported]) -> str:
    return "\n".join(["held out", *(line for report in reports for line in report.lines())]) + "\n" if reports else ""
