"""Where the check runs: on a GPU as it is meant, or on a CPU, where searches are made up and Triton interprets small kernels."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steps import Steps
from subjects import ROOT

sys.path.append(str(ROOT / "python" / "tests"))
_SAME = 0.95  # the same kernel, measured again beside another program


@dataclass(frozen=True)
class Place:
    """`hub` has Hugging Face's `kernels`, if it was brought along."""

    steps: Steps
    scratch: Path
    on_gpu: bool
    search_s: int
    hub: Path | None

    def environment(self, **more: str) -> dict[str, str]:
        interpreted = {} if self.on_gpu else {"TRITON_INTERPRET": "1"}
        return {**os.environ, "PYTHONWARNINGS": "ignore", **interpreted, **more}

    def without_kernelsmith(self, **more: str) -> dict[str, str]:
        """As who receives a package has it."""
        return {name: value for name, value in self.environment(**more).items() if name != "PYTHONPATH" or name in more}

    def kernelsmith(self, what: str, *arguments: object, limit_s: float) -> str | None:
        return self.steps.ran(what, sys.executable, "-m", "kernelsmith", *arguments, limit_s=limit_s,
                              environment=self.environment())

    def searched(self, name: str, task: Path, run: Path) -> bool:
        """Whether a run over the task, which begins with its seed, has a confirmed best."""
        if not self.on_gpu:
            return self._made_up(name, task, run)
        return self._search(f"{name}, search", task, run, "over the reference", least=1)

    def chained(self, name: str, task: Path, earlier: Path, run: Path) -> None:
        """A search whose baseline is an earlier one's best, from the same seed: it gives about 1."""
        if self.on_gpu:
            self._search(f"{name}, chained", task, run, "over the earlier best", "--baseline-from", earlier, least=_SAME)

    def _search(self, what: str, task: Path, run: Path, over: str, *more: object, least: float) -> bool:
        said = self.steps.ran(what, "kernelsmith", "run", task, "--time", f"{self.search_s}s", "--evaluations", 12, "--out", run,
                              *more, limit_s=self.search_s + 75, environment=self.environment())
        if said is None:
            return False
        shown = self.steps.ran(what, "kernelsmith", "show", "--json", run, limit_s=20)
        if shown is None:
            return False
        told: dict[str, Any] = json.loads(shown)
        best = told["best"]
        if best is None or not best["confirmed"] or best["evaluation"]["speedup"] is None:
            return self.steps.say(what, False, "no confirmed best")
        speedup = best["evaluation"]["speedup"]
        return self.steps.say(what, speedup["low"] > least,
                              f"{speedup['median']:.2f}x [{speedup['low']:.2f}, {speedup['high']:.2f}] {over}, confirmed",
                              speedup=speedup, runtime_us=best["evaluation"]["runtime_us"])

    def _made_up(self, name: str, task: Path, run: Path) -> bool:
        import published_runs

        published_runs.searched(run, task, (task / "seed.py").read_text())
        return self.steps.say(f"{name}, search", True, "made up: there is no GPU here")

    def published(self, name: str, run: Path, out: Path, kind: str = "module", *more: object) -> bool:
        """Whether there is a package to go on with: it may be there though its own tests failed."""
        said = self.kernelsmith(f"{name}, publish {kind}", "publish", run, "--as", kind, "--out", out, "--licence", "mit", *more,
                                limit_s=200)
        if said is not None:
            self.steps.say(f"{name}, publish {kind}", True, "; ".join(line.strip() for line in said.splitlines()[1:]) or said.strip())
        return (out / "benchmark.py").exists()
