#!/usr/bin/env python3
"""Runs Kernel Tuner's own strategies, in its simulation mode, on recorded spaces, and counts unique evaluations.

    python3 -m venv kt && kt/bin/pip install kernel_tuner==1.5.0 scikit-learn scikit-optimize pymoo pyatf
    KERNELSMITH_SEARCH_DATA=... kt/bin/python benchmarks/search_quality/tuning_kernel_tuner.py --results kt.jsonl

Each run begins with a space that knows nothing of the runs before it. It ends at the first evaluation whose recorded
mean is within 5 % of the best one of the space, or at the cap. Failed points are part of the space, as they are for our
tuner. What stands in the results file is not run again, so a killed run goes on.
"""

import argparse
import contextlib
import io
import json
import os
import random
import sys
import time
import warnings
from pathlib import Path

import numpy
from kernel_tuner import util
from kernel_tuner.interface import Options, strategy_map
from kernel_tuner.runners.simulation import SimulationRunner
from kernel_tuner.searchspace import Searchspace

from tuning_spaces import SPACES, read_cache

# Where a strategy would stop by itself before the cap, its limit is raised.
NO_LIMIT = 10**9
OPTIONS = {
    "hybrid_vndx": {"budget": NO_LIMIT},
    "adaptive_tabu_greywolf": {"budget": NO_LIMIT},
    "genetic_algorithm": {"maxiter": 10_000},
    "pso": {"maxiter": 10_000},
    "firefly_algorithm": {"maxiter": 10_000},
}
# The last two take minutes a run: their repeats end when their share of time is used up.
STRATEGIES = [
    "random_sample", "genetic_algorithm", "dual_annealing", "adaptive_tabu_greywolf", "simulated_annealing", "nsga2",
    "diff_evo", "hybrid_vndx", "mls", "greedy_ils", "greedy_mls", "ordered_greedy_mls", "pyatf_strategies",
    "firefly_algorithm", "pso", "basinhopping", "bayes_opt", "skopt",
]
IDLE_CALLS = 3_000  # calls in a row without a new point: the strategy has converged, and would spin on
RUN_SECONDS = 60  # of CPU time for one run; likewise


class Reached(util.StopCriterionReached):
    """The run is over: a point near the optimum was evaluated, or nothing new comes."""


class Budget(util.TuningBudget):
    """Kernel Tuner's budget of evaluations, and one of CPU time for a strategy that asks for illegal points only."""

    def __init__(self, cap):
        super().__init__(None, cap)
        self.deadline = time.process_time() + RUN_SECONDS

    def raise_exception_if_done(self):
        super().raise_exception_if_done()
        if time.process_time() > self.deadline:
            raise Reached("too slow")


class Watch(SimulationRunner):
    """A simulation runner that ends the run at the first point near the optimum."""

    def __init__(self, options, device, near):
        super().__init__(None, options, device, 7, None)
        self.near, self.found_at, self.idle = near, None, 0

    def run(self, parameter_space, tuning_options):
        results = []
        for element in parameter_space:
            before = len(self.visited_results)
            results += super().run([element], tuning_options)
            self.idle = 0 if len(self.visited_results) > before else self.idle + 1
            if ",".join(map(str, element)) in self.near:
                self.found_at = len(self.visited_results)
                raise Reached("near the optimum")
            if self.idle > IDLE_CALLS:
                raise Reached("nothing new")
        return results


def forget(searchspace):
    """Empties the space's caches of neighbours.

    get_random_neighbor prefers points whose neighbours were asked for before. Within a run that is Kernel Tuner's
    way; from one run to the next it would hand on where the good points lie.
    """
    for cache in ("_Searchspace__neighbor_cache", "_Searchspace__neighbor_partial_cache"):
        for neighbours in getattr(searchspace, cache).values():
            neighbours.clear()


def one_run(space, searchspace, strategy, seed, cap):
    """The evaluations of one run, or None if it never came near the optimum."""
    forget(searchspace)
    random.seed(seed)
    numpy.random.seed(seed)
    options = Options({"max_fevals": cap, **OPTIONS.get(strategy, {})})
    runner = Watch(Options(kernel_name=space.name), Options(quiet=True), space.near)
    tuning = Options(
        cache=space.cache, cachefile=None, strategy=strategy, strategy_options=options, max_fevals=cap,
        objective=["time"], objective_higher_is_better=[False], tune_params=space.tune_params, verbose=False,
        restrictions=searchspace._modified_restrictions,
        restrictions_unmodified=[space.restriction()], metrics=None, simulation_mode=True, simulated_time=0,
        seed=seed, snap=True, budget=Budget(cap))
    try:
        strategy_map[strategy].tune(searchspace, runner, tuning)
    except util.StopCriterionReached:
        pass
    return runner.found_at


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, required=True, help="one JSON line for each run; appended to")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--cap", type=int, default=2000, help="evaluations after which a run ends")
    parser.add_argument("--seconds", type=float, default=60, help="for one strategy on one space")
    parser.add_argument("--spaces", nargs="*", default=list(SPACES))
    parser.add_argument("--strategies", nargs="*", default=STRATEGIES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    data = Path(os.environ["KERNELSMITH_SEARCH_DATA"])
    done = set()
    if arguments.results.exists():
        for line in arguments.results.read_text().splitlines():
            row = json.loads(line)
            done.add((row["space"], row["strategy"], row["seed"]))
    spaces = {}
    with arguments.results.open("a") as out:
        for strategy in arguments.strategies:
            for name in arguments.spaces:
                if name not in spaces:
                    space = read_cache(name, data)
                    spaces[name] = space, Searchspace(space.tune_params, [space.restriction()], 10**9)
                    assert spaces[name][1].size == len(space.cache), name
                space, searchspace = spaces[name]
                cap = min(arguments.cap, len(space.cache))
                begin = time.process_time()
                for seed in range(arguments.repeats):
                    if (name, strategy, seed) in done:
                        continue
                    if time.process_time() - begin > arguments.seconds:
                        break
                    try:
                        with contextlib.redirect_stdout(io.StringIO()):
                            found = one_run(space, searchspace, strategy, seed, cap)
                    except Exception as error:  # a strategy that cannot run on this space is reported, once
                        print(f"{strategy} on {name}: {type(error).__name__}: {error}", file=sys.stderr)
                        break
                    row = {"space": name, "strategy": strategy, "seed": seed, "found": found, "cap": cap}
                    out.write(json.dumps(row) + "\n")
                    out.flush()
                seconds = time.process_time() - begin
                print(f"{strategy} on {name}: {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
