"""Packages of tasks with many workloads: each timed one is a bucket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kernelsmith as ks
import packages
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernelsmith.production import held_out  # noqa: E402
from kernelsmith.production.publish import Request, publish  # noqa: E402
from kernelsmith.production.torch_here import executed  # noqa: E402
from kernelsmith.production.winners import winners  # noqa: E402
from kernelsmith.production.workloads import at_workloads  # noqa: E402

WORKLOADS = """\
workloads:
- {name: few, arguments: {lines: 16, spread: 2.0}}
- {name: many, arguments: {lines: 64, spread: 2.0}, weight: 2}

# Not timed.
- {name: odd, arguments: {lines: 7, spread: 2.0}, check: true}
- {name: most, arguments: {lines: 128, spread: 2.0}}
timeout_s: 3
"""
INPUTS = ("def get_inputs():\n    return [torch.randn(rows, width)]",
          "def get_inputs(lines, spread):\n    return [torch.randn(lines, width) * spread]")


def run_of(folder: Path, at: dict[str, float], **options: Any) -> Path:
    return packages.run_of(folder, reference=INPUTS, more=WORKLOADS, at=at, **options)


def facts_in(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "rms_norm" / "package.json").read_text()))


def test_each_timed_workload_is_a_bucket(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a.run", {"few": 1.5, "many": 3.0, "most": 0.9})
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TRITON_INTERPRET", "1")
        made = publish(Request([run], "module", tmp_path / "out", between=True))
    assert made.notes == ["the reference serves workloads at which the best is not faster: most"]
    assert "test_every_bucket" in (tmp_path / "out" / "tests.log").read_text()
    facts = facts_in(tmp_path / "out")
    assert facts["free"] == ["lines"] and facts["between"] == [[0, 0, 16, 64]]
    assert [(one["sizes"]["lines"], one["speedup"]["median"], one["arguments"][0]["shape"]) for one in facts["buckets"]] == [
        (16, 1.5, [16, 64]), (64, 3.0, [64, 64])]
    assert "lines 64" in (tmp_path / "out" / "REPORT.md").read_text()


def test_force_publishes_slower_ones_too(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a.run", {"few": 0.9, "many": 0.9, "most": 0.9})
    with pytest.raises(ks.Error, match="not faster than the reference at any workload"):
        publish(Request([run], "module", tmp_path / "out"))
    assert packages.publish_untested(run, "--as", "module", "--out", tmp_path / "out", "--force") in (0, 1)
    assert len(facts_in(tmp_path / "out")["buckets"]) == 3


def test_what_a_workload_fixes_is_an_input_of_the_package(tmp_path: Path) -> None:
    inputs = "def get_inputs(lines, spread):\n    return [None]\n\n\ndef get_fixed(lines, spread):\n    return {'x': spread * torch.ones(lines, width)}"
    run = packages.run_of(tmp_path / "a.run", reference=(INPUTS[0], inputs), more=WORKLOADS,
                          at={"few": 2.0, "many": 2.0, "most": 2.0})
    [winner] = winners([run])
    placed, note = at_workloads(winner, force=False)
    [given] = executed(placed[1].reference, run, "reference").get_inputs()
    assert note == "" and given.shape == (64, 64) and given[0, 0] == 2


@pytest.mark.parametrize(("old", "new", "message"), [
    ("lines: 64, spread: 2.0", "lines: 64, spread: 2.5", "workloads differ in 'spread'"),
    ("lines", "width", "'width' is an argument of get_inputs and a name at the top")])
def test_workloads_that_are_no_sizes(tmp_path: Path, old: str, new: str, message: str) -> None:
    inputs = INPUTS if old != "lines" else (INPUTS[0], INPUTS[1].replace("lines", "width"))
    run = packages.run_of(tmp_path / "a.run", reference=inputs, more=WORKLOADS.replace(old, new),
                          at={"few": 2.0, "many": 2.0, "most": 2.0})
    with pytest.raises(ks.Error, match=message):
        publish(Request([run], "module", tmp_path / "out"))


def test_held_out_cases_are_arguments_of_workloads(tmp_path: Path) -> None:
    cases = "[[held_out]]\nlines = 9\n[[held_out]]\nscale = 100.0\n[[held_out]]\nlines = 5\nwidth = 32\n"
    run = run_of(tmp_path / "a.run", {"few": 1.5, "many": 3.0, "most": 2.0}, also={"held_out.toml": cases})
    seen = []

    def look(task: Path, candidate: Path) -> dict[str, Any]:
        workloads = json.loads(ks.Task(task).settings)["workloads"]
        arguments = json.loads(workloads[0]["arguments"])
        made = executed((task / "reference.py").read_text(), task, "reference")
        seen.append((len(workloads), made.get_inputs(**arguments)[0]))
        return {"accepted": True, "code": None, "speedup": {"median": 2, "low": 1.9, "high": 2.1}}

    [winner] = winners([run])
    assert [one.case for one in held_out.results_of(winner, look)] == [{"lines": 9}, {"scale": 100.0}, {"lines": 5, "width": 32}]
    assert [(count, tuple(inputs.shape)) for count, inputs in seen] == [(1, (9, 64)), (4, (16, 64)), (1, (5, 32))]
    assert float(seen[1][1].abs().max()) > 100


def test_a_case_that_is_no_argument(tmp_path: Path) -> None:
    run = run_of(tmp_path / "a.run", {}, also={"held_out.toml": "[[held_out]]\nspread = 3\n"})
    with pytest.raises(ks.Error, match="spread is not a size of the reference"):
        held_out.cases_of(winners([run])[0])
