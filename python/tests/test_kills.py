"""SIGKILL at random moments of a search that Python drives: nothing told is lost or doubled."""

import os
import random
import signal

import kernelsmith as ks
import pytest
import support

# KERNELSMITH_KILLS=50 for the long form.
KILLS = int(os.environ.get("KERNELSMITH_KILLS", "5"))

DRIVER = """\
import os, sys
import kernelsmith as ks
from support import hill, nudge, score

folder, log_name, kind = sys.argv[1:]
log = os.open(log_name, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

def note(*words):
    os.write(log, (" ".join(map(str, words)) + "\\n").encode())
    os.fsync(log)

engine = hill(folder, iterations=10**6)
print("open", flush=True)
if kind == "run":
    def progress(commit):
        note("told", commit.ticket, commit.program.fitness if commit.program else None)
    engine.run(progress)
for ticket in engine:
    source = ks.Source(nudge(ticket.request)) if ticket.kind == "propose" else ticket.source
    fitness = score(source)
    note("telling", ticket.id, fitness)
    if ticket.kind == "propose":
        engine.tell(ticket, source, fitness)
    else:
        engine.tell(ticket, fitness)
    note("told", ticket.id, fitness)
"""


def read(log):
    """What the driver says that it told, and what it was about to tell: fitness by ticket."""
    told, telling = {}, {}
    for line in log.read_text().splitlines() if log.exists() else []:
        words = line.split()
        if len(words) == 3:
            (told if words[0] == "told" else telling).setdefault(int(words[1]), words[2])
    return told, telling


@pytest.mark.parametrize("kind", ["by hand", "run"])
def test_nothing_told_is_lost_or_doubled(script, tmp_path, kind):
    rng, folder, log = random.Random(), tmp_path / "hill.run", tmp_path / "told.log"
    grown = 0
    for kill in range(KILLS):
        process = script(DRIVER, folder, log, kind)
        assert process.stdout.readline() == "open\n", process.stderr.read()
        wait_for_growth(log, rng.randrange(6000))
        process.send_signal(signal.SIGKILL)
        process.wait(support.PATIENCE_S)
        process.stdout.close()
        process.stderr.close()
        stored = ks.Run.open(folder)
        told, telling = read(log)
        arrived = [event for event in stored.events() if event["event"] == "evaluation_arrived"]
        tickets = [event["ticket"] for event in arrived]
        assert len(tickets) == len(set(tickets)), "a ticket was answered twice"
        assert set(told) <= set(tickets), "what was told is lost"
        if kind == "by hand":
            assert set(tickets) <= set(telling), "the journal holds a ticket that was not told"
        fitness = {row["id"]: row["fitness"] for row in stored.programs()}
        assert all(fitness[ticket] == float(value) for ticket, value in told.items() if ticket in fitness), kill
        assert len(tickets) >= grown and stored.counts["evaluations"] >= len(fitness)
        grown = len(tickets)
    assert grown > KILLS
    with support.hill(folder, iterations=10**6) as engine:
        assert engine.outcome.counts == stored.counts


def wait_for_growth(log, size):
    """Until the driver wrote so many bytes more."""
    before = log.stat().st_size if log.exists() else 0
    while not log.exists() or log.stat().st_size < before + size:
        os.sched_yield()
