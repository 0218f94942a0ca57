"""Evaluators and proposers that are Python objects: their kinds, what they return, what they raise."""

import asyncio
import functools
import itertools
import threading

import kernelsmith as ks
import pytest
from support import hill, nudge, score


async def slow_score(source):
    await asyncio.sleep(0)
    return score(source)


async def slow_nudge(request):
    await asyncio.sleep(0)
    return nudge(request)


class Evaluator:
    def __init__(self):
        self.jobs = []

    def evaluate(self, job):
        self.jobs.append(job)
        return score(job.source)


class SlowEvaluator:
    async def evaluate(self, job):
        return score(job.source)


class CallableEvaluator:
    def __call__(self, source):
        return score(source)


class SlowCallable:
    async def __call__(self, source):
        return score(source)


class Proposer:
    def propose(self, request):
        return nudge(request)


class SlowProposer:
    async def propose(self, request):
        return nudge(request)


@pytest.mark.parametrize("evaluator", [score, slow_score, Evaluator(), SlowEvaluator(), CallableEvaluator(),
                                       SlowCallable(), functools.partial(slow_score)])
@pytest.mark.parametrize("proposer", [nudge, slow_nudge, Proposer(), SlowProposer()])
def test_every_kind_searches_the_same(evaluator, proposer):
    outcome = ks.run(seed="0 0", evaluator=evaluator, proposer=proposer, iterations=30, deterministic=True)
    reference = ks.run(seed="0 0", evaluator=score, proposer=nudge, iterations=30, deterministic=True)
    assert outcome.counts == reference.counts and outcome.counts["iterations"] == 30
    assert outcome.best.source == reference.best.source


def test_a_job_says_what_it_is_for():
    evaluator = Evaluator()
    with hill(evaluator=evaluator) as engine:
        engine.run()
    first = evaluator.jobs[0]
    assert (first.source.text, first.attempt, first.why, first.rival) == ("0 0", 0, None, None)
    assert len({job.run for job in evaluator.jobs}) == 1 and len({job.candidate for job in evaluator.jobs}) > 10


def test_a_request_shows_the_selection():
    seen = []

    def propose(request):
        seen.append((request.operator, request.parent.accepted, request.rng is request.rng, request.ticket))
        assert all(isinstance(one, ks.Program) for one in [*request.top, *request.inspirations, *request.failures])
        return nudge(request)

    hill(proposer=propose).run()
    assert {(operator, accepted, same) for operator, accepted, same, _ in seen} == {("rewrite", True, True)}
    assert len({ticket for *_, ticket in seen}) == len(seen) == 20


@pytest.mark.parametrize("returned, fitness, features", [
    (3, 3.0, {}),
    (True, 1.0, {}),
    (2.5, 2.5, {}),
    ((2.5, {"width": 1}), 2.5, {"width": 1.0}),
    ({"fitness": 4, "width": 2}, 4.0, {"width": 2.0}),
    (ks.Measurement(2.0, 1.0, 3.0), 2.0, {}),
    (ks.Evaluation.accept(7), 7.0, {}),
])
def test_scores_of_every_kind(returned, fitness, features):
    best = ks.run(seed="s", evaluator=lambda source: returned, proposer=lambda request: None, iterations=1).best
    assert best.fitness == fitness and features.items() <= best.evaluation.features.items()


def test_numpy_scalars_are_scores():
    numpy = pytest.importorskip("numpy")
    for returned in (numpy.float32(1.5), numpy.int64(2), numpy.array(2.5), {"fitness": numpy.float64(1)}):
        assert ks.run(seed="s", evaluator=lambda source: returned, proposer=lambda request: None,
                      iterations=1).best.accepted


@pytest.mark.parametrize("returned, told", [
    (None, "a score is a number, .* not NoneType"),
    ("3", "not str"),
    ([1.0], "not list"),
    (1j, "not complex"),
    ((1.0,), "the tuple of a score is"),
    ((1.0, [2.0]), "features are a dict .* not list"),
    ({"speed": 1}, 'the dict of a score has no "fitness"'),
    ({"fitness": 1, "name": "x"}, "the feature 'name' .* str"),
    ({"fitness": 1, 3: 4}, "the feature 3 "),
    (float("nan"), "finite"),
])
def test_what_is_no_score_rejects_the_candidate(returned, told):
    outcome = ks.run(seed="s", evaluator=lambda source: returned, proposer=lambda request: None, iterations=1)
    assert outcome.reason == "refused" and "bad_metrics" in outcome.error
    with pytest.raises(AssertionError) as raised:
        assert outcome.error == ""
    assert raised.match(told)


