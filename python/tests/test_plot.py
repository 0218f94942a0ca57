"""kernelsmith.plot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("matplotlib", reason="pictures need matplotlib: pip install 'kernelsmith-engine[plot]'")

import drawn_runs
import matplotlib
import numpy
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import kernelsmith as ks
from kernelsmith import plot
from kernelsmith._history import History


def axes() -> Axes:
    return Figure().add_subplot()


def titles(figure: Figure) -> list[str]:
    """The first word of each panel's title."""
    return [one.get_title(loc="left").split()[0].strip(":") for one in figure.axes if one.get_title(loc="left")]


@pytest.fixture(scope="module")
def hill(tmp_path_factory: pytest.TempPathFactory) -> ks.Run:
    return drawn_runs.hill(tmp_path_factory.mktemp("runs") / "hill.run")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> ks.Run:
    return drawn_runs.asked(tmp_path_factory.mktemp("runs") / "asked.run")


def test_a_figure_has_the_panels_that_have_something_to_show(hill: ks.Run, asked: ks.Run, tmp_path: Path) -> None:
    assert titles(plot.figure(hill)) == ["Best", "Lineage", "Archive", "Failures"]
    assert titles(plot.figure(asked)) == ["Best", "Lineage", "Archive", "Cost"]
    assert titles(plot.figure(drawn_runs.tuned(tmp_path / "a.run"))) == ["Best", "Lineage", "Archive", "Failures"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("make", "panels"), [(drawn_runs.begun, ["Best"]), (drawn_runs.rejected, ["Best", "Failures"]),
                                              (drawn_runs.one_program, ["Best", "Lineage", "Archive"])])
def test_runs_with_next_to_nothing_are_drawn(make: Any, panels: list[str], tmp_path: Path) -> None:
    run = make(tmp_path / "a.run")
    figure = plot.figure(run)
    assert titles(figure) == panels
    figure.savefig(tmp_path / "a.svg")
    for draw in (plot.best, plot.archive, plot.lineage, plot.cost, plot.failures):
        draw(run, axes())


def test_the_line_ends_in_the_best_and_only_rises(hill: ks.Run) -> None:
    steps = History(hill).best
    assert steps[0].fitness == hill.program(0).fitness
    assert [step.fitness for step in steps] == sorted({step.fitness for step in steps})
    last = hill.best
    assert last is not None
    assert (steps[-1].fitness, steps[-1].low) == (last.fitness, last.evaluation.measurement.low)


def row(id: int, fitness: float | None) -> dict[str, Any]:
    return {"id": id, "accepted": fitness is not None, "fitness": fitness, "low": fitness, "high": fitness}


def test_what_did_not_hold_or_lost_a_duel_was_never_the_best() -> None:
    rows = [row(0, 1.0), row(1, None), row(2, 9.0), row(3, 5.0), row(4, 3.0)]
    run: Any = SimpleNamespace(best=SimpleNamespace(id=3, fitness=5.0), programs=lambda: rows)
    assert [(step.evaluated, step.fitness) for step in History(run).best] == [(1, 1.0), (4, 5.0)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("scores", [[1e308, -1e308], [0, 0], [1e308, 1.7e308], [5e-324, 1e-320], [-3, -3.0000000001]])
def test_extreme_fitness_is_drawn(scores: list[float], tmp_path: Path) -> None:
    axis = {"feature": "fitness", "scale": "edges", "edges": [0, 1]}
    ks.run(seed="0", evaluator=lambda source: scores[int(source.text) % 2],
           proposer=lambda request: str(request.ticket), iterations=4, out=tmp_path / "a.run", archive={"axes": [axis]})
    plot.figure(ks.Run.open(tmp_path / "a.run")).savefig(tmp_path / "a.png", dpi=30)


@pytest.mark.parametrize("names", ["", "x", "xy", "xyz"])
def test_the_map_shows_the_best_of_each_cell(names: str, tmp_path: Path) -> None:
    run = drawn_runs.hill(tmp_path / "a.run", axes=names, iterations=40)
    made = axes()
    plot.archive(run, made)
    if not names:
        assert not made.images
        assert f"{run.best.fitness:.3g}" in made.texts[0].get_text()  # type: ignore[union-attr]
        return
    cells: dict[tuple[int, ...], float] = {}
    for at, fitness in zip(run.archive.cells, run.archive.fitness, strict=True):
        place = (0, at[0]) if names == "x" else (at[1], at[0])
        cells[place] = max(fitness, cells.get(place, -numpy.inf))
    shown: Any = numpy.ma.filled(numpy.ma.asarray(made.images[0].get_array()), numpy.nan)
    assert {at: value for at, value in numpy.ndenumerate(shown) if not numpy.isnan(value)} == cells
    assert (made.get_xlabel(), made.get_ylabel()) == ("x", "y" if len(names) > 1 else "")
    assert ("best over z" in made.get_title(loc="left")) == (names == "xyz")
    assert [tick.get_text() for tick in made.get_xticklabels()] == run.archive.axes[0]["labels"]


def test_the_lineage_has_a_point_for_each_step_with_its_interval(hill: ks.Run) -> None:
    made = axes()
    plot.lineage(hill, made)
    steps = hill.lineage()
    containers: Any = made.containers
    points = {(float(x), float(y)) for one in containers for x, y in zip(*one.lines[0].get_data(), strict=True)}
    assert points == {(at, step["fitness"]) for at, step in enumerate(steps)}
    assert [text.get_text() for text in made.texts if text.get_text()] == [f"#{step['id']}" for step in steps]


@pytest.mark.parametrize("priced", [True, False])
def test_cost_adds_up_to_what_the_run_says(priced: bool, tmp_path: Path) -> None:
    run = drawn_runs.asked(tmp_path / "a.run", priced)
    spent = History(run).spent
    assert spent is not None
    assert spent.unit == ("USD" if priced else "tokens")
    for row in run.cost():
        whole = row["usd"] if priced else row["input_tokens"] + row["output_tokens"]
        assert spent.by_model[row["model"]][-1] == pytest.approx(whole)
        assert spent.by_model[row["model"]] == sorted(spent.by_model[row["model"]])
    assert spent.proposals[-1] == sum(event["event"] == "proposal_arrived" for event in run.events())
    plot.cost(run, axes())


def test_each_failure_has_a_bar(hill: ks.Run) -> None:
    made = axes()
    plot.failures(hill, made)
    [bars] = [one for one in made.containers if len(one)]
    assert [int(bar.get_width()) for bar in bars] == [row["count"] for row in hill.failures()]
    assert [tick.get_text() for tick in made.get_yticklabels()] == ["run: crashed", "run: raised"]


@pytest.mark.filterwarnings("error")
def test_foreign_names_are_no_formulas(asked: ks.Run, tmp_path: Path) -> None:
    assert "m$x^{$" in [row["model"] for row in asked.cost()]
    plot.figure(asked).savefig(tmp_path / "a.svg")


def test_the_callers_matplotlib_stays_as_it_was(hill: ks.Run) -> None:
    before = dict(matplotlib.rcParams)
    plot.figure(hill)
    assert dict(matplotlib.rcParams) == before
    program = f"import sys, kernelsmith as ks\nfrom kernelsmith import plot\nassert 'matplotlib' not in sys.modules\n" \
              f"plot.figure(ks.Run.open({str(hill.folder)!r}))\nassert 'matplotlib.pyplot' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_matplotlib_the_error_names_the_extra(hill: ks.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ks.Error) as raised:
        plot.figure(hill)
    assert raised.value.code == "tool_missing"
    assert raised.value.hint == "pip install 'kernelsmith-engine[plot]'"
