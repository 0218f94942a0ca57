#!/usr/bin/env python3
"""What the engine costs for one iteration when it is used from Python: evaluator and proposer answer at once.

    python benchmarks/python_engine.py            # the table of docs/python.md
    python benchmarks/python_engine.py --quick    # a tenth of it, to see that it runs
    TMPDIR=/dev/shm python benchmarks/python_engine.py    # with the run folders in memory, without a disk's waits

A program is a text of 4,000 bytes. The rate "at N programs" is that of the last fifth of the iterations up to N. If
the package `openevolve` can be imported, its own loop runs beside ours for 30 seconds: with a stub model, a worker
process for each core, and N programs in its database beforehand.
"""

import argparse
import asyncio
import itertools
import logging
import os
import platform
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import kernelsmith as ks

PADDING = "x" * 3980
AXES = {"axes": [{"feature": "f", "scale": "linear", "low": 0, "high": 1000, "bins": 1000}]}
REPETITIONS = 3
OPENEVOLVE_S = 30


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


class StubModel:
    """A model for OpenEvolve that answers at once; lives in its worker processes."""

    model, weight = "stub", 1.0

    def __init__(self, config):
        self.rng = random.Random(os.getpid())

    async def generate_with_context(self, system_message, messages, **options):
        return f"```python\n{text(self.rng.randrange(10**6, 10**9))}\n```"


def openevolve_rate(programs):
    """OpenEvolve's iterations per second at so many programs, or None if it is not installed."""
    try:
        from openevolve.config import Config, LLMModelConfig
        from openevolve.database import Program, ProgramDatabase
        from openevolve.process_parallel import ProcessParallelController
    except ImportError:
        return None
    logging.disable(logging.CRITICAL)
    config = Config()
    config.language = "python"
    config.diff_based_evolution = False
    config.llm.models = config.llm.evaluator_models = [LLMModelConfig(name="stub", init_client=StubModel)]
    config.database.population_size = programs + 10_000  # far from the limit: near it adding costs ten times as much
    config.database.num_islands = 4
    config.database.log_prompts = False
    config.evaluator.cascade_evaluation = False
    config.evaluator.parallel_evaluations = os.cpu_count()
    database = ProgramDatabase(config.database)
    for number in range(programs):
        fitness = evaluate(ks.Source(text(number)))[0] / 1000
        database.add(Program(id=str(number), code=text(number), language="python", metrics={"combined_score": fitness}),
                     iteration=number, target_island=number % 4)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "evaluate.py")
        file.write_text("def evaluate(path):\n"
                        "    number = int(open(path).read().split('\\n', 1)[0])\n"
                        "    return {'combined_score': number * 2654435761 % 1000 / 1000}\n")
        controller = ProcessParallelController(config, str(file), database)
        controller.start()
        # Until it has its processes, and for what is measured.
        asyncio.run(controller.run_evolution(programs, 8))
        timer = threading.Timer(OPENEVOLVE_S, controller.request_shutdown)
        timer.start()
        began = time.perf_counter()
        asyncio.run(controller.run_evolution(programs + 8, 1_000))
        rate = controller.successful_iterations / (time.perf_counter() - began)
        timer.cancel()
        controller.stop()
    if rate == 0:
        raise RuntimeError(f"OpenEvolve found nothing: {controller.last_iteration_error}")
    return rate


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
    rate = openevolve_rate(iterations)
    if rate is None:
        print("\nopenevolve is not installed", file=sys.stderr)
    else:
        print(f"| OpenEvolve, stub model | | {rate:,.1f} |")


if __name__ == "__main__":
    main()