def test_an_exception_rejects_the_candidate_with_its_traceback():
    def explode(source):
        if source.text != "seed":
            raise ValueError("no such \udcff bird: " + source.text)
        return 1

    commits = []
    outcome = ks.run(seed="seed", evaluator=explode, proposer=lambda request: "child", iterations=1,
                     progress=commits.append)
    assert outcome.reason == "budget" and outcome.counts["rejected"] == 1
    [evaluation] = [one.program.evaluation for one in commits if one.program and not one.program.accepted]
    assert (evaluation.stage, evaluation.code) == ("run", "raised")
    assert "Traceback" in evaluation.diagnostics and "in explode" in evaluation.diagnostics
    assert "ValueError: no such" in evaluation.diagnostics


@pytest.mark.parametrize("exception", [SystemExit(3), KeyboardInterrupt(), asyncio.CancelledError(), StopIteration()])
@pytest.mark.parametrize("coroutine", [False, True])
def test_no_exception_ends_the_process_or_the_loop(exception, coroutine):
    async def slow(source):
        return explode(source)

    def explode(source):
        if source.text == "bad":
            raise exception
        return 1

    children = itertools.chain(["bad", "a", "b"], itertools.repeat("a"))
    outcome = ks.run(seed="seed", evaluator=slow if coroutine else explode, proposer=lambda request: next(children),
                     iterations=3)
    assert outcome.counts["accepted"] == 3 and outcome.reason == "budget"


def test_an_error_of_the_machine_is_asked_again():
    calls, failed = [], []

    def flaky(source):
        calls.append(source.text)
        if len(calls) == 2:
            failed.append(source.text)
            raise ks.Error("the board is warm", "tool_failed", "board 3")
        return 1

    outcome = hill(evaluator=flaky, iterations=2).run()
    assert outcome.counts["rejected"] == 0 and outcome.counts["given_back"] == 0
    assert calls.count(failed[0]) == 2


ONE_ERROR = {"errors_in_a_row": 1}


def test_errors_in_a_row_end_the_run():
    def broken(source):
        raise ks.Error("no board", "tool_failed", "board 3", "plug it in")

    with hill(evaluator=broken, limits=ONE_ERROR) as engine:
        outcome = engine.run()
    assert outcome.reason == "errors" and outcome.best is None
    assert "board 3" in outcome.error and "plug it in" in outcome.error


def test_an_error_with_broken_attributes_ends_nothing():
    class Odd(ks.Error):
        def __init__(self):
            pass

    class Worse(Exception):
        def __str__(self):
            raise RuntimeError("not even this")

    for odd in (Odd, Worse):
        def evaluate(source, odd=odd):
            if source.text != "s":
                raise odd()
            return 1
        assert ks.run(seed="s", evaluator=evaluate, proposer=lambda request: "c",
                      iterations=1).counts["rejected"] == 1


@pytest.mark.parametrize("returned", ["text", {"candidate.txt": "text"}, ks.Source("text")])
def test_children_of_every_kind(returned):
    commits = []
    ks.run(seed="seed", evaluator=lambda source: len(source.text), proposer=lambda request: returned, iterations=1,
           progress=commits.append, limits={"confirm": False})
    [child] = [commit.program for commit in commits if commit.program and commit.program.origin != "seed"]
    assert child.source.files == {"candidate.txt": "text"} and child.parents == [0]


def test_a_text_takes_the_path_of_its_parent():
    outcome = ks.run(seed={"kernel.py": "a"}, evaluator=lambda source: len(source.text),
                     proposer=lambda request: request.parent.source.text + "b", iterations=3)
    assert list(outcome.best.source.files) == ["kernel.py"] and outcome.best.source.text.startswith("ab")


def test_none_and_refusals_are_no_children():
    assert ks.run(seed="s", evaluator=len, proposer=lambda request: None, iterations=999).reason == "exhausted"
    outcome = ks.run(seed="s", evaluator=len, proposer=lambda request: ks.Refusal("not today"), iterations=4)
    assert outcome.counts["refused"] == 4


@pytest.mark.parametrize("returned, told", [(3, "not int"), ({"a": 1}, "not int for 'a'"), ({}, "file")])
def test_what_is_no_child_is_an_error(returned, told):
    outcome = hill(proposer=lambda request: returned, limits=ONE_ERROR).run()
    assert outcome.reason == "errors" and told in outcome.error


