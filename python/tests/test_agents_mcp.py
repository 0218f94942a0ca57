"""`kernelsmith mcp`, driven by the official SDK's client as an agent would drive it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import kernelsmith as ks
import pytest
import support

pytest.importorskip("mcp")
pytestmark = pytest.mark.usefixtures("sandboxed")

import anyio  # noqa: E402
from kernelsmith._executable import executable  # noqa: E402
from kernelsmith.agents.desk import Desk  # noqa: E402
from kernelsmith.agents.tools import Tools  # noqa: E402
from mcp import Client  # noqa: E402
from mcp_clients import over_stdio, refused, told  # noqa: E402


def program(*values):
    return "".join(f"k{i} = {value}  # @tune 0 1 2 3 4 5 6 7\n" for i, value in enumerate(values))


def number_in(answer):
    return int(re.search(r"program (\d+):", answer).group(1))


def command(*arguments):
    """The executable's answer."""
    return subprocess.run([executable(), *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=support.PATIENCE_S)


def ended(folder):
    """The run that a test made: over, and its best confirmed."""
    shown = json.loads(command("show", "--json", folder).stdout)
    assert shown["ended"] and shown["best"]["confirmed"], shown
    return ks.Run.open(folder)


def test_a_whole_search(task, tmp_path):
    """Nine evaluations: the seed, five trials, one of them measured twice, the answer, and a confirmation at the end."""
    folder = tmp_path / "a.run"

    async def search():
        async with over_stdio(task, "-o", folder, "--evaluations", "9") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools == {"task", "evaluate", "confirm", "submit", "finish", "history", "best", "show_program", "plan", "budget", "profile",
                             "diff"}
            task_text = await told(client, "task")
            assert "Begin with program 0" in task_text and "Programs are ranked by the low end" in task_text
            numbers = [number_in(await told(client, "evaluate", code=program(one, 1, 1, 1, 1, 1))) for one in (1, 2, 3)]
            assert "cost nothing" in await told(client, "evaluate", code=program(2, 1, 1, 1, 1, 1))
            assert "rejected" in await told(client, "evaluate", code="k0 = 1/0\n", parent=numbers[0])
            careful = await told(client, "evaluate", code=program(7, 1, 1, 1, 1, 1), careful=True)
            assert "measured again with care: accepted, fitness 12" in careful
            assert "left: 1 evaluation, for a new program" in careful and "7 of 9" in await told(client, "budget")
            assert "call `finish`" in await refused(client, "confirm", program=numbers[2])
            last = await told(client, "evaluate", code=program(7, 2, 1, 1, 1, 1), careful=True)
            assert "not measured again: no evaluation is left" in last
            assert "The run is over (budget)" in last and "fitness 13" in last and "measured again at the run's end, by itself" in last
            assert "over: its budget of evaluations" in await refused(client, "evaluate", code=program(7, 7, 1, 1, 1, 1))
            assert "fitness 13" in await told(client, "best")
            history = await told(client, "history")
            assert history.startswith("7 programs") and "rejected, run/command_failed" in history
            assert "(13 to 13), measured again at the run's end, by itself, " in history and history.count("by itself") == 1

    anyio.run(search)
    run = ended(folder)
    assert run.ended == "budget" and run.counts["evaluations"] == 9 and run.best.fitness == 13
    within = [event["within"] for event in run.events() if event["event"] == "ticket_opened" and "within" in event]
    assert len(within) == 6 and len(set(within)) == 1
    assert len([event for event in run.events() if event["event"] == "evaluation_arrived"]) == 9


@pytest.mark.parametrize("end", ["finish", "submit", "leave"])
def test_an_agent_that_has_used_up_its_evaluations_needs_no_other_program_to_end_the_run(task, tmp_path, end):
    folder = tmp_path / "a.run"

    async def search():
        async with over_stdio(task, "-o", folder, "--evaluations", "4") as client:
            answer = await told(client, "evaluate", code=program(3, 1, 1, 1, 1, 1))
            assert "left: 1 evaluation" in answer and "`finish` ends the run" in answer
            if end != "leave":
                said = await told(client, end, **({"program": number_in(answer)} if end == "submit" else {}))
                assert "The run is over (finished)" in said and "fitness 8" in said
                assert said.splitlines()[-1] == (await told(client, "finish")).splitlines()[-1]

    anyio.run(search)
    run = ended(folder)
    assert run.ended == "finished" and run.counts["evaluations"] == 3 and run.best.fitness == 8
    assert command("replay", folder, "--keep-evaluations", "--out", tmp_path / "b.run").returncode == 0


def test_a_run_that_is_left_says_what_goes_on_with_it(task, tmp_path):
    """And `mcp RUN --finish` ends it without a client."""
    folder = tmp_path / "a.run"

    async def some():
        async with over_stdio(task, "-o", folder) as client:
            await told(client, "evaluate", code=program(3, 1, 1, 1, 1, 1))

    anyio.run(some)
    assert f"not at its end: python -m kernelsmith mcp {folder}\n" in command("show", folder).stdout
    assert "python -m kernelsmith mcp RUN" in command("resume", folder).stderr
    shown = json.loads(command("show", "--json", folder).stdout)
    assert shown["goes_on"] == f"python -m kernelsmith mcp {folder} --finish"
    done = support.command("mcp", folder, "--finish")
    assert done.returncode == 0 and "fitness 8 (8 to 8), measured again" in done.stdout, done.stderr
    assert ended(folder).ended == "finished"

    async def more():
        async with over_stdio(folder) as client:
            assert "fitness 10" in await told(client, "evaluate", code=program(5, 1, 1, 1, 1, 1))
            assert "program 0" in await told(client, "show_program", program=0)
            assert "fitness 10" in await told(client, "finish")

    anyio.run(more)
    assert ended(folder).best.fitness == 10


def test_a_run_of_a_python_program_says_what_goes_on_with_it(task, tmp_path):
    ks.run(task, proposer=lambda request: ks.Refusal(), iterations=1, out=tmp_path / "a.run")
    shown = json.loads(command("show", "--json", tmp_path / "a.run").stdout)
    assert shown["goes_on"] == f"in Python, kernelsmith.run('{tmp_path}/a.run/task', proposer=..., out='{tmp_path}/a.run')"
    assert "kernelsmith.run('RUN/task', proposer=..., out='RUN')" in command("resume", tmp_path / "a.run").stderr


def test_the_seed_is_shown_where_nothing_can_be_evaluated(task, tmp_path):
    tools = Tools(Desk(task, tmp_path / "a.run", {}))
    tools._desk._close("the run ended: no GPU", "tool_failed")
    assert tools.show_program(0).startswith("program 0, seed: not evaluated yet\n--- ")
    with pytest.raises(ks.Error, match="no GPU"):
        tools.show_program(1)


def test_a_measurement_stands_if_no_evaluation_is_left_for_a_second(task, tmp_path):
    async def search():
        async with over_stdio(task, "-o", tmp_path / "a.run", "--evaluations", "4") as client:
            answer = await told(client, "evaluate", code=program(1, 1, 1, 1, 1, 1), careful=True)
            assert "accepted, fitness 6" in answer and "not measured again: " in answer and "over_budget" in answer

    anyio.run(search)


def test_a_client_that_goes_away_loses_nothing(task, tmp_path):
    folder = tmp_path / "a.run"

    async def some(first):
        async with over_stdio(*([task, "-o", folder] if first else [folder])) as client:
            if not first:
                assert "program 2" in await told(client, "show_program", program=2)
            for value in range(1, 4):
                await told(client, "evaluate", code=program(value, int(first), 0, 0, 0, 0))

    anyio.run(some, True)
    assert ks.Run.open(folder).counts["evaluations"] == 4
    anyio.run(some, False)
    run = ks.Run.open(folder)
    assert run.counts["evaluations"] == 7 and not run.in_use
    assert run.best.fitness == 4


def test_hostile_calls_are_refused(task, tmp_path):
    folder = tmp_path / "a.run"
    big = "k = 1\n" * 200_000
    hostile = [
        *[("evaluate", {"files": {path: "k0 = 1\n"}}) for path in
          ("../seed.txt", "/etc/passwd", "seed.txt/../../x", "", "a" * 5000, "seed.txt\0", "other.txt", "task.yaml", "score.sh")],
        *[("evaluate", {"code": text}) for text in ("", big)],
        ("evaluate", {}), ("evaluate", {"code": "k = 1", "files": {"seed.txt": "k = 1"}}), ("evaluate", {"files": {}}),
        ("evaluate", {"code": 7}), ("evaluate", {"code": ["k"]}), ("evaluate", {"files": "seed.txt"}),
        ("evaluate", {"files": {"seed.txt": 1}}), ("evaluate", {"code": "k = 1", "parent": 99}),
        ("evaluate", {"code": "k = 1", "parent": -1}), ("evaluate", {"code": "k = 1", "parent": 2**70}),
        ("evaluate", {"code": "k = 1", "parent": "the seed"}), ("evaluate", {"code": "k = 1", "careful": "perhaps"}),
        *[("show_program", {"program": one}) for one in (-1, 99, 2**70, "../task", "1; cat /etc/passwd", None, 0.5, [])],
        ("show_program", {"program": 0, "offset": -1}), ("task", {"offset": -1}), ("show_program", {}),
        *[("history", {"limit": one}) for one in (0, -5, 51, 10**9, "all")], ("history", {"offset": -1}),
        *[("confirm", {"program": one}) for one in (-1, 99, 2**64, "seed")], ("confirm", {}),
        ("submit", {}), ("submit", {"program": 99}), ("submit", {"program": 0, "code": "k = 1"}),
        ("submit", {"files": {"../x": ""}}), ("submit", {"code": big}),
        ("plan", {"code": "k = 1"}), ("plan", {"files": {"../../x": "k"}}),
        ("reveal_seeds", {}), ("secret_inputs", {"shape": "held out"}),
    ]
    assert len(hostile) >= 50

    async def attack():
        async with over_stdio(task, "-o", folder, "--evaluations", "20") as client:
            await told(client, "budget")
            for tool, arguments in hostile:
                try:
                    await refused(client, tool, **arguments)
                except AssertionError as answered:
                    raise AssertionError((tool, str(arguments)[:200])) from answered
            for uri in ("kernelsmith://task/../../secret", "file:///etc/passwd", "kernelsmith://docs/seeds"):
                with pytest.raises(Exception, match="nknown|not found"):
                    await client.read_resource(uri)
            answers = []
            async with anyio.create_task_group() as group:  # a flood of programs
                for value in range(64):
                    async def one(value=value):
                        answers.append(await client.call_tool("evaluate", {"code": program(value % 8, value // 8, 0, 0, 0, 0)}))
                    group.start_soon(one)
            assert len(answers) == 64 and any(answer.is_error for answer in answers)
            assert " of 20\n" in await told(client, "budget")  # whether the run has ended by then or not

    anyio.run(attack)
    run = ks.Run.open(folder)
    assert run.counts["evaluations"] <= 20 and run.best.fitness <= 14


def test_resources_say_the_task_and_no_secret(task, tmp_path):
    async def read():
        async with over_stdio(task, "-o", tmp_path / "a.run") as client:
            uris = [str(resource.uri) for resource in (await client.list_resources()).resources]
            assert {"kernelsmith://task", "kernelsmith://seed", "kernelsmith://docs/rules"} <= set(uris)
            for uri in uris:
                text = (await client.read_resource(uri)).contents[0].text
                assert len(text) < 20_000 and str(tmp_path) not in text and "SECRET" not in text

    anyio.run(read)


def test_several_clients_over_http(task, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "kernelsmith", "mcp", str(task), "-o", str(tmp_path / "a.run"), "--http",
                               f"127.0.0.1:{port}"], env=support.environment(), stderr=subprocess.PIPE, text=True)

    async def use(value):
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            assert f"fitness {value}" in await told(client, "evaluate", code=program(value, 0, 0, 0, 0, 0))

    async def both():
        async with anyio.create_task_group() as group:
            group.start_soon(use, 3)
            group.start_soon(use, 4)

    try:
        wait_for_port(port)
        anyio.run(both)
    finally:
        server.send_signal(signal.SIGTERM)
        said = server.communicate(timeout=support.PATIENCE_S)[1]
    assert server.returncode == 0, said
    assert ks.Run.open(tmp_path / "a.run").counts["evaluations"] == 3


def wait_for_port(port):
    end = time.monotonic() + support.PATIENCE_S
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError("nobody listens")


@pytest.mark.parametrize("arguments, words", [
    (["nothing-here"], "not_found"), (["{task}", "--http", "0.0.0.0:80"], "not an address of this machine"),
    (["{task}", "--evaluations", "0"], "a number from 1 on"), ([], "the following arguments are required")])
def test_wrong_use(task, arguments, words):
    ended = support.command("mcp", *(one.format(task=task) for one in arguments))
    assert ended.returncode == 2 and words in ended.stderr


@pytest.mark.slow
@pytest.mark.skipif("KERNELSMITH_SOURCE" not in os.environ, reason="needs the examples")
def test_softmax(tmp_path):
    """A C++ kernel from its seed to a faster one and to the end of the budget, by tools alone."""
    task = os.path.join(os.environ["KERNELSMITH_SOURCE"], "examples", "softmax_cpu")
    seed = ks.Task(task).seed.text

    fast = seed.replace("kExp = library", "kExp = horner").replace("kVectors = 1", "kVectors = 4").replace("kLanes = 4", "kLanes = 8")
    frozen = seed.replace('#include "task.hpp"', '#include "task.hpp"\n#include <thread>')

    async def search():
        async with over_stdio(task, "-o", tmp_path / "a.run", "--evaluations", "5") as client:
            assert "rejected at parse: unreadable" in await told(client, "evaluate", code=seed.replace("kVectors = 1", "kVectors = ;"))
            assert "outside the EVOLVE-BLOCKs" in await refused(client, "evaluate", code=frozen)
            number = number_in(await told(client, "evaluate", code=fast))
            assert "left: 1 evaluation" in await told(client, "budget")
            assert f"program {number}: accepted" in (said := await told(client, "submit", program=number)) and "run is over" in said
            assert "the run is over" in await refused(client, "evaluate", code=fast.replace("horner", "estrin"))

    anyio.run(search)
    run = ended(tmp_path / "a.run")
    assert run.ended == "finished" and run.counts["evaluations"] == 4 and run.counts["iterations"] == 2
    chained = command("run", task, "--baseline-from", tmp_path / "a.run", "--dry-run")
    assert chained.returncode == 0, chained.stderr
    assert run.best.source.text != seed and run.best.fitness > 1
