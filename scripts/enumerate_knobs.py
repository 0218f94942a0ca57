#!/usr/bin/env python3
"""Evaluates every point of a seed's knob space, to see how close a search came to the best of it.

Each point is evaluated once, in shuffled order; the fastest ones are then evaluated again, round by round, because
the best of many noisy figures is too good to be true. Every evaluation is appended to a JSONL file as it arrives:
an interrupted enumeration continues where it stopped. Results of another version of the task's files are left alone;
delete the file after changing kernelsmith, the compiler or the machine.

Exit status: 0 done, 1 the search's result is more than 10 % below the best, 2 wrong use or bad input, 3 a broken
machine or environment, 130 interrupted.
"""

import argparse
import hashlib
import itertools
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TUNE = re.compile(r"(?://|#)\s*@tune\s+(?P<values>.*)$")
TOKEN = re.compile(r"-?\.?\d[\w.]*|[A-Za-z_]\w*")
CLOSE_ENOUGH = 0.9
ATTEMPTS = 3
# Candidates of one call of kernelsmith: enough to forget what preparing costs, few enough to lose at Ctrl-C.
BATCH = 32


class Failure(Exception):
    """Ends the script with a message and an exit status."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Knob:
    """A constant with the values it may take, and where its value stands in the text."""

    def __init__(self, name, values, start, end):
        self.name, self.values, self.start, self.end = name, values, start, end


def find_knobs(text, where):
    """The knobs in the EVOLVE-BLOCKs of a text; in all of it if it has none."""
    knobs, offset, has_blocks, inside = [], 0, "EVOLVE-BLOCK-START" in text, False
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        inside = (inside or "EVOLVE-BLOCK-START" in line) and "EVOLVE-BLOCK-END" not in line
        tune = TUNE.search(line)
        if tune:
            tokens = list(TOKEN.finditer(line, 0, tune.start()))
            values = tune["values"].split()
            if not tokens or tokens[-1][0] not in values:
                raise Failure(2, f"{where}:{number}: no constant before @tune that is one of its values")
            if has_blocks and not inside:
                raise Failure(2, f"{where}:{number}: a knob outside the EVOLVE-BLOCKs")
            name = tokens[-2][0] if len(tokens) > 1 else f"line {number}"
            knobs.append(Knob(name, values, offset + tokens[-1].start(), offset + tokens[-1].end()))
        offset += len(line)
    if not knobs:
        raise Failure(2, f"{where}: no @tune comment")
    return knobs


def with_values(text, knobs, values):
    for knob, value in reversed(list(zip(knobs, values))):
        text = text[: knob.start] + value + text[knob.end :]
    return text


def seed_of(task):
    """The seed that task.yaml names under `files`, without a YAML parser: this script has no dependencies."""
    try:
        match = re.search(r"\bseed:\s*([^\s,}]+)", (task / "task.yaml").read_text())
    except OSError as error:
        raise Failure(2, f"{task}: no readable task.yaml ({error.strerror})") from error
    if not match:
        raise Failure(2, f"{task / 'task.yaml'}: names no seed; give one with --seed")
    return task / match[1].strip("\"'")


def digest_of_folder(folder):
    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix != ".md"):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def objects_in(text):
    """The JSON objects that follow one another in `text`."""
    decoder = json.JSONDecoder()
    text = text.strip()
    while text:
        try:
            value, end = decoder.raw_decode(text)
        except ValueError as error:
            raise Failure(3, f"kernelsmith evaluate printed no JSON: {text[:200]!r}") from error
        yield value
        text = text[end:].lstrip()


def in_batches(items):
    return (items[i : i + BATCH] for i in range(0, len(items), BATCH))


class Bench:
    """Evaluates candidates with `kernelsmith evaluate` and keeps every result in a JSONL file."""

    def __init__(self, kernelsmith, task, suffix, out):
        self.kernelsmith, self.task, self.suffix, self.out = kernelsmith, task, suffix, out
        self.task_digest = digest_of_folder(task)
        self.records = {}
        out.parent.mkdir(parents=True, exist_ok=True)
        if out.exists():
            self._load()

    def results(self, text):
        """What is known of a candidate, oldest first."""
        return self.records.get(self._key(text), [])

    def speedup(self, text):
        """The median over its evaluations; zero for a candidate that was rejected or not evaluated."""
        results = self.results(text)
        if not results or not all(r["accepted"] for r in results):
            return 0.0
        return statistics.median(r["speedup"]["median"] for r in results)

    def evaluate(self, points):
        """Evaluates some (text, label), which together pay for the preparation of the task once."""
        for (text, label), answer in zip(points, self._run([text for text, _ in points]), strict=True):
            record = {
                "key": self._key(text),
                "label": label,
                **{k: answer.get(k) for k in ("accepted", "stage", "code", "diagnostics", "speedup", "runtime_us")},
            }
            with self.out.open("a") as file:
                file.write(json.dumps(record) + "\n")
            self.records.setdefault(record["key"], []).append(record)

    def _key(self, text):
        return hashlib.sha256(f"{self.task_digest}\n{text}".encode()).hexdigest()

    def _load(self):
        *complete, torn = self.out.read_text().split("\n")
        for number, line in enumerate(complete, 1):
            try:
                record = json.loads(line)
                self.records.setdefault(record["key"], []).append(record)
            except (ValueError, KeyError, TypeError) as error:
                raise Failure(2, f"{self.out}:{number}: not a result of this script") from error
        if torn:  # the script was killed while it wrote
            self.out.write_text("".join(line + "\n" for line in complete))

    def _run(self, texts):
        with tempfile.TemporaryDirectory() as folder:
            candidates = []
            for number, text in enumerate(texts):
                candidate = pathlib.Path(folder) / f"candidate{number}{self.suffix}"
                candidate.write_text(text)
                candidates.append(str(candidate))
            command = [self.kernelsmith, "evaluate", str(self.task), *candidates, "--json", "--quick"]
            for _ in range(ATTEMPTS):
                try:
                    done = subprocess.run(command, capture_output=True, text=True, check=False)
                except OSError as error:
                    hint = "build it, or name it with --kernelsmith"
                    raise Failure(3, f"{self.kernelsmith}: {error.strerror}; {hint}") from error
                if done.returncode != 3:
                    break
        if done.returncode not in (0, 1):
            raise Failure(
                done.returncode if done.returncode in (2, 130) else 3,
                f"kernelsmith evaluate ended with status {done.returncode}: {done.stderr.strip()[-2000:]}",
            )
        answers = list(objects_in(done.stdout))
        if len(answers) != len(texts):
            raise Failure(3, f"kernelsmith evaluate printed {len(answers)} objects for {len(texts)} candidates")
        return answers


class Progress:
    """One line on stderr every ten seconds."""

    def __init__(self, total):
        self.total, self.done, self.start, self.last = total, 0, time.monotonic(), time.monotonic()

    def step(self, steps):
        self.done += steps
        now = time.monotonic()
        if now - self.last >= 10:
            self.last = now
            left = (now - self.start) / self.done * (self.total - self.done)
            print(f"{self.done} of {self.total} evaluations, about {left:.0f} s left", file=sys.stderr)


def evaluate_all(bench, points):
    progress = Progress(len(points))
    for batch in in_batches(points):
        bench.evaluate(batch)
        progress.step(len(batch))


def measure(bench, points, extra, top, rounds):
    """Evaluates all points once, then `extra` and the `top` fastest points until each has `rounds` evaluations."""
    once = [(text, label) for text, label in points.items() if not bench.results(text)]
    random.Random(0).shuffle(once)
    evaluate_all(bench, once)
    finalists = sorted(points, key=bench.speedup, reverse=True)[:top]
    again = {text: points[text] for text in finalists} | extra
    for round_ in range(rounds):
        evaluate_all(bench, [point for point in again.items() if len(bench.results(point[0])) <= round_])
    return max(finalists, key=bench.speedup)


def quantile(ordered, q):
    return ordered[min(len(ordered) - 1, math.floor(q * len(ordered)))]


def summary(bench, points, best, found):
    speedups = sorted(bench.speedup(text) for text in points)
    accepted = [s for s in speedups if s > 0]
    if not accepted:
        raise Failure(2, "no point of the knob space was accepted: evaluate the seed by itself to see why")
    top = bench.speedup(best)
    result = {
        "points": len(speedups),
        "accepted": len(accepted),
        "best": {"knobs": points[best], "speedup": top, "evaluations": len(bench.results(best))},
        "quantiles": {f"{q:g}": quantile(accepted, q) for q in (0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)},
        "at_least_2x": sum(s >= 2 for s in accepted),
        "within_10_percent": sum(s >= CLOSE_ENOUGH * top for s in accepted),
    }
    if found is not None:
        near = found >= CLOSE_ENOUGH * top
        result["search"] = {"speedup": found, "of_best": found / top, "within_10_percent": near}
    return result


def print_summary(result, out):
    best = result["best"]
    print(f"points     {result['points']}, accepted {result['accepted']}")
    print(f"best       {best['speedup']:.3f}x, the median of {best['evaluations']}")
    for name, value in best["knobs"].items():
        print(f"             {name} = {value}")
    print("quantiles  " + "  ".join(f"{float(q):.0%} {x:.2f}x" for q, x in result["quantiles"].items()))
    print(f"2x         {result['at_least_2x']} points reach it")
    print(f"near best  {result['within_10_percent']} points are within 10 %")
    if "search" in result:
        search = result["search"]
        verdict = "within 10 %" if search["within_10_percent"] else "NOT within 10 %"
        print(f"search     {search['speedup']:.3f}x, {search['of_best']:.1%} of the best: {verdict}")
    print(f"results    {out}")


def best_of_run(run, name):
    path = run / "best" / name
    try:
        return path.read_text()
    except OSError as error:
        raise Failure(2, f"{path}: {error.strerror}; --run takes a run folder of this task") from error


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("task", type=pathlib.Path, metavar="TASK", help="a folder with a task.yaml")
    add("--kernelsmith", default=str(ROOT / "build/release/bin/kernelsmith"), metavar="PATH")
    add("--seed", type=pathlib.Path, metavar="FILE", help="the source with the knobs (default: the task's seed)")
    add("--out", type=pathlib.Path, metavar="FILE", help="results (default: build/knobs/TASK.jsonl)")
    add("--top", type=int, default=10, metavar="N", help="how many of the fastest are repeated (%(default)s)")
    add("--rounds", type=int, default=5, metavar="N", help="evaluations of each of those (%(default)s)")
    add("--json", action="store_true", help="print one JSON object")
    found = parser.add_mutually_exclusive_group()
    found.add_argument("--run", type=pathlib.Path, metavar="RUN",
                       help="compare the best kernel of a run, evaluated beside the fastest points")
    found.add_argument("--speedup", type=float, metavar="X", help="compare a speedup that a search reported")
    arguments = parser.parse_args()
    if arguments.top < 1 or arguments.rounds < 1:
        parser.error("--top and --rounds take at least 1")
    return arguments


def main():
    arguments = parse_arguments()
    task = arguments.task.resolve()
    seed = arguments.seed or seed_of(task)
    try:
        text = seed.read_text()
    except OSError as error:
        raise Failure(2, f"{seed}: {error.strerror}") from error
    knobs = find_knobs(text, seed)
    names = [knob.name for knob in knobs]
    points = {
        with_values(text, knobs, values): dict(zip(names, values))
        for values in itertools.product(*(knob.values for knob in knobs))
    }
    out = arguments.out or ROOT / "build/knobs" / f"{task.name}.jsonl"
    bench = Bench(arguments.kernelsmith, task, seed.suffix, out)
    found_text = best_of_run(arguments.run, seed.name) if arguments.run else None
    extra = {found_text: "the search's best"} if found_text else {}

    best = measure(bench, points, extra, arguments.top, arguments.rounds)
    found = bench.speedup(found_text) if found_text else arguments.speedup
    result = summary(bench, points, best, found)
    if arguments.json:
        print(json.dumps(result, indent=2))
    else:
        print_summary(result, out)
    return 0 if found is None or result["search"]["within_10_percent"] else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"enumerate_knobs: {failure}", file=sys.stderr)
        sys.exit(failure.status)
    except KeyboardInterrupt:
        print("enumerate_knobs: interrupted; run it again to continue", file=sys.stderr)
        sys.exit(130)
