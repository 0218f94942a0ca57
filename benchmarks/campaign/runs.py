"""One search of a campaign: a run folder that `kernelsmith run` made, and what it shows."""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import itertools
import json
import signal
import subprocess
import time
from functools import cached_property
from pathlib import Path

import replies
from problems import Problem

_PR_SET_PDEATHSIG = 1
# A run that its campaign left behind commits what it paid for and ends; this long between two looks at it.
_LOOK_S = 0.2


class Failed(Exception):
    """A session that did not bring its run to an end."""


def _end_with_parent() -> None:
    """A campaign that is killed takes its search along, in order: else the search would be in the way of the next start."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


class Run:
    def __init__(self, folder: Path, problem: Problem, arm: str, seed: int, calls: int, options: list[str], recorded: Path | None):
        self.problem, self.arm, self.seed = problem, arm, seed
        self.name = f"{problem.name}.{arm}.{seed}"
        self.folder = folder / f"{self.name}.run"
        self._calls, self._options, self._recorded = calls, options, recorded
        self._queue = folder / f"{self.name}.queue"

    @cached_property
    def shown(self) -> dict | None:
        """What `show` says; None if there is no run that it can read."""
        if not self.folder.exists():
            return None
        done = subprocess.run(["kernelsmith", "show", self.folder, "--json"], capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def _forget(self) -> None:
        self.__dict__.pop("shown", None)

    def out_of_money(self) -> bool:
        return bool(self.shown) and self.shown["used_up"] == "money"

    def ended(self) -> bool:
        return bool(self.shown) and self.shown["ended"] is not None and not self.out_of_money()

    def spent(self) -> float:
        """US dollars, those that were estimated included."""
        return (self.shown["cost"]["usd"] or 0) + self.shown["cost"]["guessed_usd"] if self.shown else 0

    def go_on(self, max_usd: float | None) -> None:
        """Begins the search or continues it, until it has ended or its money is used up."""
        # As a key, because an arm's other runs may have left less than at the last start, and --max-usd can only be raised.
        money = [f"--set=budgets.usd={max_usd:.9g}"] if max_usd is not None else []
        self.folder.parent.mkdir(parents=True, exist_ok=True)
        while self.shown and self.shown["in_use"]:
            time.sleep(_LOOK_S)
            self._forget()
        if self.ended():
            return
        if (self.folder / "run.yaml").exists():
            command = ["resume", self.folder, *_again(self._options), *money]
        else:
            model = ["--manual", self._queue] if self._recorded else []
            command = ["run", self.problem.path, "--out", self.folder, "--seed", str(self.seed), "--calls", str(self._calls),
                       *model, *self._options, *money]
        log = self.folder.with_suffix(".log")
        with open(log, "a") as told, self._answers():
            process = subprocess.Popen(["kernelsmith", *command], stdin=subprocess.DEVNULL, stdout=told, stderr=told,
                                       preexec_fn=_end_with_parent)
            try:
                process.wait()
            except KeyboardInterrupt:  # the search got it, too, and ends in order
                process.wait()
                raise
            finally:
                self._forget()
        if not self.ended() and not self.out_of_money():
            last = [line for line in log.read_text().splitlines() if line.startswith("error: ")]
            raise Failed((last[-1].removeprefix("error: ") if last else f"exit status {process.returncode}") + f" (all of it: {log})")

    def _answers(self) -> contextlib.AbstractContextManager:
        return replies.answering(self._queue, self._recorded, self.problem.name) if self._recorded else contextlib.nullcontext()

    def told(self) -> str:
        row = self.row()
        speedup = f"{row['speedup']:.3g}x" if row["speedup"] else "nothing accepted"
        return f"{self.name}: {speedup}, {row['calls']} calls, {row['usd']:.4f} USD"

    def row(self) -> dict:
        """The run's figures. `speedup` is that of the best, as it was measured again at the end: 0 if nothing was accepted."""
        assert self.shown
        best, counts, cost = self.shown["best"], self.shown["counts"], self.shown["cost"]
        figure = (best["evaluation"]["speedup"] or best["evaluation"]["measurement"]) if best else dict.fromkeys(("median", "low", "high"), 0)
        features = best["evaluation"]["features"] if best else {}
        return {
            "problem": self.problem.name, "arm": self.arm, "seed": self.seed,
            "speedup": figure["median"], "low": figure["low"], "high": figure["high"], "confirmed": bool(best) and best["confirmed"],
            "shortcut": any(features.get(name, 0) > 0 for name in ("degenerate", "algebraic")),
            "calls": self.shown["budgets"]["calls"]["used"], "evaluations": counts["evaluations"],
            **{name: counts[name] for name in ("accepted", "rejected", "refused", "repeated")},
            "usd": self.spent(), "input_tokens": cost["input_tokens"], "output_tokens": cost["output_tokens"],
            "seconds": self.shown["budgets"]["wall_time_s"]["used"] + self.shown["confirming_s"],
            "best_by_call": self._best_by_call(),
        }

    def _best_by_call(self) -> list[float]:
        """The best speedup so far, as the search measured it, after each answer of the model; 0 while nothing was accepted."""
        done = subprocess.run(["kernelsmith", "export", self.folder], capture_output=True, text=True, check=True)
        asks: set[int] = set()  # tickets of the model
        came: dict[int, int] = {}  # by program: how many answers there were
        best, calls = [0.0] * (self._calls + 1), 0
        for line in map(json.loads, done.stdout.splitlines()):
            if line["type"] == "ticket" and line["event"].get("op", "tune") != "tune":
                asks.add(line["event"]["ticket"])
            elif line["type"] in ("program", "repeat", "refusal"):
                ticket = line["id"] if line["type"] == "program" else line["ticket"]
                calls += ticket in asks
                asks.discard(ticket)
                came.setdefault(ticket, calls)
            elif line["type"] == "evaluation" and line["attempt"] == 0 and line["evaluation"]["accepted"]:
                evaluation, at = line["evaluation"], came[line["program"]]
                figure = evaluation["report"].get("speedup") or evaluation["metrics"]["fitness"]
                best[at] = max(best[at], figure["median"])
        return list(itertools.accumulate(best, max))


def in_parts(options: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Options of `run`: the server and the workers, which may change from one start to the next; --set; and all others."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    for name in ("--base-url", "--workers", "--set"):
        parser.add_argument(name, action="append", default=[])
    given, others = parser.parse_known_args(options)
    return ([*(f"--base-url={url}" for url in given.base_url), *(f"--workers={number}" for number in given.workers)],
            [f"--set={setting}" for setting in given.set], others)


def _again(options: list[str]) -> list[str]:
    """Those of `resume`. A run folder does not hold the server to which a key may go, nor keys of secrets and of the sandbox."""
    changing, settings, _ = in_parts(options)
    return changing + settings
