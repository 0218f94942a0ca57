"""Searches by hand and driven: tickets, folders, settings, archives."""

import gc
import logging
import sys
import threading
import weakref

import kernelsmith as ks
import numpy
import pytest
from support import hill, in_thread, nudge, score, tell_next


def test_by_hand_until_nothing_is_left():
    kinds = []
    with hill() as engine:
        while ticket := tell_next(engine):
            kinds.append(ticket.kind)
        assert engine.done and engine.outcome.reason == "budget" and engine.outcome.budget == "iterations"
    assert kinds[0] == "evaluate" and kinds.count("propose") == 20


def test_tickets_say_what_they_ask_for():
    engine = hill()
    seed = engine.ask()
    assert (seed.id, seed.kind, seed.request, seed.source.text) == (0, "evaluate", None, "0 0")
    [commit] = engine.tell(seed, score(seed.source))
    assert (commit.ticket, commit.program.origin, commit.new_best) == (0, "seed", True)
    ticket = next(one for one in engine if one.kind == "propose")
    assert ticket.source is None and ticket.request.parent.source.text == "0 0" and ticket.request.ticket == ticket.id
    [commit] = engine.tell(ticket, "1 1", (5, {"luck": 2}))
    assert commit.program.parents == [0] and commit.program.evaluation.features["luck"] == 2
    assert commit.program.source.files == {"candidate.txt": "1 1"}
    assert repr(ticket) == f"<Ticket {ticket.id}, propose>"


def test_iteration_gives_tickets_until_there_is_nothing_to_ask():
    with hill(iterations=5) as engine:
        tickets = list(engine)
        assert 0 < len(tickets) < 20 and engine.ask() is None and not engine.done


def test_a_ticket_is_told_once():
    engine = hill()
    ticket = engine.ask()
    engine.tell(ticket.id, 1.0)
    with pytest.raises(ks.Error) as raised:
        engine.tell(ticket, 1.0)
    assert raised.value.code == "already_told"
    with pytest.raises(ks.Error) as raised:
        engine.tell(4711, 1.0)
    assert raised.value.code == "unknown_ticket"
    with pytest.raises(ks.Error) as raised:
        engine.give_back(ticket, "too late")
    assert raised.value.code == "already_told"
    assert "ticket 0" in str(raised.value)


def test_numbers_of_tickets_are_integers():
    engine = hill()
    engine.tell(numpy.int64(engine.ask().id), 1.0)
    for wrong in ("0", 1.5, None):
        with pytest.raises(TypeError):
            engine.tell(wrong, 1.0)
    with pytest.raises(TypeError):
        engine.tell(-1, 1.0)


def test_answers_that_do_not_fit_the_ticket_are_refused():
    engine = hill()
    tell_next(engine)
    ticket = next(one for one in engine if one.kind == "propose")
    with pytest.raises(ks.Error, match="a child with its evaluation"):
        engine.tell(ticket, 1.0)
    with pytest.raises(TypeError, match="not str"):
        engine.tell(ticket, "1 2")
    with pytest.raises(TypeError, match="not list"):
        engine.tell(ticket, "1 2", [3])
    with pytest.raises(ks.Error, match="no file"):
        engine.tell(ticket, {}, 3.0)
    engine.tell(ticket, "1 2", 3.0)


def test_refusals_and_tickets_given_back():
    with hill(iterations=3) as engine:
        tell_next(engine)
        refused = next(one for one in engine if one.kind == "propose")
        [commit] = engine.tell(refused, ks.Refusal("no idea"))
        assert commit.refusal.detail == "no idea" and commit.program is None
        returned = next(one for one in engine if one.kind == "propose")
        [commit] = engine.give_back(returned, "power \udcff cut")
        assert "power" in commit.error
        counts = engine.outcome.counts
        assert (counts["refused"], counts["given_back"], counts["iterations"]) == (1, 1, 1)


def test_a_folder_is_gone_on_with(tmp_path):
    folder = tmp_path / "hill.run"
    with hill(folder) as engine:
        for _ in range(7):
            tell_next(engine)
        left_open = engine.ask()
        before = engine.outcome
    with hill(folder) as engine:
        assert engine.outcome.counts == before.counts and engine.outcome.best.source == before.best.source
        again = engine.ask()
        assert again.id == left_open.id and again.request.parent.id == left_open.request.parent.id
        engine.give_back(again, "not needed")
        assert engine.run().counts["iterations"] == 20
    with hill(folder, iterations=30) as engine:
        assert engine.run().counts["iterations"] == 30


