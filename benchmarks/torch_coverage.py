"""How many reference modules can be planned: every .py file below FOLDER that has Model and get_inputs, each planned as
its own candidate by one planner. Prints the figure, the time of each (median, worst), and what failed and why. No GPU.

    PYTHONPATH=evaluator/torch/python:evaluator/python_process/program python3 benchmarks/torch_coverage.py FOLDER [--timeout S]
"""

import argparse
import collections
import pathlib
import statistics
import subprocess
import sys
import time

from kernelsmith_process.framing import read_message, write_message


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--timeout", type=float, default=60, help="seconds for each module")
    arguments = arguments.parse_args()
    planner = subprocess.Popen([sys.executable, "-m", "kernelsmith_torch.planner"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE)
    # Its answer tells that it has imported PyTorch and Triton, which is no module's time.
    write_message(planner.stdin, {"do": "hello"})
    read_message(planner.stdout)
    times, failed, operators = {}, {}, collections.Counter()
    for path in sorted(arguments.folder.rglob("*.py")):
        text = path.read_text()
        if "class Model" not in text or "def get_inputs" not in text:
            continue
        began = time.monotonic()
        write_message(planner.stdin, {"do": "plan", "reference": text, "candidate": None, "timeout_s": arguments.timeout})
        reply, _ = read_message(planner.stdout)
        name = str(path.relative_to(arguments.folder))
        times[name] = time.monotonic() - began
        if "error" in reply:
            failed[name] = reply["error"]
        else:
            operators.update(reply["plans"][0]["summary"]["operators"].keys())
    planner.stdin.close()
    planner.wait()
    if not times:
        sys.exit(f"no module below {arguments.folder}: give the folder of KernelBench's levels")
    slowest = max(times, key=times.get)
    print(f"planned {len(times) - len(failed)} of {len(times)}, {len(operators)} operators in all; time for each: median "
          f"{statistics.median(times.values()):.2f} s, worst {times[slowest]:.2f} s ({slowest})")
    for name, error in failed.items():
        print(f"{name}: {error['code']}: {error['message']} {error['where']}")


if __name__ == "__main__":
    main()
