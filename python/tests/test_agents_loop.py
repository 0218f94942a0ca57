"""`kernelsmith agent` with a scripted model, and trials of a proposer in Python."""

import json
import signal
import subprocess
import sys
import threading

import kernelsmith as ks
import pytest
import support
from kernelsmith._executable import executable
from kernelsmith.agents.loop import call_in
from scripted_model import scripted


def program(value):
    return f"```\nk0 = {value}  # @tune 0 1 2 3 4 5 6 7\n" + support.SEED.split("\n", 1)[1] + "```"


def call(tool, **arguments):
    return f"I try this.\n```json\n{json.dumps({'tool': tool, **arguments})}\n```\n"


def test_the_small_agent(sandboxed, task, tmp_path):
    replies = [call("history"), call("evaluate") + program(3), program(5), "```json\n{\"tool\": \"evaluate\"}\n```\nSorry.",
               call("reveal_seeds"), call("show_program", program="two"), call("evaluate", speed=9, code="x"),
               call("evaluate", code=["k0 = 1"]), call("evaluate", files={"seed.txt": 5}), "\x1b]0;steered\x07" + call("show_program"),
               call("budget"), call("submit", program=3), call("evaluate") + program(6), call("evaluate") + program(7),
               call("submit") + program(7)]
    with scripted(lambda asked, number: replies[min(number, len(replies)) - 1]) as server:
        ended = agent(server, task, tmp_path / "a.run", "--evaluations", "6")
    assert ended.returncode == 0 and "fitness 7" in ended.stdout, ended.stderr
    run = ks.Run.open(tmp_path / "a.run")
    assert run.ended == "budget" and run.counts["evaluations"] == 6 and run.best.fitness == 7
    refused = agent(server, tmp_path / "a.run", None, "--evaluations", "3")
    assert refused.returncode == 2 and "has used 6 already" in refused.stderr
    answers = server.prompts
    assert answers[1].startswith("1 programs") and "accepted, fitness 3" in answers[2] and "fitness 5" in answers[3]
    for at, words in ((4, "no program was found"), (5, "there is no tool reveal_seeds"), (6, "error"), (7, "unexpected keyword")):
        assert words in answers[at] and answers[at].startswith("error: "), answers[at]
    assert "one string" in answers[8] and "for each path" in answers[9] and "missing a required argument" in answers[10]
    assert "\\x1b]0;steered" in ended.stderr and "\x1b" not in ended.stderr
    assert "submitted" in answers[12]
    first = server.asked[0]["messages"]
    assert "evaluate" in first[0]["content"] and "k0 = 0" in first[1]["content"]


@pytest.fixture
def prices(tmp_path):
    file = tmp_path / "prices.yaml"
    file.write_text("version: 1\nprices: [{model: m, input: 1000, output: 2000}]\n")
    return file


def words_of(server, task, folder, *arguments):
    """`folder`: of a new run, or None."""
    return ["agent", task, *(["-o", folder] if folder else []), "--model", "m", "--base-url", server.url, *arguments]


def agent(*arguments):
    return support.command(*words_of(*arguments), env={**support.environment(), "OPENAI_API_KEY": "k"})


