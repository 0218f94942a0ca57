"""`kernelsmith agent` with a scripted model, and trials of a proposer in Python."""

import subprocess
import sys

import kernelsmith as ks
import pytest
import support
from kernelsmith.agents.loop import call_in
from scripted_model import scripted


def program(value):
    return f"```\nk0 = {value}  # @tune 0 1 2 3 4 5 6 7\n" + support.SEED.split("\n", 1)[1] + "```"


def call(tool, **arguments):
    import json

    return f"I try this.\n```json\n{json.dumps({'tool': tool, **arguments})}\n```\n"


def test_the_small_agent(sandboxed, task, tmp_path):
    replies = [call("history"), call("evaluate") + program(3), program(5), "```json\n{\"tool\": \"evaluate\"}\n```\nSorry.",
               call("reveal_seeds"), call("show_program", program="two"), call("evaluate", speed=9, code="x"),
               call("evaluate", code=["k0 = 1"]), call("evaluate", files={"seed.txt": 5}), "\x1b]0;steered\x07" + call("show_program"),
               call("budget"), call("submit", program=3), call("evaluate") + program(6), call("evaluate") + program(7),
               call("submit") + program(7)]
    with scripted(lambda asked, number: replies[min(number, len(replies)) - 1]) as server:
        ended = subprocess.run([sys.executable, "-m", "kernelsmith", "agent", str(task), "-o", str(tmp_path / "a.run"), "--model", "m",
                                "--base-url", server.url, "--evaluations", "6"], env={**support.environment(), "OPENAI_API_KEY": "k"},
                               capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=support.PATIENCE_S)
    assert ended.returncode == 0 and "fitness 7" in ended.stdout, ended.stderr
    run = ks.Run.open(tmp_path / "a.run")
    assert run.ended == "budget" and run.counts["evaluations"] == 6 and run.best.fitness == 7
    answers = server.prompts
    assert answers[1].startswith("1 programs") and "accepted, fitness 3" in answers[2] and "fitness 5" in answers[3]
    for at, words in ((4, "no program was found"), (5, "there is no tool reveal_seeds"), (6, "error"), (7, "unexpected keyword")):
        assert words in answers[at] and answers[at].startswith("error: "), answers[at]
    assert "one string" in answers[8] and "for each path" in answers[9] and "missing a required argument" in answers[10]
    assert "\\x1b]0;steered" in ended.stderr and "\x1b" not in ended.stderr
    assert "submitted" in answers[12]
    first = server.asked[0]["messages"]
    assert "evaluate" in first[0]["content"] and "k0 = 0" in first[1]["content"]


def test_a_call_that_is_nested_too_deeply_is_none():
    with pytest.raises(ks.Error, match="no program was found"):
        call_in('```json\n{"tool": ' + "[" * 20_000 + "\n```", None)


def test_attempts_of_a_proposer():
    seen = []

    def climb(request):
        tried = [request.attempt(f"{x} 0")[0] for x in range(3)]
        best = max(tried, key=lambda one: one.fitness)
        seen.append((request.attempt(best.source)[1], request.confirm(best.id).accepted, best.parents))
        with pytest.raises(ks.Error, match="not_found"):
            request.confirm(99)
        with pytest.raises(ks.Error, match="does not know"):
            request.attempt("7 7", [99])
        return ks.Child(best.source, [best.id])

    with ks.Engine(seed="0 0", evaluator=support.score, proposer=climb, iterations=1) as engine:
        outcome = engine.run()
        assert outcome.counts["evaluations"] >= 4 and outcome.best.source.text == "2 0"
        assert seen == [(True, True, [0])]
    with ks.Engine(seed="0 0", iterations=1) as engine:
        engine.tell(engine.ask(), 1.0)
        with pytest.raises(ks.Error, match="unsupported"):
            engine.ask().request.attempt("1 1")


def test_a_child_names_its_parents():
    with ks.Engine(seed="0 0", evaluator=support.score, proposer=lambda request: ks.Child("3 -2", [0]), iterations=1) as engine:
        assert engine.run().best.parents == [0]
