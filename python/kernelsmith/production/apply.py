"""`kernelsmith apply`: checks and measures a package in the whole model."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import write
from .hotspots import amdahl
from .models import Loaded, Wanted, load
from .packages import imported
from .runtime.pairs import Compared, alternate, timed
from .swap import Places, disagreements
from .torch_here import torch_here
from .whole import Agreement, agreements

_HEAD = "## In the whole"


@dataclass(frozen=True)
class Applied:
    """`modules` compares the swapped modules alone, and `whole` the model's steps; both are None unless
    measured."""

    model: str
    device: str
    places: list[str]
    agreements: list[Agreement]
    modules: Compared | None = None
    whole: Compared | None = None
    tokens: int | None = None

    @property
    def share(self) -> float:
        """The modules' share of a step's time. Modules and step are timed in the same way, so gaps between
        kernels count in both times."""
        return 0.0 if self.modules is None or self.whole is None else self.modules.old_us / self.whole.old_us

    @property
    def forecast(self) -> float:
        return 1.0 if self.modules is None else amdahl(self.share, self.modules.ratio)


def apply(folder: Path, wanted: Wanted, *, at: list[str], measure: bool, pairs: int = 30, steps: int = 10) -> Applied:
    """Writes the results into the package's report. Raises Error."""
    torch = torch_here()
    loaded = load(wanted, "cuda" if torch.cuda.is_available() else "cpu")
    package = imported(folder)
    places = Places(loaded, package, at)
    found = list(places.calls)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU"
    applied = Applied(loaded.name, device, found, agreements(loaded, package, found), tokens=loaded.tokens)
    if not all(each.agrees for each in applied.agreements):
        raise Error("the model's outputs differ with the package: " + "; ".join(map(str, applied.agreements)), "refused",
                    str(folder), "the package is not for this model")
    differing = {path: words for path in found if (words := disagreements(places.originals[path], package, places.calls[path]))}
    if differing:
        path, words = next(iter(differing.items()))
        raise Error(f"{len(differing)} of {len(found)} modules differ from the package: {path}, {'; '.join(words)}", "refused",
                    str(folder), "the package is not for these modules: name others with --at")
    if measure:
        applied = _measured(applied, loaded, places, pairs, steps)
    write(folder / "whole.json", (json.dumps(_as_json(applied), indent=2) + "\n").encode())
    _report(folder / "REPORT.md", said(applied))
    return applied


def _measured(applied: Applied, loaded: Loaded, places: Places, pairs: int, steps: int) -> Applied:
    if applied.agreements[0].served == 0:
        raise Error(f"no kernel of the package applies on this machine ({applied.device})", "unsupported", "--measure",
                    "measure on a GPU of the kind that the package names")
    on_gpu = torch_here().cuda.is_available()
    old, new = (timed(partial(_alone, places, modules), steps, on_gpu) for modules in (places.originals, places.swapped))
    alone = alternate(old, new, pairs)
    whole = alternate(_step(loaded, places, False, steps), _step(loaded, places, True, steps), pairs)
    return Applied(applied.model, applied.device, applied.places, applied.agreements, alone, whole, loaded.tokens)


def _alone(places: Places, modules: dict[str, Any]) -> None:
    for path, call in places.calls.items():
        modules[path](*call.args, **call.kwargs)


def _step(loaded: Loaded, places: Places, in_place: bool, steps: int) -> Any:
    """An arm. Before each measurement it checks that the package is in place (or not, by `in_place`)."""
    def with_places(run: Any) -> Any:
        places.put(in_place)
        try:
            places.require(loaded, in_place)
            return run()
        finally:
            places.put(False)

    made = with_places(lambda: timed(loaded.run, steps, torch_here().cuda.is_available()))
    return lambda: with_places(made)


def said(applied: Applied) -> str:
    """The result in Markdown, for the report and the terminal."""
    named = ", ".join([*applied.places[:6], *(["..."] if len(applied.places) > 6 else [])])
    lines = [f"In {applied.model} on {applied.device}, at {len(applied.places)} modules: {named}.", "",
             *(f"- {each}" for each in applied.agreements)]
    if applied.agreements[0].served == 0:
        lines.append("- no kernel of the package applies on this machine: only its fallback was checked")
    if applied.whole is not None and applied.modules is not None:
        rate = (applied.tokens or 1) * 1e6
        unit = "tokens/s" if applied.tokens else "steps/s"
        old, new = rate / applied.whole.old_us, rate / applied.whole.new_us
        lines += [f"- the modules alone: {applied.modules}",
                  f"- a step: {applied.whole}; {old:.5g} to {new:.5g} {unit}",
                  f"- Amdahl's forecast: {applied.forecast:.3f}x, of a share of {100 * applied.share:.1f} %"]
    return "\n".join(lines) + "\n"


def _report(report: Path, text: str) -> None:
    """Writes the report's section. The section of an earlier call is replaced."""
    before = report.read_text(encoding="utf-8").partition(f"\n{_HEAD}")[0].rstrip("\n")
    write(report, f"{before}\n\n{_HEAD}\n\n{text}".encode())


def _as_json(applied: Applied) -> dict[str, Any]:
    return {**asdict(applied), "share": applied.share, "forecast": applied.forecast}
