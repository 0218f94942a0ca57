#!/usr/bin/env python3
"""Compares ways to search, such as best-of-N and evolution, on many problems with the same model at equal numbers of calls.

    python3 benchmarks/campaign FOLDER --calls 40 --out DIR [options] -- --model NAME --price-file prices.yaml

Every problem of FOLDER (KernelBench's level1, level2, ..., or task folders) is searched once for each seed and arm. What stands
after -- are options of `kernelsmith run`. Start it again to go on: runs that have ended are kept. DIR gets report.md, runs.csv,
arms.csv and picture.svg. Needs `kernelsmith` on the PATH, and numpy. docs/kernelbench.md says what the tables mean.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import math
import os
import re
import shutil
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent / "search_quality")]

import report  # noqa: E402
from arms import ARMS, arm_of  # noqa: E402
from problems import Problem, problems_in  # noqa: E402
from runs import Failed, Run, in_parts  # noqa: E402

# If as many problems in a row fail, no problem is to blame, but the server, the key or the disk. Runs do not count: all arms of a
# problem that cannot be planned fail.
PROBLEMS_IN_A_ROW = 3


def arguments() -> tuple[argparse.Namespace, list[str]]:
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="campaign", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--calls", type=int, required=True, help="answers of the model in each run, repairs included")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument("--levels", help="such as 1,2")
    parser.add_argument("--problems", help="short names, such as level1_40,level2_62")
    parser.add_argument("--seeds", type=int, default=3, help="searches of each problem by each arm (3)")
    parser.add_argument("--arms", default="best-of-N,evolution",
                        help=f"the first one is what the others are compared with; known: {', '.join(ARMS)}")
    parser.add_argument("--arm", action="append", default=[], metavar="'NAME KEY=VALUE ...'",
                        help="one more arm: the default search with these keys of run.yaml")
    parser.add_argument("--max-usd", type=float, help="the most that the whole campaign may cost; each arm gets an equal share")
    parser.add_argument("--replies", type=Path, metavar="FOLDER", help="recorded replies in place of a model (replies.py)")
    asked = parser.parse_args(words[:cut])
    if asked.calls < 1 or asked.seeds < 1:
        parser.error("--calls and --seeds must be at least 1")
    if asked.max_usd is not None and not 0 < asked.max_usd < math.inf:
        parser.error("--max-usd must be a number above 0")
    if asked.replies and not (asked.replies / "first").is_dir():
        parser.error(f"{asked.replies} has no folder first")
    return asked, words[cut + 1:]


def check_settings(out: Path, settings: dict) -> None:
    """Runs of other settings must not be mixed. More problems, seeds, arms and money may be added."""
    file = out / "campaign.json"
    try:
        kept = json.loads(file.read_text()) if file.exists() and any(out.glob("runs/*.run")) else settings
        # An arm whose keys were refused has no run, and may be corrected.
        arms = {name: keys for name, keys in kept["arms"].items() if any(out.glob(f"runs/*.{name}.*.run"))}
    except (ValueError, LookupError, TypeError, AttributeError):
        sys.exit(f"error: {file} is damaged, or of another version\nhint: take another --out")

    def named(those: dict) -> dict:
        return {**{name: those.get(name) for name in settings if name != "arms"},
                **{f"arm {name}": those["arms"].get(name, keys) for name, keys in arms.items()}}

    were, now = named(kept), named(settings)
    if other := [f"{name} ({json.dumps(were[name])}, not {json.dumps(now[name])})" for name in were if were[name] != now[name]]:
        sys.exit(f"error: {out} holds runs of other settings: {', '.join(other)}\nhint: take another --out")
    fresh = file.with_suffix(".new")  # a kill leaves the old one or the new one
    fresh.write_text(json.dumps({**settings, "arms": {**arms, **settings["arms"]}}, indent=1) + "\n")
    os.replace(fresh, file)


def money_left(run: Run, runs: list[Run], max_usd: float | None, arms: int) -> float | None:
    """What its arm and the campaign have left for this run in all, what it has spent itself included."""
    if max_usd is None:
        return None
    others = [one for one in runs if one is not run]
    # Arms that were there before this one was added may have spent more than an equal share.
    return min(max_usd / arms - sum(one.spent() for one in others if one.arm == run.arm), max_usd - sum(one.spent() for one in others))


def work_on(runs: list[Run], max_usd: float | None, arms: int) -> str:
    """Why it stopped; empty if all runs have ended."""
    failed_problems: set[str] = set()  # since the last run that came to its end
    for number, run in enumerate(runs, 1):
        if run.ended():
            continue
        left = money_left(run, runs, max_usd, arms)
        if left is not None and left <= run.spent():
            return f"the money of {run.arm} is used up"
        try:
            run.go_on(left)
            failed_problems.clear()
        except Failed as failed:
            failed_problems.add(run.problem.name)
            print(f"error: {run.name}: {failed}", file=sys.stderr, flush=True)
            if re.match(r"kernelsmith |--set (?!evaluator\.)", str(failed)):  # what an evaluator takes depends on the problem
                return "a setting was refused"  # the other arms would be paid for meanwhile
            if len(failed_problems) == PROBLEMS_IN_A_ROW:
                return f"the runs of {PROBLEMS_IN_A_ROW} problems in a row failed"
            continue
        print(f"[{number}/{len(runs)}] {run.told()}", file=sys.stderr, flush=True)
        if run.out_of_money():
            return f"the money of {run.arm} is used up"
    return "" if all(run.ended() for run in runs) else "some runs failed"


def main() -> int:
    asked, words = arguments()
    arms = dict([*((name, ARMS[name]) for name in asked.arms.split(",") if name in ARMS), *map(arm_of, asked.arm)])
    if unknown := [name for name in asked.arms.split(",") if name not in arms]:
        sys.exit(f"error: there is no arm '{unknown[0]}'; known: {', '.join(ARMS)}")
    if not shutil.which("kernelsmith"):
        sys.exit("error: kernelsmith is not on the PATH")
    problems: list[Problem] = problems_in(asked.folder, asked.levels, asked.problems)
    asked.out.mkdir(parents=True, exist_ok=True)
    with open(asked.out / "lock", "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sys.exit(f"error: another process works on {asked.out}")
        _, settings, others = in_parts(words)
        check_settings(asked.out, {"calls": asked.calls, "arms": arms, "options": settings + others, "recorded": bool(asked.replies)})
        # Arms take turns, so that a campaign that is broken off has pairs, and all arms see the same state of the machine.
        runs = [Run(asked.out / "runs", problem, arm, seed, asked.calls, [*words, *(f"--set={key}" for key in keys)], asked.replies)
                for seed in range(1, asked.seeds + 1) for problem in problems for arm, keys in arms.items()]
        print(f"{len(runs)} runs of {asked.calls} calls: {len(runs) * asked.calls} calls in all", file=sys.stderr)
        try:
            stopped = work_on(runs, asked.max_usd, len(arms))
        except KeyboardInterrupt:
            stopped = "interrupted"
        done = sum(run.ended() for run in runs)
        report.write(asked.out, [run.row() for run in runs if run.ended()], list(arms), asked.calls)
    if stopped:
        print(f"stopped: {stopped}; {done} of {len(runs)} runs have ended. The same command goes on", file=sys.stderr)
    return 130 if stopped == "interrupted" else 1 if stopped else 0


if __name__ == "__main__":
    sys.exit(main())
