"""Arguments of wrong types are TypeErrors, and are seen before a search begins."""

import kernelsmith as ks
import pytest
import support
from kernelsmith import openevolve, plot
from kernelsmith.report import report


def told(*answer):
    engine = ks.Engine(seed="x", iterations=1)
    return engine.tell(engine.ask(), *answer)


def asked():
    engine = ks.Engine(seed="x", iterations=1)
    engine.tell(engine.ask(), 1.0)
    return engine.ask()


def searched(**arguments):
    usual = {"seed": "x", "evaluator": lambda source: 1, "proposer": lambda request: None, "iterations": 1}
    return ks.run(**{**usual, **arguments})


class Proposer:
    def propose(self, request):
        return support.nudge(request)


class Evaluator:
    def evaluate(self, job):
        return 1.0


WRONG = {
    "Source": lambda wrong: ks.Source(wrong),
    "Measurement": lambda wrong: ks.Measurement(wrong),
    "Measurement.unit": lambda wrong: ks.Measurement(1.0, unit=wrong),
    "accept": lambda wrong: ks.Evaluation.accept(wrong),
    "accept.features": lambda wrong: ks.Evaluation.accept(1, wrong),
    "accept.report": lambda wrong: ks.Evaluation.accept(1, report=wrong),
    "reject": lambda wrong: ks.Evaluation.reject(wrong),
    "reject.code": lambda wrong: ks.Evaluation.reject("x", code=wrong),
    "Refusal": lambda wrong: ks.Refusal(wrong),
    "Rng": lambda wrong: ks.Rng(wrong),
    "Rng.below": lambda wrong: ks.Rng(1).below(wrong),
    "Rng.choice": lambda wrong: ks.Rng(1).choice(wrong),
    "Task": lambda wrong: ks.Task(wrong),
    "Archive": lambda wrong: ks.Archive(wrong),
    "Run.open": lambda wrong: ks.Run.open(wrong),
    "Chat": lambda wrong: ks.Chat([wrong]),
    "ManualQueue": lambda wrong: ks.ManualQueue(wrong),
    "run": lambda wrong: ks.run(wrong),
    "run.seed": lambda wrong: searched(seed=wrong),
    "run.evaluator": lambda wrong: searched(evaluator=wrong),
    "run.proposer": lambda wrong: searched(proposer=wrong),
    "run.progress": lambda wrong: searched(progress=wrong),
    "run.out": lambda wrong: searched(out=wrong),
    "run.iterations": lambda wrong: searched(iterations=wrong),
    "run.usd": lambda wrong: searched(usd=wrong),
    "run.workers": lambda wrong: searched(workers=wrong),
    "run.random_seed": lambda wrong: searched(random_seed=wrong),
    "run.deterministic": lambda wrong: searched(deterministic=wrong),
    "run.islands": lambda wrong: searched(islands=wrong),
    "run.operators": lambda wrong: searched(operators=wrong),
    "run.budgets": lambda wrong: searched(budgets=wrong),
    "run.limits": lambda wrong: searched(limits={"confirm": wrong}),
    "Engine": lambda wrong: ks.Engine(wrong),
    "Engine.run": lambda wrong: support.hill().run(wrong),
    "tell": lambda wrong: told(wrong),
    "tell.ticket": lambda wrong: support.hill().tell(wrong, 1.0),
    "give_back": lambda wrong: support.hill().give_back(0, wrong),
    "evaluate": lambda wrong: ks.evaluate(wrong, "x"),
    "prompt": lambda wrong: ks.prompt(wrong),
    "prompt.task": lambda wrong: ks.prompt(asked(), wrong),
    "prompt.set": lambda wrong: ks.prompt(asked(), set=wrong),
    "plot.figure": lambda wrong: plot.figure(wrong),
    "plot.best": lambda wrong: plot.best(wrong),
    "report": lambda wrong: report(wrong, "a.html"),
    "run_evolution": lambda wrong: openevolve.run_evolution(wrong, len),
    "run_evolution.evaluator": lambda wrong: openevolve.run_evolution("x", wrong),
    "run_evolution.config": lambda wrong: openevolve.run_evolution("x", len, config=wrong),
    "run_evolution.iterations": lambda wrong: openevolve.run_evolution("x", len, iterations=wrong),
    "run_evolution.target_score": lambda wrong: openevolve.run_evolution("x", len, target_score=wrong),
    "run_evolution.checkpoint_path": lambda wrong: openevolve.run_evolution("x", len, checkpoint_path=wrong),
    "evolve_function": lambda wrong: openevolve.evolve_function(wrong, []),
    "evolve_function.test_cases": lambda wrong: openevolve.evolve_function(support.score, wrong),
    "evolve_algorithm": lambda wrong: openevolve.evolve_algorithm(wrong, support.score),
    "evolve_algorithm.benchmark": lambda wrong: openevolve.evolve_algorithm(Evaluator, wrong),
    "evolve_code": lambda wrong: openevolve.evolve_code(wrong, len),
    "extract": lambda wrong: ks.extract(wrong, "x"),
    "extract.parent": lambda wrong: ks.extract("x", wrong),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_type_is_a_type_error(name):
    if name.startswith("plot"):
        pytest.importorskip("matplotlib")
    with pytest.raises(TypeError):
        WRONG[name](object())


@pytest.mark.parametrize("name, wrong", [
    ("run.iterations", "10"), ("run.iterations", 1.5), ("run.iterations", True), ("run.workers", "many"),
    ("run.random_seed", "x"), ("run.usd", "3"), ("run.deterministic", 1), ("run.islands", 3), ("run.operators", "edit"),
    ("Run.open", 3), ("Chat", 3), ("ManualQueue", 3), ("tell", "x"), ("tell.ticket", "0"), ("run.progress", 3),
    ("accept.features", [1]), ("accept.features", {1: 2}), ("extract", None), ("Rng.choice", {1, 2}),
])
def test_what_nearly_has_the_type_is_a_type_error(name, wrong):
    with pytest.raises(TypeError):
        WRONG[name](wrong)


@pytest.mark.parametrize("argument, wrong", [("proposer", ks.Tuner), ("proposer", Proposer), ("evaluator", Evaluator)])
def test_a_class_is_no_object_of_it(argument, wrong):
    with pytest.raises(TypeError, match="this is a class, not an instance"):
        searched(**{argument: wrong})


def test_a_class_whose_method_is_static_will_do():
    class Static:
        @staticmethod
        def evaluate(job):
            return 2.0

    assert searched(evaluator=Static).best.fitness == 2.0


def test_progress_is_looked_at_before_anything_runs():
    called = []
    with pytest.raises(TypeError, match="progress is a function"):
        searched(evaluator=called.append, progress=3)
    assert called == []
