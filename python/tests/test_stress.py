"""Many threads, coroutines and interrupts over one engine: nothing is lost, nothing waits for ever."""

import asyncio
import random
import sys
import threading

import kernelsmith as ks
import pytest
import support
from support import hill, nudge, score

THREADS = 8
ITERATIONS = 400

PROGRAM = """\
import faulthandler, gc, os, random, signal, sys, threading, time
import kernelsmith as ks
from support import hill, nudge, score, tell_next

faulthandler.dump_traceback_later(100, exit=True)
sys.setswitchinterval(1e-5)
rng = random.Random(int(sys.argv[1]))
"""


@pytest.fixture(autouse=True)
def busy():
    """The GIL changes hands a thousand times as often as usual."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def all_at_once(work):
    """work(number) on eight threads; what one raises is raised here."""
    raised = []

    def one(number):
        try:
            work(number)
        except BaseException as exception:
            raised.append(exception)

    threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(support.PATIENCE_S)
        assert not thread.is_alive(), "a thread waits for ever"
    if raised:
        raise raised[0]


@pytest.mark.parametrize("journalled", [False, True])
def test_eight_threads_ask_and_tell(tmp_path, journalled):
    told, engine = set(), hill(tmp_path / "hill.run" if journalled else None, iterations=ITERATIONS)

    def work(number):
        rng = random.Random(number)
        while not engine.done:
            ticket = engine.ask()
            if ticket is None:
                continue
            if ticket.kind != "propose":
                engine.tell(ticket, score(ticket.source))
            elif rng.random() < 0.1:
                engine.give_back(ticket, "another time")
                continue
            elif rng.random() < 0.1:
                engine.tell(ticket, ks.Refusal("no idea"))
            else:
                child = ks.Source(nudge(ticket.request))
                engine.tell(ticket, child, score(child))
            assert ticket.id not in told
            told.add(ticket.id)
            with pytest.raises(ks.Error):
                engine.tell(ticket, 1.0)
            if rng.random() < 0.05:
                assert len(engine.archive) <= 64 and engine.outcome.best is not None

    all_at_once(work)
    assert engine.outcome.counts["iterations"] == ITERATIONS
    engine.close()


@pytest.mark.parametrize("coroutine", [False, True])
def test_callbacks_that_raise(coroutine):
    rng, lock = random.Random(4), threading.Lock()

    def luck():
        with lock:
            return rng.random()

    def evaluate(source):
        if luck() < 0.2 and source.text != "0 0":
            raise ValueError("not this one")
        if luck() < 0.1:
            return "no score"
        return score(source)

    async def slowly(source):
        for _ in range(rng.randrange(3)):
            await asyncio.sleep(0)
        return evaluate(source)

    async def propose(request):
        await asyncio.sleep(0)
        return nudge(request)

    commits = []
    outcome = ks.run(seed="0 0", evaluator=slowly if coroutine else evaluate,
                     proposer=propose if coroutine else nudge, iterations=ITERATIONS, workers=THREADS,
                     progress=commits.append)
    assert outcome.reason == "budget" and outcome.counts["iterations"] == ITERATIONS
    assert outcome.counts["rejected"] > 20
    assert len({commit.ticket for commit in commits}) == len(commits)


def test_eight_engines_run_at_once_and_are_dropped():
    async def slowly(source):
        return score(source)

    def work(number):
        for at in range(3):
            engine = hill(evaluator=slowly if number % 2 else score, iterations=60, workers=4)
            if at == 0:
                engine.ask()
            else:
                assert engine.run(lambda commit: engine.outcome).counts["iterations"] == 60
            del engine

    all_at_once(work)


def test_looks_while_another_thread_runs():
    engine, looks = hill(iterations=ITERATIONS), []

    def work(number):
        if number == 0:
            engine.run(lambda commit: looks.append(len(engine.archive.elites)))
        else:
            while not engine.done:
                looks.append((engine.outcome.best, len(engine.archive)))

    all_at_once(work)
    assert len(looks) > ITERATIONS


@pytest.mark.parametrize("phase", ["open", "evaluate", "propose", "progress", "coroutine", "by hand", "close"])
def test_interrupts_in_each_phase(script, tmp_path, phase):
    """The main thread is interrupted at a random moment, again and again; nothing told is lost."""
    process = script(PROGRAM + """
import asyncio
folder, phase = sys.argv[2:]

def bomb():
    if armed and rng.random() < 0.2:
        armed.clear()
        os.kill(os.getpid(), signal.SIGINT)

def evaluate(source):
    if phase == "evaluate": bomb()
    return score(source)

async def slowly(source):
    bomb()
    await asyncio.sleep(0)
    return score(source)

def propose(request):
    if phase == "propose": bomb()
    return nudge(request)

def progress(commit):
    seen.add(commit.ticket)
    if phase == "progress": bomb()

def later(seconds):
    signal.setitimer(signal.ITIMER_REAL, seconds)

def alarm(*_):
    if armed:
        armed.clear()
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, alarm)
seen, armed, most = set(), [], 0
for session in range(8):
    try:
        armed.append(True)
        try:
            if phase == "open": later(rng.uniform(0.0005, 0.01))
            with hill(folder, evaluator=slowly if phase == "coroutine" else evaluate, proposer=propose, workers=4,
                      iterations=20 * session + 20 if phase == "close" else 10**6) as engine:
                if phase == "by hand":
                    later(0.02)
                    while True:
                        seen.add(tell_next(engine).id)
                engine.run(progress)
                if phase == "close": later(rng.uniform(0.00005, 0.0005))
        finally:
            armed.clear()
    except KeyboardInterrupt:
        pass
    engine = None
    gc.collect()
    stored = ks.Run.open(folder) if os.path.exists(os.path.join(folder, "run.db")) else None
    if stored:
        assert stored.counts["evaluations"] >= most, (stored.counts, most)
        assert not stored.in_use
        most = stored.counts["evaluations"]
if stored:
    answered = {event["ticket"] for event in stored.events()
                if event["event"] in ("evaluation_arrived", "ticket_closed", "proposal_arrived")}
    assert seen <= answered, seen - answered
print("done")
""", 7, tmp_path / "hill.run", phase)
    out, err = process.communicate(timeout=support.PATIENCE_S)
    assert process.returncode == 0 and out == "done\n", out + err