def test_a_folder_has_one_writer(tmp_path):
    with hill(tmp_path / "hill.run"):
        with pytest.raises(ks.Error) as raised:
            hill(tmp_path / "hill.run")
    assert raised.value.code == "busy"
    hill(tmp_path / "hill.run").close()


def test_a_folder_keeps_its_seed(tmp_path):
    hill(tmp_path / "hill.run").close()
    with pytest.raises(ks.Error) as raised:
        hill(tmp_path / "hill.run", seed="7 7")
    assert raised.value.code == "invalid_argument"


def test_a_closed_engine_says_so():
    engine = hill()
    engine.close()
    engine.close()
    for call in (engine.ask, engine.run, lambda: engine.done, lambda: engine.outcome, lambda: engine.archive,
                 lambda: engine.tell(0, 1), lambda: engine.give_back(0, "x")):
        with pytest.raises(ks.Error, match="closed"):
            call()


def test_run_needs_an_evaluator_and_a_proposer():
    with ks.Engine(seed="0 0", iterations=3) as engine:
        with pytest.raises(ks.Error, match="without an evaluator and a proposer"):
            engine.run()
        assert engine.ask().kind == "evaluate"


@pytest.mark.parametrize("settings, told", [
    ({"workrs": 3}, "did you mean workers"),
    ({"islands": {"cuont": 3}}, "did you mean count"),
    ({"budgets": {"iteration": 3}}, "did you mean iterations"),
    ({"itertions": 3}, "did you mean iterations"),
    ({"wall_times": 3}, "did you mean wall_time_s"),
    ({"islands": {"count": 0}}, "count"),
    ({"iterations": -1}, "iterations"),
    ({"deterministic": True, "wall_time_s": 3}, "wall time"),
    ({"proposer": ks.Tuner(exhaustiv=True)}, "did you mean exhaustive"),
    ({"workers": 10**30}, "workers"),
    ({"workers": 0}, "workers"),
    ({"memory": {"store": "rules"}}, "only a run of a task folder has a memory"),
])
def test_settings_are_checked_as_run_yaml_is(settings, told):
    with pytest.raises(ks.Error, match=told) as raised:
        hill(**settings)
    assert raised.value.code in ("bad_input", "invalid_argument")
    assert "json" not in str(raised.value).lower()


def test_an_engine_says_where_it_stands(tmp_path):
    engine = hill()
    assert repr(engine) == "<Engine in memory: unfinished, 0 iterations, nothing was accepted>"
    tell_next(engine)
    tell_next(engine)
    assert repr(engine) == f"<Engine in memory: {repr(engine.outcome)[9:]}" and "1 iterations" in repr(engine)
    engine.close()
    assert repr(engine) == "<Engine in memory: this engine was closed>"
    with hill(tmp_path / "a.run") as kept:
        assert repr(kept).startswith(f"<Engine {tmp_path / 'a.run'}: unfinished")


def test_a_seed_that_is_rejected_is_told_with_a_hint_that_fits(caplog):
    def evaluator(source):
        raise LookupError("no such table")

    with caplog.at_level(logging.WARNING, "kernelsmith"):
        outcome = ks.run(seed="1", evaluator=evaluator, proposer=nudge, iterations=3)
    assert outcome.reason == "refused"
    [record] = caplog.records
    assert record.getMessage() == outcome.error and "LookupError: no such table" in outcome.error
    assert outcome.error.endswith("hint: correct the seed, or what evaluates it")
    with caplog.at_level(logging.WARNING, "kernelsmith"):
        hill(evaluator=evaluator).run()
    assert len(caplog.records) == 2


def test_settings_say_what_run_yaml_says():
    axes = [{"feature": "tokens", "scale": "linear", "low": 0, "high": 10, "bins": 5},
            {"feature": "fitness", "scale": "linear", "low": 0, "high": 10, "bins": 4}]
    with hill(workers=2, islands={"count": 3}, archive={"axes": axes}, budgets={"evaluations": 12}, iterations=50,
              random_seed=7, limits={"confirm": False}) as engine:
        outcome = engine.run()
        assert outcome.budget == "evaluations" and outcome.counts["remeasured"] == 0
        assert [axis["feature"] for axis in engine.archive.axes] == ["tokens", "fitness"]
        assert [len(axis["labels"]) for axis in engine.archive.axes] == [5, 4]


def test_equal_seeds_search_equally():
    def best(seed):
        return hill(random_seed=seed, deterministic=True, workers=3).run().best.source.text

    assert best(1) == best(1) != best(2)


def test_the_tuner_gives_knobs_other_values():
    seed = "a = 0  # @tune 0 1 2 3\nb = 0  # @tune 0 1 2 3\n"

    def total(source):
        return sum(int(line.split()[2]) for line in source.text.splitlines())

    assert ks.run(seed=seed, evaluator=total, iterations=100).best.fitness == 6
    assert ks.run(seed=seed, evaluator=total, proposer=ks.Tuner(exhaustive=True), iterations=100).best.fitness == 6


