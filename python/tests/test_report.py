"""kernelsmith.report: the executable's page of a run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import drawn_runs
import pytest

import kernelsmith as ks
from kernelsmith.report import report

pytestmark = pytest.mark.skipif(not (Path(ks.__file__).parent / "bin" / "kernelsmith").exists(),
                                reason="the executable is not in this build")


def data_of(run: ks.Run, tmp_path: Path) -> dict[str, Any]:
    """What the page draws."""
    report(run, tmp_path / "report.html")
    source = (tmp_path / "report.html").read_text(encoding="utf-8")
    [data] = re.findall('<script type="application/json" id="data">([^<]*)</script>', source)
    found: dict[str, Any] = json.loads(data)
    return found


def test_a_run_of_functions(tmp_path: Path) -> None:
    run = drawn_runs.hill(tmp_path / "hill.run")
    data = data_of(run, tmp_path)
    best = run.best
    assert best is not None
    assert data["run"]["name"] == "hill.run"
    assert data["run"]["best"]["program"] == best.id
    assert data["run"]["counts"]["accepted"] == run.counts["accepted"]
    assert data["programs"][str(best.id)]["files"][0]["text"] == best.source.text
    assert any("ValueError" in failure["latest"]["diagnostics"] for failure in data["run"]["failures"])


def test_cost_and_refusals_of_models(tmp_path: Path) -> None:
    run = drawn_runs.asked(tmp_path / "a.run")
    data = data_of(run, tmp_path)["run"]
    assert data["cost"]["usd"] == pytest.approx(sum(row["usd"] for row in run.cost()))
    assert [model["model"] for model in data["cost"]["models"]] == ["big", "m$x^{$"]
    assert data["refusals"][0]["detail"] == "the reply holds no fenced code: I would raise them."
    assert data_of(drawn_runs.asked(tmp_path / "b.run", priced=False), tmp_path)["run"]["cost"]["usd"] is None


@pytest.mark.parametrize("make", [drawn_runs.begun, drawn_runs.rejected, drawn_runs.one_program])
def test_runs_with_next_to_nothing(make: Any, tmp_path: Path) -> None:
    data = data_of(make(tmp_path / "a.run"), tmp_path)["run"]
    assert len(data["lineage"]) == (make is drawn_runs.one_program)


def test_a_source_that_is_not_utf8(tmp_path: Path) -> None:
    task = drawn_runs.write_task(tmp_path / "task")
    (task / "seed.txt").write_bytes(b"caf\xe9\n" + drawn_runs.SEED.encode())
    ks.run(task, iterations=20, out=tmp_path / "a.run", workers=1)
    data = data_of(ks.Run.open(tmp_path / "a.run"), tmp_path)
    assert data["programs"]["0"]["files"][0]["text"].startswith("caf\ufffd\n")


@pytest.mark.parametrize("name", ["nowhere/a.html", "-nowhere/a.html"])
def test_it_cannot_be_written(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = drawn_runs.one_program(tmp_path / "a.run")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ks.Error) as raised:
        report(run, name)
    assert (raised.value.code, raised.value.where) == ("not_found", name)
