"""Kills `kernelsmith synthesize` with all that it started, at moments spread over its duration, lets it go on, and compares
every file with those of a run that nobody killed.

    python benchmarks/synthesis_kills.py REPOSITORY... [--kills 30]
"""

import argparse
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time


def command(repositories: list[str], out: pathlib.Path) -> list[str]:
    return [sys.executable, "-m", "kernelsmith", "synthesize", *repositories, "-o", str(out)]


def files(folder: pathlib.Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name not in ("seconds.json", "lock")}


def killed(repositories: list[str], out: pathlib.Path, seconds: float) -> str:
    """The stage that it was in; empty if it had ended."""
    running = subprocess.Popen(command(repositories, out), start_new_session=True, stdout=subprocess.DEVNULL)
    try:
        running.wait(seconds)
        return ""
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.wait()
    return max((path.stem for path in out.glob("*.jsonl")), default="nothing")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("repositories", nargs="+")
    arguments.add_argument("--kills", type=int, default=30)
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as name:
        whole, began = pathlib.Path(name, "whole"), time.monotonic()
        subprocess.run(command(given.repositories, whole), check=True, stdout=subprocess.DEVNULL)
        duration, wanted = time.monotonic() - began, files(whole)
        print(f"{len(wanted)} files in {duration:.1f} s", flush=True)
        different = 0
        for at in range(given.kills):
            out = pathlib.Path(name, f"killed{at}")
            stage = killed(given.repositories, out, duration * (at + 1) / (given.kills + 1))
            subprocess.run(command(given.repositories, out), check=True, stdout=subprocess.DEVNULL)
            found = files(out)
            wrong = sorted(path for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))
            different += bool(wrong)
            print(f"{at + 1}: killed in {stage or 'nothing, it had ended'}{': other ' + ', '.join(wrong) if wrong else ''}",
                  flush=True)
        print(f"{given.kills - different} of {given.kills} ended in the same bytes", flush=True)


if __name__ == "__main__":
    main()
