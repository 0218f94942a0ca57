"""What many shapes cost: a task with 16 workloads beside the same task with one. Bars: `evaluate`, source to verdict, takes at
most 5 times as long, and an evaluation of a search at most twice as long. Needs a GPU.

    python3 -u benchmarks/torch_workloads.py [--seconds 25] [--workers 16] [--times 3] [--kernelsmith PROGRAM]
"""

import argparse
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from torch_rate import counts_of
from torch_variants import EXAMPLES

EXAMPLE = EXAMPLES / "level2" / "layer_norm_residual"
# Batches as servers have them, the least and the largest included; the one in the middle is the task with one workload.
ROWS = [1, 2, 4, 8, 16, 33, 64, 128, 256, 500, 1024, 2048, 4096, 5000, 8192, 16384]
ALONE = 4096


def task_with(folder: pathlib.Path, rows: list[int]) -> pathlib.Path:
    """The example's task with these numbers of rows as workloads."""
    shutil.copytree(EXAMPLE, folder)
    reference = folder / "reference.py"
    reference.write_text(reference.read_text().replace("def get_inputs():", "def get_inputs(rows):"))
    workloads = "".join(f"- {{name: rows_{n}, arguments: {{rows: {n}}}}}\n" for n in rows)
    with (folder / "task.yaml").open("a") as task:
        task.write(f"workloads:\n{workloads}")
    return folder


def evaluate_s(kernelsmith: str, task: pathlib.Path) -> float:
    """Seconds of `evaluate` for the task's seed."""
    begun = time.monotonic()
    done = subprocess.run([kernelsmith, "evaluate", task, task / "seed.py"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"the seed of {task.name} was not accepted:\n{done.stdout}{done.stderr}")
    return time.monotonic() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=25, help="of each search")
    parser.add_argument("--workers", type=int, default=16, help="evaluations in flight")
    parser.add_argument("--times", type=int, default=3, help="evaluations of each task")
    parser.add_argument("--kernelsmith", default=shutil.which("kernelsmith"), help="the program, if PATH has none")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        one, many = (task_with(pathlib.Path(folder, name), rows) for name, rows in (("one", [ALONE]), ("many", ROWS)))
        seconds = {task: [] for task in (one, many)}
        for _ in range(chosen.times):  # in turn, so that a change of the machine meets both
            for task in seconds:
                seconds[task].append(evaluate_s(chosen.kernelsmith, task))
        single, all_of_them = (statistics.median(seconds[task]) for task in (one, many))
        print(f"evaluate: {single:.1f} s with one workload, {all_of_them:.1f} s with {len(ROWS)}: "
              f"{all_of_them / single:.2f} times (bar 5)", flush=True)
        rates = []
        for task in (one, many):
            counts, took_s = counts_of(chosen, task / "seed.py", f"{folder}/{task.name}.run")
            candidates = counts["accepted"] + counts["rejected"]
            rates.append(candidates / took_s)
            print(f"search of {task.name}: {candidates} candidates ({counts['accepted']} accepted): {rates[-1]:.2f}/s", flush=True)
        print(f"an evaluation takes {rates[0] / rates[1]:.2f} times as long (bar 2)")


if __name__ == "__main__":
    main()
