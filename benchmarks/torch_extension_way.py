"""Candidates with C++ extensions from source to verdict, in KernelBench's way and by a warm `kernelsmith serve`.

    python3 benchmarks/torch_extension_way.py PROBLEM.py:CANDIDATE.py ... [--kernelsmith PROGRAM] [--builds 8]

Its way is that of `kernelsmith verify`: PyTorch builds the extension, some calls are compared, and 100 are timed from Python.
Builds run beside each other, checks one after the other. We get one request after the other. The problem's own model is asked
for first, so a candidate's time is that of the second of a problem. Needs a GPU and nvcc.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from service_mixed import Service

LIMIT_S = 400
LONG_US = 100
PREPARED = 5
AHEAD = 3  # processes that import PyTorch while another one works
EVALUATOR = pathlib.Path(__file__).parent.parent / "evaluator"
PACKAGES = [str(EVALUATOR / "torch/python"), str(EVALUATOR / "python_process/program")]


def build(problem: str, candidate: str) -> dict:
    begun = time.monotonic()
    try:
        exec(compile(pathlib.Path(candidate).read_text(), candidate, "exec"), {"__name__": "candidate"})  # noqa: S102
    except BaseException as error:  # noqa: BLE001 - a candidate may raise anything
        return {"failed": str(error)[-300:], "took_s": time.monotonic() - begun}
    return {"took_s": time.monotonic() - begun}


def check(problem: str, candidate: str) -> dict:
    from kernelsmith_torch import verify
    from kernelsmith_torch.accelerator import Device

    begun = time.monotonic()
    told = vars(verify.verify(verify.arguments_of([problem, candidate]), Device(0)))
    return {**told, "took_s": time.monotonic() - begun}


def work() -> None:
    """In a process of its own: one job, of standard input."""
    import torch  # noqa: F401 - before the job comes

    job = json.loads(sys.stdin.readline())
    os.environ["TORCH_EXTENSIONS_DIR"] = job["folder"]
    told = {"build": build, "check": check}[job["do"]](job["problem"], job["candidate"])
    print("\n" + json.dumps(told))


class Worker:
    def __init__(self) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(PACKAGES), "TORCH_CUDA_ARCH_LIST": "9.0"}
        self._process = subprocess.Popen([sys.executable, __file__, "--work"], env=environment, text=True,
                                         stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def do(self, job: dict) -> dict:
        try:
            out, _ = self._process.communicate(json.dumps(job) + "\n", timeout=LIMIT_S)
            return json.loads(out.strip().rpartition("\n")[2])
        except (subprocess.TimeoutExpired, ValueError) as error:
            self._process.kill()
            return {"failed": str(error)[:200], "stage": "ended", "problem": "", "took_s": LIMIT_S}


def built(jobs: list[dict], beside: int) -> list[dict]:
    with concurrent.futures.ThreadPoolExecutor(beside) as pool:
        return list(pool.map(lambda job: Worker().do({**job, "do": "build"}), jobs))


def checked(jobs: list[dict]) -> list[dict]:
    waiting = [Worker() for _ in jobs[:AHEAD]]
    results = []
    for number, job in enumerate(jobs):
        results.append(waiting.pop(0).do({**job, "do": "check"}))
        if number + AHEAD < len(jobs):
            waiting.append(Worker())
    return results


def ours(command: str, jobs: list[dict]) -> Iterator[dict]:
    """Problems are prepared a few at a time, by asking for their own models; candidates are evaluated one after the other."""
    service = Service(command, ["--prepared", str(PREPARED)], PREPARED)

    def verdict(task_id: str, reference: str, kernel: str) -> dict:
        return service.evaluate(task_id, reference, kernel, time.monotonic() + LIMIT_S, timeout_s=300) or sys.exit(f"no answer about {task_id}")

    try:
        for first in range(0, len(jobs), PREPARED):
            some = jobs[first:first + PREPARED]
            references = [pathlib.Path(job["problem"]).read_text() for job in some]
            with concurrent.futures.ThreadPoolExecutor(PREPARED) as pool:
                list(pool.map(lambda reference, number: verdict(f"model{number}", reference, as_candidate(reference)),
                              references, range(first, first + len(some))))
            for number, (job, reference) in enumerate(zip(some, references), first):
                yield verdict(f"candidate{number}", reference, pathlib.Path(job["candidate"]).read_text())
    finally:
        service.stop()


def as_candidate(reference: str) -> str:
    return reference.replace("class Model(", "class ModelNew(").replace("super(Model,", "super(ModelNew,")


def line_of(job: dict, build_s: float, plain: dict, result: dict) -> str:
    theirs = (f"{plain['reference_us'] / plain['candidate_us']:.3f}x in {build_s + plain['took_s']:.1f} s"
              if plain["stage"] == "done" else f"fails at {plain['stage']}: {plain['problem'][:80]!r}")
    own = (f"{result['speedup']:.3f}x in {result['latency_s']:.2f} s" if result["correctness"]
           else f"{result['error_code']} in {result['latency_s']:.2f} s: {str(result['error_message'])[:160]!r}")
    return f"{pathlib.Path(job['candidate']).stem}: {theirs}; ours {own}"


def summarize(builds: list[dict], plain: list[dict], results: list[dict]) -> None:
    judged = [result["latency_s"] for result in results if result["status"] == "completed"]
    passed = [their["stage"] == "done" for their in plain]
    theirs = [built_["took_s"] + their["took_s"] for built_, their, done in zip(builds, plain, passed) if done]
    if judged and theirs:
        print(f"source to verdict, median: ours {statistics.median(judged):.2f} s ({len(judged)}), KernelBench's way "
              f"{statistics.median(theirs):.1f} s ({len(theirs)})")
    ratios = [result["speedup"] / (their["reference_us"] / their["candidate_us"])
              for their, result, done in zip(plain, results, passed) if done and result["correctness"] and min(their["candidate_us"], their["reference_us"]) >= LONG_US]
    if ratios:
        close = sum(abs(ratio - 1) <= 0.03 for ratio in ratios)
        print(f"speedups, ours over its, calls above {LONG_US} us: {len(ratios)}, median {statistics.median(ratios):.3f}, "
              f"{min(ratios):.3f} to {max(ratios):.3f}, {close} within 3 %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", nargs="+")
    parser.add_argument("--kernelsmith", default="kernelsmith")
    parser.add_argument("--builds", type=int, default=8, help="beside each other")
    parser.add_argument("--keep", help="a folder for what PyTorch builds; builds that it has are used")
    parser.add_argument("--only-build", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        kept = pathlib.Path(chosen.keep or scratch)
        jobs = [{"problem": problem, "candidate": candidate, "folder": str(kept / str(number))}
                for number, (problem, candidate) in enumerate(pair.split(":") for pair in chosen.pairs)]
        for job in jobs:
            os.makedirs(job["folder"], exist_ok=True)
        past = kept / "builds.json"
        if not past.exists():
            past.write_text(json.dumps(built(jobs, chosen.builds)))
        builds = json.loads(past.read_text())
        print(f"PyTorch's builds: {sum('failed' not in each for each in builds)} of {len(builds)} succeed, median "
              f"{statistics.median(each['took_s'] for each in builds):.1f} s", flush=True)
        if chosen.only_build:
            return
        plain = checked(jobs)
    results = []
    for job, built_, their, result in zip(jobs, builds, plain, ours(chosen.kernelsmith, jobs)):
        results.append(result)
        print(line_of(job, built_["took_s"], their, result), flush=True)
    summarize(builds, plain, results)


if __name__ == "__main__":
    work() if sys.argv[1:] == ["--work"] else main()
