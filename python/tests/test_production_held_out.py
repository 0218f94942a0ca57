"""Shapes that a search never saw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kernelsmith as ks
import packages
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernelsmith.production import after, held_out, held_out_report  # noqa: E402
from kernelsmith.production.publish import Request, publish  # noqa: E402
from kernelsmith.production.torch_here import executed  # noqa: E402
from kernelsmith.production.winners import winners  # noqa: E402

CASES = "[[held_out]]\nrows = 7\n[[held_out]]\nscale = 100.0\nshift = 1.0\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return packages.run_of(tmp_path / "a.run", also={"held_out.toml": CASES})


def judge(*answers: float | str) -> held_out.Judge:
    """One that gives a speedup, or rejects, in turn."""
    left = iter(answers)

    def answer(task: Path, candidate: Path) -> dict[str, Any]:
        assert ks.Task(task).backend == "torch" and "ModelNew" in candidate.read_text()
        value = next(left)
        if isinstance(value, str):
            return {"accepted": False, "code": value, "speedup": None}
        return {"accepted": True, "code": None, "speedup": {"median": value, "low": value - 0.1, "high": value + 0.1}}

    return answer


def test_each_case_is_a_task_of_its_own(run: Path) -> None:
    seen = []

    def look(task: Path, candidate: Path) -> dict[str, Any]:
        torch.manual_seed(0)
        seen.append(executed((task / "reference.py").read_text(), task, "reference").get_inputs()[0])
        return {"accepted": True, "code": None, "speedup": {"median": 2, "low": 1.9, "high": 2.1}}

    [winner] = winners([run])
    results = held_out.results_of(winner, look)
    assert [result.words for result in results] == ["rows 7: 2.00x [1.90, 2.10]", "scale 100, shift 1: 2.00x [1.90, 2.10]"]
    torch.manual_seed(0)
    assert seen[0].shape == (7, 64) and torch.equal(seen[1], torch.randn(16, 64) * 100 + 1)


@pytest.mark.parametrize(("answers", "message"), [((1.5, 1.05), "scale 100, shift 1: 1.05x"),
                                                  (("wrong_output", 1.5), "rows 7: rejected, wrong_output")])
def test_a_win_that_does_not_hold_is_overfitted(run: Path, tmp_path: Path, answers: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ks.Error, match="overfitted") as raised:
        publish(Request([run], "torch-op", tmp_path / "out"), judge(*answers))
    assert message in raised.value.message and not (tmp_path / "out").exists()


def test_the_package_reports_them_apart(run: Path, tmp_path: Path) -> None:
    publish(Request([run], "hf-kernel", tmp_path / "out", force=True), judge(1.5, "wrong_output"))
    report = (tmp_path / "out" / "REPORT.md").read_text()
    assert "rows 7: 1.50x [1.40, 1.60]; scale 100, shift 1: rejected, wrong_output (overfitted)" in report
    assert len(json.loads((tmp_path / "out" / "torch-ext" / "rms_norm" / "package.json").read_text())["held_out"]) == 2


@pytest.mark.slow
@pytest.mark.skipif(torch.cuda.is_available(), reason="a GPU is here")
def test_what_cannot_be_measured_is_not_published(run: Path, tmp_path: Path) -> None:
    with pytest.raises(ks.Error, match="held-out shapes cannot be measured here"):
        publish(Request([run], "torch-op", tmp_path / "out"))


def test_a_case_of_unknown_sizes(tmp_path: Path) -> None:
    run = packages.run_of(tmp_path / "a.run", also={"held_out.toml": "[[held_out]]\nlines = 7\n"})
    with pytest.raises(ks.Error, match="lines is not a size of the reference"):
        held_out.cases_of(winners([run])[0])


def test_what_was_measured_is_kept_with_the_run(run: Path) -> None:
    [winner] = winners([run])
    first = held_out_report.kept_results(winner, judge(1.5, "wrong_output"))
    assert held_out_report.kept_results(winner, judge()) == first, "nobody is asked a second time"
    (run / "task" / "held_out.toml").write_text("[[held_out]]\nrows = 9\n")
    assert [each.case for each in held_out_report.kept_results(winner, judge(3.0))] == [{"rows": 9}], "other cases are"


def test_runs_are_reported_apart(run: Path, tmp_path: Path) -> None:
    other = packages.run_of(tmp_path / "suite" / "b.run", also={"held_out.toml": CASES}, accepted=False)
    assert held_out_report.runs_in(tmp_path) == [run, other]
    told = held_out_report.text_of(held_out_report.reported([run, other], judge(1.5, "wrong_output")))
    assert told.splitlines() == [
        "held out", f"{run}: 2.00x where it was searched; overfitted: the win does not hold on shapes that the search did not see",
        "  rows 7: 1.50x [1.40, 1.60]", "  scale 100, shift 1: rejected, wrong_output (overfitted)",
        f"{other}: not measured: the run has no best: nothing was accepted"]


def test_show_and_suite_add_them_at_the_end(run: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert after.wanted(["show", str(run)]) and after.wanted(["suite", str(tmp_path), "--rounds", "3"])
    assert not after.wanted(["show", "--json", str(run)]) and not after.wanted(["show", str(tmp_path)])
    [winner] = winners([run])
    held_out_report.kept_results(winner, judge(1.5, 1.6))
    assert after.followed(["show", str(run)]) == 0
    shown = capfd.readouterr().out
    assert shown.endswith(f"held out\n{run}: 2.00x where it was searched; it holds\n"
                          "  rows 7: 1.50x [1.40, 1.60]\n  scale 100, shift 1: 1.60x [1.50, 1.70]\n")
    assert shown.startswith("run") or "best" in shown
