"""Packages of the examples, as who receives them has them: their own tests with PyTorch only, and the layout of `kernels`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from place import Place
from subjects import HERE, Example, example_at

KINDS = ("module", "torch-op", "hf-kernel")
# What must be so, and the test of the package that says it.
_MUST = {"kernels are right": "test_every_bucket", "wrong dtype": "test_other_dtypes", "not contiguous": "test_not_contiguous",
         "gradient": "test_gradient", "unknown GPU": "test_an_unknown_device", "autocast": "test_autocast",
         "torch.compile": "test_compile", "torch.export": "test_export", "opcheck": "test_opcheck"}


class Package:
    """The packages of one example."""

    def __init__(self, place: Place, example: Example) -> None:
        self.place, self.example = place, example
        self.folder = place.scratch / example.name
        self.task = example_at(example, {} if place.on_gpu else example.small, self.folder / "task")
        self.is_searched = False

    def search(self) -> None:
        self.is_searched = self.place.searched(self.example.name, self.task, self.folder / "a.run")

    def publish(self, kind: str) -> None:
        if not self.is_searched:
            return
        name, out = self.example.name, self.folder / kind
        if not self.place.published(name, self.folder / "a.run", out, kind, "--name", f"{name}_{kind[:2]}"):
            return
        if kind == "hf-kernel":
            self._of_hub(out, f"{name}_{kind[:2]}")
            return
        log = out / "tests.log"
        self._told(f"{name}, {kind}: tests with PyTorch only", log.read_text() if log.exists() else "", kernels=True)
        if kind == "module":
            self._on_a_cpu(out)

    def _on_a_cpu(self, out: Path) -> None:
        """Whether the fallback serves where no GPU is."""
        environment = self.place.without_kernelsmith(CUDA_VISIBLE_DEVICES="", TRITON_INTERPRET="0")
        what = f"{self.example.name}: fallback on a CPU"
        command = "python=$0; $python -B -m unittest discover -v tests 2>&1 || true"
        said = self.place.steps.ran(what, "bash", "-c", command, sys.executable, limit_s=120, where=out, environment=environment)
        if said is not None:
            self._told(what, said, kernels=False)

    def _of_hub(self, out: Path, name: str) -> None:
        what = f"{self.example.name}, hf-kernel: the checks of `kernels`"
        if self.place.hub is None:
            self.place.steps.say(what, False, "not run: `kernels` was not brought along (build/hub)")
            return
        backend = "cuda" if self.place.on_gpu else "cpu"
        path = str(self.place.hub)
        said = self.place.steps.ran(what, sys.executable, HERE / "hub_checks.py", out, name, backend, limit_s=60,
                                    environment=self.place.without_kernelsmith(PYTHONPATH=path))
        if said is None:
            return
        self.place.steps.say(what, True, said.strip())
        command = "python=$0; $python -B -m unittest discover -v tests 2>&1 || true"
        said = self.place.steps.ran(f"{what}, tests", "bash", "-c", command, sys.executable, limit_s=150, where=out,
                                    environment=self.place.without_kernelsmith(PYTHONPATH=path))
        if said is not None:
            self._told(f"{self.example.name}, hf-kernel: tests of the built variant", said, kernels=True)

    def _told(self, what: str, log: str, *, kernels: bool) -> None:
        """Says which tests passed. `kernels`: they must have run kernels."""
        passed = set(re.findall(r"^(test_\w+) .*?\.\.\. ok$", log, re.MULTILINE))
        skipped = dict(re.findall(r"^(test_\w+) .*?\.\.\. skipped '(.*)'$", log, re.MULTILINE))
        failed = re.findall(r"^(?:ERROR|FAIL): (\S+)", log, re.MULTILINE)
        lacking = [name for name, test in _MUST.items() if test not in passed and test not in skipped]
        if kernels and "test_every_bucket" not in passed:
            lacking.append("no kernel was run")
        words = [f"{len(passed)} pass ({', '.join(name for name, test in _MUST.items() if test in passed)})",
                 *(f"{test} skipped: {why}" for test, why in skipped.items())]
        if failed or lacking:
            words += [f"failed: {', '.join(failed)}" if failed else "", f"lacking: {', '.join(lacking)}" if lacking else "",
                      log.strip()[-1500:]]
        self.place.steps.say(what, not failed and not lacking, "; ".join(filter(None, words)))

    def chain(self) -> None:
        if self.is_searched:
            self.place.chained(self.example.name, self.task, self.folder / "a.run", self.folder / "b.run")

    def compare(self) -> None:
        """Our best beside what else PyTorch can do."""
        package = self.folder / "module"
        if not (package / "benchmark.py").exists():
            return
        what = f"{self.example.name}: baselines"
        few = () if self.place.on_gpu else ("--pairs", 6, "--calls", 1)
        said = self.place.steps.ran(what, sys.executable, HERE / "baselines.py", package, *few, limit_s=75,
                                    environment=self.place.without_kernelsmith())
        if said is None:
            return
        for row in map(json.loads, said.splitlines()):
            paper = f"; Kernel-Smith's paper: {self.example.paper}x over its own baseline" if self.example.paper else ""
            over = ", ".join(f"{each['ratio']:.2f}x [{each['low']:.2f}, {each['high']:.2f}] over {name} ({each['old_us']:.1f} us)"
                             for name, each in row["over"].items())
            differs = f"; what torch.compile made differs: {'; '.join(row['compiled_differs'])}" if row["compiled_differs"] else ""
            self.place.steps.say(what, row["ran"] != "reference", f"{row['ran']} {row['us']:.1f} us, {over}{paper}{differs}", **row)
