"""The tools `profile` and `diff` of `kernelsmith mcp`, and whose command `profile` is."""

import re
import subprocess

import kernelsmith as ks
import pytest
import support
from kernelsmith import _commands
from kernelsmith.agents.desk import Desk
from kernelsmith.agents.feedback import Feedback

pytest.importorskip("mcp")

import anyio  # noqa: E402
from mcp_clients import over_stdio, refused, told  # noqa: E402


@pytest.mark.usefixtures("sandboxed")
def test_an_agent_asks_why_and_what_changed(task, tmp_path):
    async def ask():
        async with over_stdio(task, "-o", tmp_path / "a.run", "--evaluations", "9") as client:
            made = await told(client, "evaluate", code="".join(f"k{i} = 1  # @tune 0 1 2 3 4 5 6 7\n" for i in range(6)))
            number = int(re.search(r"program (\d+):", made).group(1))
            before = await told(client, "budget")
            profile = await told(client, "profile", program=number)
            assert profile.startswith(f"program {number}: accepted, fitness 6") and "missing: launches and counters" in profile
            difference = await told(client, "diff", a=0, b=number)
            assert "A: program 0 (seed): fitness 0" in difference and "+k0 = 1 " in difference
            assert "not_found" in await refused(client, "profile", program=99)
            assert "not_found" in await refused(client, "diff", a=0, b=99)
            assert await told(client, "budget") == before

    anyio.run(ask)


@pytest.mark.usefixtures("sandboxed")
def test_a_strangers_run_does_not_turn_the_sandbox_off(task, tmp_path):
    ks.run(task, out=tmp_path / "a.run", evaluations=2, evaluator={"sandbox": "none"})

    def fake(command, **_):
        asked.append(command[1:])
        return subprocess.CompletedProcess(command, 2, "", "error: no\nhint: --set evaluator.sandbox=none")

    asked = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "run", fake)
        for settings in ({}, {"evaluator": {"sandbox": "none"}}):
            with pytest.raises(ks.Error, match="--sandbox none"):
                Feedback(Desk(task, tmp_path / "a.run", settings)).profile(0)
    run = str(tmp_path / "a.run")
    assert asked == [["profile", "--no-evaluation", run, "0"], ["profile", "--no-evaluation", "--set=evaluator.sandbox=none", run, "0"]]


@pytest.mark.usefixtures("sandboxed")
def test_a_session_ends_where_interrupts_are_ignored(task, tmp_path, script):
    with script("""
import signal, sys
from pathlib import Path
from kernelsmith.agents.command import drive_beside
from kernelsmith.agents.desk import Desk
signal.signal(signal.SIGINT, signal.SIG_IGN)
desk = Desk(Path(sys.argv[1]), Path(sys.argv[2]), {"evaluations": 9})
print(drive_beside(desk, desk.request).reason)
""", task, tmp_path / "a.run") as session:
        try:
            assert session.communicate(timeout=support.PATIENCE_S)[0].strip() == "stopped"
        finally:
            session.kill()


@pytest.mark.parametrize(("words", "python"), [
    (["profile", "model.py", "--out", "hot"], True),
    (["profile", "--out", "hot", "model.py"], True),
    (["profile", "package.module:Class"], True),
    (["profile", "--help"], True),
    (["profile", "task", "seed.cu"], False),
    (["profile", "problem.py", "candidate.py", "--json"], False),
    (["profile", "--json=pretty", "task", "seed.cu"], False),
    (["profile", "--no-evaluation", "task", "seed.cu"], False),
    (["profile", "a.run", "3"], False),
])
def test_a_profile_of_a_candidate_is_the_executables(words, python):
    assert _commands.knows(words) == python
