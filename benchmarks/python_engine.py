#!/usr/bin/env python3
"""What the engine costs for one iteration when it is used from Python: evaluator and proposer answer at once.

    python benchmarks/python_engine.py            # the table of docs/python.md
    python benchmarks/python_engine.py --quick    # a tenth of it, to see that it runs
    TMPDIR=/dev/shm python benchmarks/python_engine.py    # with the run folders in memory, without a disk's waits

A program is a text of 4,000 bytes. The rate "at N programs" is that of the last fifth of the iterations up to N.
"""

import argparse
import itertools
import os
import platform
import statistics
import tempfile
import time

import kernelsmith as ks

PADDING = "x" * 3980
AXES = {"axes": [{"feature": "f", "scale": "linear", "low": 0, "high": 1000, "bins": 1000}]}
REPETITIONS = 3


def text(number):
    return f"{number}\n{PADDING}"


def evaluate(source):
    number = int(source.text.split("\n", 1)[0])
    return number * 2654435761 % 1000, {"f": number * 2654435761 % 1000}


def proposer():
    numbers = itertools.count(1)
    return lambda request: text(next(numbers))


def settings(iterations):
    return {"seed": text(0), "evaluator": evaluate, "iterations": iterations, "islands": {"count": 4}, "archive": AXES,
            "workers": 1, "limits": {"confirm": False, "duels": 0}}


def driven(folder, iterations):
    """Iterations per second of run(): of all, and of the last fifth."""
    times = []
    with ks.Engine(folder, proposer=proposer(), **settings(iterations)) as engine:
        began = time.perf_counter()
        engine.run(lambda commit: times.append(time.perf_counter()))
    last = len(times) // 5
    return len(times) / (times[-1] - began), last / (times[-1] - times[-last - 1])


def by_hand(folder, iterations):
    """The same with ask() and tell()."""
    propose, times = proposer(), []
    with ks.Engine(folder, **settings(iterations)) as engine:
        began = time.perf_counter()
        while ticket := engine.ask():
            if ticket.kind == "propose":
                child = ks.Source(propose(ticket.request))
                engine.tell(ticket, child, evaluate(child))
            else:
                engine.tell(ticket, evaluate(ticket.source))
            times.append(time.perf_counter())
    last = len(times) // 5
    return len(times) / (times[-1] - began), last / (times[-1] - times[-last - 1])


def measure(search, journalled, iterations):
    """Medians over a few searches."""
    found = []
    for _ in range(REPETITIONS):
        with tempfile.TemporaryDirectory() as folder:
            found.append(search(os.path.join(folder, "a.run") if journalled else None, iterations))
    return [statistics.median(rates) for rates in zip(*found)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the iterations")
    iterations = 1_000 if parser.parse_args().quick else 10_000
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, medians of {REPETITIONS}; iterations/s\n")
    print(f"| search of {iterations:,} iterations | all | at {iterations:,} programs |\n|---|---|---|")
    for name, search in (("run()", driven), ("ask() and tell()", by_hand)):
        for journalled in (False, True):
            rates = measure(search, journalled, iterations)
            where = "run folder" if journalled else "in memory"
            print(f"| `{name}`, {where} | {rates[0]:,.0f} | {rates[1]:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
