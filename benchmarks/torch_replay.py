"""Whether plans do what their modules do: plans every reference module below FOLDER as its own candidate, replays it on
the GPU, and compares a batch of each variant of the inputs. Prints one line for each that fails, and the figures; with
`--times` also how long a call of the module's own takes, beside the microseconds of the file's line `# roofline_us: ...`.

    python3 benchmarks/torch_replay.py FOLDER [--limit SECONDS] [--times]
"""

import argparse
import pathlib
import re
import time

from torch_workers import Process, Refused, compare, planned_ahead, planner, prepare, worker


def replay(judge: Process, runner: Process, path: pathlib.Path, plan: bytes) -> str:
    """What is wrong with the plan's outputs; nothing if they are right."""
    told = prepare(judge, runner, path)
    runner.ask(plan, do="load", alone=True)
    for variant, _ in enumerate(told["variants"]):
        sets = list(range(100, 100 + min(2, told["slots"])))
        runner.ask(do="run", variant=variant, sets=sets)
        found = compare(judge, runner, variant, sets)
        if found["wrong"]:
            return f"{told['variants'][variant]}: {found['error']:.3g} of its budget: {found['wrong']}"
    return ""


def microseconds(judge: Process) -> float:
    """What a call of the module's own takes, on inputs that a first batch has touched."""
    for _ in range(3):
        told, _ = judge.ask(do="yardstick", variant=0, sets=[7])
    return told["us"]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folder", type=pathlib.Path)
    arguments.add_argument("--limit", type=float, default=3600, help="seconds; what is left then is not tried")
    arguments.add_argument("--times", action="store_true")
    arguments = arguments.parse_args()
    paths = [path for path in sorted(arguments.folder.rglob("*.py"))
             if "class Model(" in (text := path.read_text()) and "def get_inputs" in text]
    planning, judge, runner = planner(), worker("judge"), worker("runner")
    plans = planned_ahead(planning, [{"reference": path.read_text(), "candidate": None} for path in paths])
    began, right, tried = time.monotonic(), 0, 0
    for path in paths:
        if time.monotonic() - began > arguments.limit:
            break
        tried += 1
        plan, blob = plans.get()
        at = time.monotonic()
        try:
            wrong = f"not planned: {plan}" if isinstance(plan, Refused) else replay(judge, runner, path, blob)
        except Refused as error:
            wrong = str(error)
            judge.end()
            runner.end()
            judge, runner = worker("judge"), worker("runner")
        right += not wrong
        if arguments.times and not wrong:
            said = re.search(r"# roofline_us: ([\d.]+)", path.read_text())
            print(f"{path.stem}: {microseconds(judge):.0f} us, roofline {said.group(1) if said else '?'} us", flush=True)
        if wrong:
            print(f"{path.relative_to(arguments.folder)}: {wrong} ({time.monotonic() - at:.1f} s)", flush=True)
    print(f"{right} of {tried} replayed right, of {len(paths)} modules, in {time.monotonic() - began:.0f} s", flush=True)
    for process in (planning, judge, runner):
        process.end()


if __name__ == "__main__":
    main()
