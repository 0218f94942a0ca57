"""RewardClient against `kernelsmith serve` itself, which is killed and started anew."""

import asyncio
import collections
import os
import re
import socket
import subprocess
from pathlib import Path

import kernelsmith as ks
import pytest
import support
from kernelsmith.learning.client import Candidate, RewardClient

EXECUTABLE = Path(ks.__file__).parent / "bin" / "kernelsmith"
# A run of 1,000 requests takes too long for each time; the test python.reward_client of --full has so many.
KILLS, REQUESTS, CONCURRENCY = 10, int(os.environ.get("KERNELSMITH_KILLED_REQUESTS", "200")), 8

# A candidate is its own score, or ends with an error.
SCORE = """\
read -r number < "$1"
[ "$number" != wrong ] || exit 1
echo "{\\"fitness\\": $number}" > "$2"
"""


@pytest.fixture
def service(tmp_path, sandboxed):
    if not EXECUTABLE.exists():
        pytest.skip("the executable is not in this build")
    support.write_task(tmp_path, SCORE, "1\n")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    served = Served(tmp_path, port)
    served.start()
    yield served
    served.kill()


class Served:
    """The command, at the same address in each of its lives."""

    def __init__(self, folder, port):
        self.command = [EXECUTABLE, "serve", "--task", folder, "--port", str(port), "--workers", "2", "--max-queue", "4"]
        self.url = f"http://127.0.0.1:{port}"

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True, env=support.environment())
        assert self.url in self.process.stdout.readline()

    def kill(self):
        self.process.kill()
        self.process.communicate()


async def evaluations_of(client):
    """How many this life of the service began and finished."""
    reply = await client._endpoint.ask("GET", "/metrics", b"", support.PATIENCE_S)
    return int(re.search(r"^kernelsmith_evaluation_seconds_count (\d+)", reply.body.decode(), re.MULTILINE)[1])


def test_kills_lose_and_double_nothing(service):
    client = RewardClient(service.url, concurrency=CONCURRENCY, wait_s=1, backoff_s=(0.01, 0.1), patience_s=support.PATIENCE_S)
    codes = ["wrong" if number % 10 == 0 else f"{number}.5" for number in range(REQUESTS)]
    got, evaluated, killing = collections.Counter(), [], asyncio.Lock()

    async def one(number, code):
        reward = await client.reward(Candidate(code + "\n", repeat=number))
        got[reward.id] += 1
        if got.total() % (REQUESTS // (KILLS + 1)) == 0 and len(evaluated) < KILLS:
            async with killing:
                evaluated.append(await evaluations_of(client))
                service.kill()
                service.start()
        return reward

    async def all_of_them():
        rewards = await asyncio.gather(*(one(number, code) for number, code in enumerate(codes)))
        return rewards, sum(evaluated) + await evaluations_of(client)

    rewards, evaluations = asyncio.run(all_of_them())
    assert len(evaluated) == KILLS
    assert len(got) == REQUESTS and set(got.values()) == {1}
    assert [reward.score for reward in rewards] == [0.0 if code == "wrong" else float(code) for code in codes]
    assert [reward.rejection for reward in rewards] == ["command_failed" if code == "wrong" else None for code in codes]
    assert evaluations <= REQUESTS + KILLS * CONCURRENCY, "what is evaluated twice was lost in a kill"


def test_a_call_that_is_cancelled_goes_on_later(service):
    client = RewardClient(service.url, wait_s=5, backoff_s=(0.01, 0.1))
    candidates = [Candidate(f"{number}\n", task="hill") for number in range(20)]

    async def twice():
        call = asyncio.create_task(client.evaluate(candidates))
        while await evaluations_of(client) < 3:
            pass
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        batch = await client.evaluate(candidates)
        return batch, await evaluations_of(client), await client.evaluate(candidates), await evaluations_of(client)

    batch, evaluations, again, evaluations_again = asyncio.run(asyncio.wait_for(twice(), support.PATIENCE_S))
    assert batch.scores == again.scores == tuple(range(20)) and str(batch) == "20 candidates, 0 without a score"
    assert evaluations == evaluations_again, "the second call asks for the same evaluations"


def test_mistakes_of_a_request(service):
    client = RewardClient(service.url)
    empty, unknown, large = asyncio.run(client.evaluate(
        [Candidate(""), Candidate("1\n", task="another"), Candidate("1" * 100_001)])).rewards
    assert (empty.score, empty.rejection, large.score, large.rejection) == (0.0, "unreadable", 0.0, "too_large")
    assert (unknown.score, unknown.reason) == (None, "bad_input") and "another" in unknown.message