def start_agent(*arguments):
    return subprocess.Popen([sys.executable, "-m", "kernelsmith", *map(str, words_of(*arguments))], text=True,
                            env={**support.environment(), "OPENAI_API_KEY": "k"}, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def tool_call(name, number=1, **arguments):
    """A reply in the protocol's form, which holds no text."""
    return {"content": None, "tool_calls": [{"id": f"call_{number}", "type": "function",
                                             "function": {"name": name, "arguments": json.dumps(arguments)}}]}


def text_of(value):
    return program(value).strip("`\n") + "\n"


def test_calls_of_the_protocol_until_the_model_is_done(sandboxed, task, tmp_path, prices):
    """Its calls are part of the run's cost, the ones that end it too."""
    two = tool_call("evaluate", code=text_of(4))
    two["tool_calls"] += tool_call("history", 2)["tool_calls"]
    broken = tool_call("evaluate")
    broken["tool_calls"][0]["function"]["arguments"] = "{"
    replies = [two, broken, tool_call("nothing"), tool_call("confirm", program=2), tool_call("finish")]
    with scripted(lambda asked, number: replies[number - 1]) as server:
        ended = agent(server, task, tmp_path / "a.run", "--evaluations", "20", "--price-file", prices)
    assert ended.returncode == 0 and "fitness 4 (4 to 4), measured again" in ended.stdout, ended.stderr
    names = {one["function"]["name"]: one["function"]["parameters"] for one in server.asked[0]["tools"]}
    assert names["evaluate"]["properties"]["files"]["additionalProperties"] == {"type": "string"}
    assert names["confirm"]["required"] == ["program"] and "finish" in names
    said = server.asked[1]["messages"][-3:]
    assert said[0]["tool_calls"] == two["tool_calls"]
    assert [one["tool_call_id"] for one in said[1:]] == ["call_1", "call_2"] and {one["role"] for one in said[1:]} == {"tool"}
    assert "accepted, fitness 4" in said[1]["content"] and said[2]["content"].startswith("2 programs")
    assert "not a JSON object" in server.prompts[2] and "there is no tool nothing" in server.prompts[3]
    run = ks.Run.open(tmp_path / "a.run")
    assert run.ended == "finished" and run.counts["evaluations"] == 4
    [cost] = run.cost()
    assert (cost["model"], cost["calls"], cost["input_tokens"], cost["output_tokens"]) == ("m", 5, 50, 25)
    assert cost["usd"] == pytest.approx(5 * 0.02)


@pytest.mark.parametrize("kind", ["money", "words", "no tools"])
def test_what_else_ends_the_small_agent(sandboxed, task, tmp_path, prices, kind):
    limit = ["--max-usd", "0.05", "--price-file", prices] if kind == "money" else []

    def answer(asked, number):
        if kind == "no tools" and "tools" in asked:
            return {"error": {"message": "this model takes no tools", "type": "invalid_request_error"}}
        if kind == "money":
            return tool_call("evaluate", code=text_of(number))
        return program(6) if number in (1, 2) and kind == "no tools" else "I have nothing more to try."

    with scripted(answer) as server:
        ended = agent(server, task, tmp_path / "a.run", "--evaluations", "20", *limit)
    assert ended.returncode == 0, ended.stderr
    run = ks.Run.open(tmp_path / "a.run")
    assert run.ended == "finished" and run.confirmed == [run.best.id]
    [cost] = run.cost()
    if kind == "money":
        assert cost["calls"] == 2 and cost["usd"] == pytest.approx(0.04), "a third one would go beyond it"
    if kind == "words":
        assert len(server.asked) == 2 and "No tool was called" in server.prompts[1]
    if kind == "no tools":
        assert run.best.fitness == 6 and "fenced block" in server.asked[1]["messages"][0]["content"]


def test_a_limit_of_money_holds_over_sessions(sandboxed, task, tmp_path, prices):
    """The first session is killed in its third call. Prices are the run's."""
    folder = tmp_path / "a.run"
    asked, go = threading.Event(), threading.Event()

    def answer(request, number):
        if number == 3:
            asked.set()
            go.wait()
        return tool_call("evaluate", code=text_of(number))

    with scripted(answer) as server:
        first = start_agent(server, task, folder, "--price-file", prices)
        assert asked.wait(support.PATIENCE_S)
        first.send_signal(signal.SIGINT)
        said = first.communicate(timeout=support.PATIENCE_S)[1]
        go.set()
        assert first.returncode == 130 and "a call was cut off: it counts as 0.02 USD" in said, said
        [cost] = ks.Run.open(folder).cost()
        assert cost["calls"] == 3 and cost["usd"] == pytest.approx(0.06)
        ended = agent(server, folder, None, "--max-usd", "0.075")
        assert ended.returncode == 0 and len(server.asked) == 3, "a fourth call would go beyond it"
    assert "the money is used up, or the rest does not pay for another call: 0.06 of 0.075 USD" in ended.stderr
    shown = subprocess.run([executable(), "show", str(folder)], capture_output=True, text=True, check=True).stdout
    assert "ended (finished: the money is used up" in shown


def test_a_pause_that_the_server_asks_for_is_said(sandboxed, task, tmp_path):
    busy = {"error": {"message": "slow down"}, "status": 429, "headers": {"Retry-After": "30"}}
    with scripted(lambda asked, number: busy) as server:
        process = start_agent(server, task, tmp_path / "a.run")
        said = next(line for line in process.stderr if "again in 30" in line)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=support.PATIENCE_S)
    assert process.returncode == 130 and said.startswith("kernelsmith: "), said


def test_a_limit_of_money_needs_a_price(task, tmp_path):
    with scripted(lambda asked, number: "") as server:
        ended = agent(server, task, tmp_path / "a.run", "--max-usd", "1")
    assert ended.returncode == 2 and "--price-file" in ended.stderr and not server.asked


def test_a_call_that_is_nested_too_deeply_is_none():
    assert call_in('```json\n{"tool": ' + "[" * 20_000 + "\n```", None) is None


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
