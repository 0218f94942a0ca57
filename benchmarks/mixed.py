"""Honest and hostile candidates of one task in random order, through one `kernelsmith evaluate`. Needs a GPU.

    python3 benchmarks/mixed.py torch|cuda [--tasks softmax linear] [--count 300] [--limit 200]

Half of the candidates are honest, the others are drawn from the red team's cases (tests/redteam): they crash, hang, forge plans, write
to inputs and weights, leave marks. Every honest one must be accepted with the score that it has without such neighbours.
Prints a line for each kind of verdict; exit status 1 if an honest candidate did not get what it should.
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

REDTEAM = pathlib.Path(__file__).parent.parent / "tests/redteam"
sys.path.insert(0, str(REDTEAM))
from cases import whole  # noqa: E402

COMMENT = {"torch": "#", "cuda": "//"}
# Planning that ends at its time limit would take the benchmark's time, and no runner is disturbed by it.
SLOW = ("rejected(plan, timed_out)", "rejected(plan, too_large)", "rejected(compile, timed_out)")
SPREAD = 0.03


def cases(backend: str, task: str) -> tuple[list[pathlib.Path], list[pathlib.Path]]:
    """Honest ones and the others."""
    honest, hostile = [], []
    for path in sorted((REDTEAM / backend / "cases" / task).iterdir()):
        declared = path.read_text().split("\n", 1)[0].partition("redteam:")[2].strip()
        if declared == "honest":
            honest.append(path)
        elif not any(slow in declared for slow in SLOW):
            hostile.append(path)
    return honest, hostile


def copy_of(case: pathlib.Path, number: int, backend: str, folder: pathlib.Path) -> pathlib.Path:
    """The case as a candidate that differs from all others."""
    copy = folder / f"{number:03}_{case.name.removesuffix('.patch')}"
    copy.write_text(f"{whole(case)}\n{COMMENT[backend]} candidate {number}\n")
    return copy


def evaluate(task: pathlib.Path, files: list[pathlib.Path], limit_s: float) -> dict[pathlib.Path, dict]:
    """The answers that came in time, by the file that each is about."""
    process = subprocess.Popen(["kernelsmith", "evaluate", "--quick", "--json", str(task), *map(str, files)],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        process.terminate()
        out, err = process.communicate()
        print(f"  stopped after {limit_s:.0f} s")
    lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    answers = {pathlib.Path(line["file"]): line for line in lines if "file" in line}
    if not answers:
        print(err.strip()[-1000:])
    return answers


def verdict(answer: dict) -> str:
    if "error" in answer:
        return f"error {answer['error']['code']}: {answer['error']['message'][:120]}"
    return "accepted" if answer["accepted"] else f"rejected({answer['stage']}, {answer['code']})"


def score(answer: dict) -> float:
    return answer["speedup"]["median"] if answer.get("accepted") else float("nan")


def mix(backend: str, task: str, count: int, limit_s: float, seed: int) -> bool:
    """Whether every honest candidate got what it should."""
    end, draw = time.monotonic() + limit_s, random.Random(seed)
    honest, hostile = cases(backend, task)
    folder = REDTEAM / backend / "tasks" / task
    with tempfile.TemporaryDirectory() as scratch:
        alone = [copy_of(case, i, backend, pathlib.Path(scratch)) for i, case in enumerate(honest)]
        answered = evaluate(folder, alone, limit_s)
        usual = {case: score(answered[file]) for case, file in zip(honest, alone) if file in answered}
        drawn = [draw.choice(honest) for _ in range(count // 2)] + [draw.choice(hostile) for _ in range(count - count // 2)]
        draw.shuffle(drawn)
        files = [copy_of(case, 100 + i, backend, pathlib.Path(scratch)) for i, case in enumerate(drawn)]
        begin = time.monotonic()
        answers = evaluate(folder, files, end - begin)
        print(f"{backend} {task}: {len(answers)} of {count} candidates in {time.monotonic() - begin:.0f} s")
    bad, ratios, others = 0, [], collections.Counter()
    for case, file in zip(drawn, files):
        if file not in answers:
            continue
        answer = answers[file]
        if case not in honest:
            others[verdict(answer)] += 1
            continue
        ratio = score(answer) / usual.get(case, float("nan"))
        ratios.append(ratio)
        if not abs(ratio - 1) <= SPREAD:
            bad += 1
            print(f"  {case.name}: {verdict(answer)}, {ratio:.3f} of its usual score: {answer.get('diagnostics', '')[:200]}")
    if ratios:
        print(f"  honest: {len(ratios)}, of which {bad} not as alone; scores are {min(ratios):.3f} to {max(ratios):.3f} of those alone, "
              f"median {statistics.median(ratios):.3f}")
    for words, number in others.most_common():
        print(f"  hostile: {number:4} {words}")
    return not bad and len(answers) == count and not any(words.startswith("error") for words in others)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend", choices=COMMENT)
    parser.add_argument("--tasks", nargs="+", help="of the red team (default: softmax, and linear for torch)")
    parser.add_argument("--count", type=int, default=300, help="candidates in all")
    parser.add_argument("--limit", type=float, default=200, help="seconds in all")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    if not shutil.which("kernelsmith"):
        parser.error("there is no kernelsmith on the PATH")
    tasks = chosen.tasks or (["softmax", "linear"] if chosen.backend == "torch" else ["softmax"])
    held = [mix(chosen.backend, task, chosen.count // len(tasks), chosen.limit / len(tasks), chosen.seed) for task in tasks]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
