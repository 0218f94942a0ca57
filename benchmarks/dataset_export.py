#!/usr/bin/env python3
"""What `kernelsmith dataset` costs on one run: seconds, of the clock and of the processor, and the peak of its memory.

    python benchmarks/dataset_export.py                # a run of 2,000 iterations, which takes a while to make
    python benchmarks/dataset_export.py 100            # of 100, to see that it runs
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "python" / "tests"))

import dataset_runs
import kernelsmith as ks
from kernelsmith.learning.dataset.settings import KINDS


def measured(run, out, kind):
    """Seconds, CPU seconds and MiB of the command, from its start to its end, and what it says of its rows."""
    began = time.monotonic()
    command = [sys.executable, "-m", "kernelsmith", "dataset", run, "--kind", kind, "-o", out, "--licence", "MIT",
               "--per-task", "1000"]
    paths = os.pathsep.join([str(Path(ks.__file__).absolute().parent.parent), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": paths})
    said = process.stdout.readline().strip()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{kind} failed")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, said.partition(": ")[2].partition(";")[0]


def main():
    iterations = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    with tempfile.TemporaryDirectory() as folder:
        run = dataset_runs.searched(Path(folder) / "a.run", iterations, padding=64)
        size = sum(path.stat().st_size for path in run.iterdir() if path.is_file())
        print(f"{iterations} iterations, {size / 2**20:.0f} MiB\n\n| kind | s | CPU s | MiB | rows |\n|---|---|---|---|---|")
        for kind in KINDS:
            seconds, cpu, mib, said = measured(run, Path(folder) / kind, kind)
            print(f"| `{kind}` | {seconds:.1f} | {cpu:.1f} | {mib:.0f} | {said} |", flush=True)


if __name__ == "__main__":
    main()
