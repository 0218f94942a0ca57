"""The tools `profile` and `diff` of `kernelsmith mcp`, and whose command `profile` is."""

import re

import pytest
from kernelsmith import _commands

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


@pytest.mark.parametrize(("words", "python"), [
    (["profile", "model.py", "--out", "hot"], True),
    (["profile", "--out", "hot", "model.py"], True),
    (["profile", "package.module:Class"], True),
    (["profile", "--help"], True),
    (["profile", "task", "seed.cu"], False),
    (["profile", "problem.py", "candidate.py", "--json"], False),
    (["profile", "--json=pretty", "task", "seed.cu"], False),
    (["profile", "--no-evaluation", "task", "seed.cu"], False),
])
def test_a_profile_of_a_candidate_is_the_executables(words, python):
    assert _commands.knows(words) == python