def test_a_proposer_that_raises_is_an_error_with_its_traceback():
    def propose(request):
        raise LookupError("the model is out")

    outcome = hill(proposer=propose, limits=ONE_ERROR).run()
    assert outcome.reason == "errors" and "LookupError: the model is out" in outcome.error
    assert "in propose" in outcome.error


@pytest.mark.parametrize("wrong", [3, "score", object()])
def test_what_cannot_be_called_is_told_at_once(wrong):
    with pytest.raises(TypeError, match="neither a function nor an object with a method evaluate"):
        hill(evaluator=wrong)
    with pytest.raises(TypeError, match="neither a function nor an object with a method propose"):
        hill(proposer=wrong)


def test_workers_call_the_evaluator_at_once():
    meeting = threading.Barrier(3, timeout=60)

    def evaluate(source):
        if source.text != "s":
            meeting.wait()
        return 1

    numbers = iter(range(100))
    outcome = ks.run(seed="s", evaluator=evaluate, proposer=lambda request: str(next(numbers)), iterations=9,
                     workers=3)
    assert outcome.counts["rejected"] == 0 and outcome.counts["accepted"] == 10


def test_coroutines_are_in_flight_at_once():
    waiting, release = [], []

    async def evaluate(source):
        if source.text == "s":
            return 1
        if not release:
            release.append(asyncio.Event())
        waiting.append(source)
        if len(waiting) % 4 == 0:
            release[0].set()
        await release[0].wait()
        return 2

    numbers = iter(range(100))
    outcome = ks.run(seed="s", evaluator=evaluate, proposer=lambda request: str(next(numbers)), iterations=8,
                     workers=4)
    assert outcome.counts["accepted"] == 9


def test_progress_sees_every_commit_and_may_look_at_the_engine():
    commits, looks = [], []
    with hill() as engine:
        def progress(commit):
            commits.append(commit)
            looks.append((len(engine.archive), engine.done, engine.outcome.counts["iterations"]))
        outcome = engine.run(progress)
    assert [commit.program.id for commit in commits if commit.program and commit.kind != "remeasured"] != []
    assert looks[-1][2] == 20 and any(commit.new_best for commit in commits)
    assert outcome.best.id in [commit.program.id for commit in commits if commit.program]


def test_what_progress_raises_ends_the_run_in_order():
    calls = []

    def progress(commit):
        calls.append(commit)
        raise LookupError("seen enough")

    engine = hill()
    with pytest.raises(LookupError, match="seen enough"):
        engine.run(progress)
    assert len(calls) == 1
    assert engine.run().reason == "budget"


def test_one_run_at_a_time():
    refused = []
    engine = hill()

    def progress(commit):
        if not refused:
            with pytest.raises(ks.Error, match="running already") as raised:
                engine.run()
            refused.append(raised.value.code)

    engine.run(progress)
    assert refused == ["invalid_argument"]
    assert engine.run().reason == "budget"


def test_an_engine_may_be_closed_by_its_own_evaluator():
    engines = []

    def evaluate(source):
        engines[0].close()
        return 1

    engine = hill(evaluator=evaluate)
    engines.append(engine)
    assert engine.run().counts["accepted"] > 0
    with pytest.raises(ks.Error, match="closed"):
        engine.ask()


def test_what_cannot_be_called_so_is_told_with_its_exception():
    outcome = ks.run(seed="0", evaluator=lambda: 1, proposer=nudge, iterations=1)
    assert outcome.reason == "refused"
    assert "takes 0 positional arguments" in outcome.error


def test_the_best_is_the_last_of_three_that_are_each_within_the_noise_of_the_one_before(tmp_path):
    measured = {"a": (4.149, 4.144, 5.459), "b": (4.67, 4.66, 5.316), "c": (5.40, 5.39, 5.9)}

    def measure(source):
        median, low, high = measured.get(source.text, (1, 0.99, 1.2))
        return ks.Evaluation.accept(ks.Measurement(median, low, high, 16, "x"), {})

    children = iter(measured)
    outcome = ks.run(seed={"seed.txt": "s"}, evaluator=measure, proposer=lambda _: ks.Child({"seed.txt": next(children)}, []),
                     iterations=3, out=tmp_path / "late.run", workers=1)
    assert outcome.best.source.text == "c"
    assert ks.Run.open(tmp_path / "late.run").best.id == outcome.best.id
