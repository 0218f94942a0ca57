"""Tunes the knobs of a C++ kernel: every candidate is compiled, checked against the reference, and timed.

    python kernel_tuner.py                             examples/softmax_cpu, 20 iterations
    python kernel_tuner.py ../matmul_cpu 50 best.run   another task, budget and run folder
"""

import sys
from pathlib import Path

import kernelsmith as ks

SOFTMAX = Path(__file__).resolve().parent.parent / "softmax_cpu"


def tell(commit):
    if commit.new_best:
        print(f"ticket {commit.ticket}: {commit.program.fitness:.3f}x the baseline")


def main(task=SOFTMAX, iterations=20, out=None):
    task = ks.Task(task)
    print(task.name, "on", task.backend)
    outcome = ks.run(task, proposer=ks.Tuner(), iterations=int(iterations), out=out, progress=tell)
    print(outcome.reason, outcome.counts)
    if outcome.best is None:
        sys.exit(outcome.error)
    evaluation = outcome.confirmation or outcome.best.evaluation
    measured = evaluation.measurement
    print(f"{measured.median:.3f}x the baseline, {measured.low:.3f} to {measured.high:.3f}")
    print(*[line.strip() for line in outcome.best.source.text.splitlines() if "@tune" in line], sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