def test_archives_are_arrays():
    axes = [{"feature": "width", "scale": "linear", "low": 0, "high": 4, "bins": 4},
            {"feature": "height", "scale": "linear", "low": 0, "high": 3, "bins": 3}]
    with ks.Engine(seed="s", iterations=50, archive={"axes": axes}, islands={"count": 1}) as engine:
        engine.tell(engine.ask(), (1.0, {"width": 0.5, "height": 0.5}))
        for child, answer in [("a", (2.0, {"width": 3.5, "height": 0.5})), ("b", (5.0, {"width": 3.5, "height": 2.5})),
                              ("c", (4.0, {"width": 3.5, "height": 2.5}))]:
            engine.tell(engine.ask(), child, answer)
        archive = engine.archive
    assert len(archive) == 3 and repr(archive) == "<Archive, 3 of 12 cells filled>"
    assert archive.fitness.dtype == numpy.float64 and archive.fitness.shape == (3,)
    assert archive.cells.dtype == numpy.int64 and archive.cells.shape == (3, 2)
    assert archive.features.dtype == numpy.float64 and archive.features.shape == (3, 2)
    assert archive.grid.shape == (4, 3) and numpy.isnan(archive.grid).sum() == 9
    assert archive.grid[0, 0] == 1 and archive.grid[3, 0] == 2 and archive.grid[3, 2] == 5
    rows = {program.source.text: (list(cell), list(features), fitness) for program, cell, features, fitness in
            zip(archive.elites, archive.cells, archive.features, archive.fitness)}
    assert rows == {"s": ([0, 0], [0.5, 0.5], 1), "a": ([3, 0], [3.5, 0.5], 2), "b": ([3, 2], [3.5, 2.5], 5)}
    assert archive.statistics["filled"] == 3 and archive.statistics["best"] == 5


def test_an_empty_archive_has_the_same_shapes():
    archive = hill().archive
    axes = len(archive.axes)
    assert archive.fitness.shape == (0,) and archive.cells.shape == (0, axes) and archive.features.shape == (0, axes)
    assert len(archive.elites) == 0 and numpy.isnan(archive.grid).all()


def test_notices_go_to_logging(caplog):
    def flaky(source):
        raise ks.Error("no luck")

    with caplog.at_level(logging.INFO, "kernelsmith"):
        hill(evaluator=flaky, limits={"errors_in_a_row": 2}, workers=1).run()
    assert any("no luck" in record.getMessage() for record in caplog.records)


def test_a_logging_handler_that_raises_ends_nothing(monkeypatch):
    def flaky(source):
        raise ks.Error("no luck")

    def full(record):
        raise RuntimeError("the log is full")

    told = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: told.append(str(raised.exc_value)))
    logger = logging.getLogger("kernelsmith")
    logger.addFilter(full)
    try:
        assert hill(evaluator=flaky, limits={"errors_in_a_row": 2}, workers=1).run().reason == "errors"
    finally:
        logger.removeFilter(full)
    assert "the log is full" in told


def test_an_engine_may_be_dropped_at_any_time():
    class Mark:
        def __call__(self, source):
            return score(source)

    for spoil in (lambda engine: None, lambda engine: engine.ask(), lambda engine: engine.run(), lambda engine: list(engine)):
        evaluator = Mark()
        gone = weakref.ref(evaluator)
        engine = hill(evaluator=evaluator)
        kept = spoil(engine)
        del evaluator, engine
        gc.collect()
        assert gone() is None
        del kept


def test_an_engine_may_be_dropped_while_it_runs():
    begun, go_on = threading.Event(), threading.Event()

    def evaluate(source):
        begun.set()
        assert go_on.wait(60)
        return score(source)

    engines, outcomes = [hill(evaluator=evaluate)], []
    thread = threading.Thread(target=lambda engine=engines[0]: outcomes.append(engine.run()))
    thread.start()
    assert begun.wait(60)
    engines.pop().close()
    go_on.set()
    thread.join(60)
    assert outcomes[0].counts["iterations"] == 20


def test_any_thread_may_drop_an_engine():
    engines = [hill()]
    in_thread(lambda: engines.pop().run() and None)
    assert engines == []


def test_run_without_anything_to_score_with():
    with pytest.raises(ks.Error, match="nothing to score candidates with"):
        ks.run(seed="0 0", proposer=nudge)
    with pytest.raises(ks.Error, match="a task has its own evaluator"):
        ks.run("task", evaluator=score)
