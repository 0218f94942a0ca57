"""Plans, runs and compares candidates on a real GPU, and prints a line for each check: `python3 -u gpu_check.py`.

Needs PyTorch with CUDA, Triton and cuda.bindings. Starts planner, judge and runner as kernelsmith does, and looks at
what outlives a call in a runner of its own (gpu_outlives.py). Ends within 180 s, with status 1 and a traceback if something
is not as it must be.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))
EVALUATOR = os.path.join(HERE, "..", "..", "..", "evaluator")
FOLDERS = [os.path.join(EVALUATOR, "torch", "python"), os.path.join(EVALUATOR, "python_process", "program")]
sys.path[0:0] = [*FOLDERS, HERE]

from gpu_candidates import DOT_KERNEL, GELU, GELU_KERNEL, NOTING, SEEN, SOFTMAX, SOFTMAX_KERNEL, TUNED  # noqa: E402
from own_kernels import own_kernels  # noqa: E402

from kernelsmith_process import framing  # noqa: E402

LIMIT_S = 170
ROUNDS = 20
BEGIN = time.perf_counter()


def say(text: str) -> None:
    print(f"[{time.perf_counter() - BEGIN:6.2f} s] {text}", flush=True)


class Process:
    """One of kernelsmith's Python processes. It is killed when a reply takes too long."""

    def __init__(self, *arguments: str) -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(FOLDERS), "PYTHONUNBUFFERED": "1"}
        if "planner" in arguments[0]:
            environment["CUDA_VISIBLE_DEVICES"] = ""
        self.name = arguments[-1]
        self.process = subprocess.Popen([sys.executable, "-m", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, env=environment)

    def ask(self, blob: bytes = b"", limit_s: float = 40, **request: object) -> tuple[dict, bytes, float]:
        """The reply, its blob, and the seconds that it took."""
        left = min(limit_s, LIMIT_S - (time.perf_counter() - BEGIN))
        alarm = threading.Timer(max(left, 0.1), self.process.kill)
        alarm.start()
        start = time.perf_counter()
        try:
            framing.write_message(self.process.stdin, request, blob)
            reply = framing.read_message(self.process.stdout)
        except (framing.FramingError, BrokenPipeError):
            reply = None
        finally:
            alarm.cancel()
        if reply is None:
            raise Refused(f"{self.name} ended, or was killed after {left:.0f} s, while asked to {request['do']}")
        return reply[0], reply[1], time.perf_counter() - start

    def must(self, blob: bytes = b"", **request: object) -> tuple[dict, bytes, float]:
        reply, out, seconds = self.ask(blob, **request)
        if "ok" not in reply:
            raise Refused(f"{self.name}, asked to {request['do']}: {reply['error']}")
        return reply, out, seconds

    def end(self) -> int:
        self.process.stdin.close()
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


    def lost(self) -> bool:
        """Whether it has ended, or will within a moment."""
        try:
            self.process.wait(1)
        except subprocess.TimeoutExpired:
            return False
        return True


class Refused(Exception):
    """Something is not as it must be."""


class Check:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.planner = Process("kernelsmith_torch.planner")
        self.judge = Process("kernelsmith_torch.worker", "judge")
        self.runner = Process("kernelsmith_torch.worker", "runner")
        for process in (self.planner, self.judge, self.runner):
            process.must(do="hello")
        told = self.judge.must(do="hello")[0]
        self.arch = 10 * told["capability"][0] + told["capability"][1]
        say(f"planner, judge and runner are ready: {told}")

    def task(self, name: str, reference: str, precision: str = "fp32", baseline: str = "eager") -> str:
        self.reference = reference
        self.path = os.path.join(self.folder, name + ".py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(reference)
        told, _, seconds = self.judge.must(do="prepare", reference=self.path, precision=precision, baseline=baseline,
                                           bank_bytes=2 << 30, batch_us=200,
                                           most_slots=32, kernels=own_kernels())
        told.update(told["workloads"][0])
        self.slots, self.variants, self.precision = told["slots"], len(told["variants"]), precision
        self.outputs = told["outputs"]
        self.fresh_runner(restart=False)
        return f"{precision}, {baseline}: judge prepared in {seconds:.2f} s: {told}"

    def runners_task(self) -> dict:
        """What a runner gets to know about the task."""
        return {"reference": self.path, "precision": self.precision, "slots": self.slots, "outputs": self.outputs,
                "kernels": own_kernels()}

    def fresh_runner(self, restart: bool = True) -> None:
        if restart:
            self.runner = Process("kernelsmith_torch.worker", "runner")
            self.runner.must(do="hello")
        self.runner.must(do="prepare", **self.runners_task())

    def plan(self, candidate: str | None) -> bytes:
        return self.planner.must(do="plan", reference=self.reference, candidate=candidate, name="candidate.py",
                                 arch=self.arch, timeout_s=20, most_bytes=64 << 20)[1]

    def load(self, candidate: str | None, **limits: float) -> str:
        """What the runner answered, and how long it took."""
        blob = self.plan(candidate)
        told, _, seconds = self.runner.must(blob, do="load", **limits)
        return f"loaded in {seconds:.2f} s, best {told['best']!r} of {len(told['alternatives'])}"

    def batch(self, variant: int, sets: list[int]) -> tuple[dict, dict, list[float]]:
        """Runs and compares one batch: times, findings, seconds of each step."""
        times, _, run_s = self.runner.must(do="run", variant=variant, sets=sets)
        told, _, publish_s = self.runner.must(do="publish")
        found, _, compare_s = self.judge.must(do="compare", variant=variant, sets=sets, outbox=told["outbox"])
        return times, found, [run_s, publish_s, compare_s]

    def good(self, _: str, candidate: str | None) -> str:
        """A candidate that must be right: times it beside the yardstick."""
        loaded = self.load(candidate)
        random.seed(7)
        mine, its, ratios, costs, worst = [], [], [], [], 0.0
        for round_ in range(ROUNDS):
            variant = round_ % self.variants
            sets = [random.getrandbits(62) for _ in range(random.randint((self.slots + 1) // 2, self.slots))]
            pair = {}
            for who in ("yardstick", "candidate") if round_ % 2 else ("candidate", "yardstick"):
                if who == "yardstick":
                    times, _, yardstick_s = self.judge.must(do="yardstick", variant=variant, sets=sets)
                    own, _, own_s = self.judge.must(do="compare", variant=variant, sets=sets, own=True)
                    if own["wrong"]:
                        raise Refused(f"the yardstick itself is wrong: {own}")
                else:
                    times, found, steps = self.batch(variant, sets)
                    if found["wrong"]:
                        raise Refused(f"wrong in variant {variant}: {found}")
                    worst = max(worst, found["error"])
                pair[who] = times["us"] / len(sets)
            mine.append(pair["candidate"])
            its.append(pair["yardstick"])
            ratios.append(pair["yardstick"] / pair["candidate"])
            costs.append([yardstick_s, own_s, *steps])
        middle = [statistics.median(column) * 1e3 for column in zip(*costs)]
        profile = self.runner.must(do="profile")[0]
        if profile["peak_bytes"] <= 0:
            raise Refused(f"a call that takes no memory: {profile}")
        return (f"candidate {_spread(mine)} us a call, yardstick {_spread(its)} us, ratio {_spread(ratios)}, first pair "
                f"{mine[0]:.2f} and {its[0]:.2f} us, worst error {worst:.3f} of its budget, yardstick's own "
                f"{own['error']:.3f}; {loaded}, own share "
                f"{profile['own_share']:.2f}, peak {profile['peak_bytes']} bytes; "
                + "median ms: yardstick {:.2f}, its compare {:.2f}, run {:.2f}, publish {:.2f}, compare {:.2f}".format(*middle))

    def bad(self, name: str, candidate: str, kind: str) -> str:
        """A candidate that must be found wrong."""
        self.load(candidate)
        found = self.batch(0, [3, 4][:self.slots])[1]
        if not found["wrong"] or found["wrong"]["kind"] != kind:
            raise Refused(f"{name} should be {kind}: {found}")
        return f"found, {found['error']:.2f} of its budget: {found['wrong']}"

    def forgotten(self, name: str, candidate: str) -> str:
        """A candidate that is right as long as nothing shows that it ran before: it must be right in each batch."""
        self.load(candidate)
        for seed in (3, 4, 5):
            found = self.batch(0, [seed])[1]
            if found["wrong"]:
                raise Refused(f"{name} knows of a batch before: {found}")
        return "right in each batch"

    def crash(self, name: str, candidate: str) -> str:
        """A candidate that must crash its runner, and nothing else."""
        try:
            self.load(candidate)
            raise Refused(f"{name} should crash")
        except Refused as error:
            status, told = self.runner.end(), str(error)
            if "'crashed'" not in told or status != 3:
                raise Refused(f"{name} should be crashed, and the runner's status 3, not {status}") from error
        self.fresh_runner()
        return told

    def hang(self, name: str, candidate: str) -> str:
        """A candidate that never ends: its runner must say so after 2 s, and a spare that has started must take over."""
        spare = Process("kernelsmith_torch.worker", "runner")
        spare.must(do="hello")
        start = time.perf_counter()
        try:
            self.load(candidate, call_s=2.0)
            raise Refused(f"{name} should be timed_out")
        except Refused as error:
            told_s = time.perf_counter() - start
            if "'timed_out'" not in str(error):
                raise
        start = time.perf_counter()
        self.runner.process.kill()
        self.runner.process.wait()
        ended_s = time.perf_counter() - start
        self.runner = spare
        self.fresh_runner(restart=False)
        return (f"planned and told after {told_s:.2f} s, the killed runner was gone after {ended_s:.2f} s, the spare ready "
                f"after {time.perf_counter() - start:.2f} s")

    def end(self) -> str:
        statuses = [process.end() for process in (self.planner, self.judge, self.runner)]
        if any(statuses):
            raise Refused(f"planner, judge and runner end with {statuses}")
        return "planner, judge and runner ended"


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.4g} (cv {statistics.stdev(values) / statistics.mean(values) * 100:.2f} %)"


class Attempts:
    """Checks that are made one after the other, whatever becomes of each: a line for each, and a traceback of what fails."""

    def __init__(self) -> None:
        self.failures = 0

    def __call__(self, name: str, step: Callable[[], str]) -> None:
        if time.perf_counter() - BEGIN > LIMIT_S:
            raise SystemExit("the time is over")
        try:
            say(f"ok      {name}: {step()}")
        except Exception as error:  # noqa: BLE001 - the other checks go on
            self.failures += 1
            say(f"FAILED  {name}: {error}")
            traceback.print_exc(file=sys.stdout)


def check_processes(check: Check, attempt: Attempts) -> None:
    """Whole candidates, through processes that are started as kernelsmith starts them."""

    def does(step: Callable[..., str], name: str, *arguments: object) -> None:
        before = attempt.failures
        attempt(name, lambda: step(name, *arguments))
        if attempt.failures > before and check.runner.lost():
            check.fresh_runner()

    softmax = SOFTMAX_KERNEL
    does(check.task, "softmax", SOFTMAX)
    does(check.good, "triton softmax", softmax % ("", "0", "1.0", ", num_warps=8"))
    does(check.good, "the reference's own plan", None)
    does(check.good, "autotuned softmax", softmax % (TUNED, "0", "1.0", ""))
    does(check.bad, "softmax off by 1e-4", softmax % ("", "0", "1.0001", ""), "wrong")
    does(check.bad, "softmax NaN", softmax % ("", "0", "float('nan')", ""), "not_finite")
    does(check.forgotten, "softmax with a variable", softmax % (NOTING, "0", f"({SEEN})", ", num_warps=8"))
    does(check.crash, "softmax out of bounds", softmax % ("", "(1 << 38)", "1.0", ""))
    does(check.good, "triton softmax after a crash", softmax % ("", "0", "1.0", ", num_warps=8"))
    forever = softmax.replace("    v = tl", "    while tl.load(x, volatile=True) != 12345.678:\n        pass\n    v = tl")
    does(check.hang, "softmax that never ends", forever % ("", "0", "1.0", ""))
    does(check.good, "triton softmax after a hang", softmax % ("", "0", "1.0", ", num_warps=8"))
    does(check.task, "linear_gelu", GELU)
    does(check.good, "linear and triton gelu", GELU_KERNEL)
    does(check.good, "triton product in fp32", DOT_KERNEL % "ieee")
    does(check.bad, "triton product in tf32", DOT_KERNEL % "tf32", "wrong")
    does(check.task, "linear_gelu_tf32", GELU, "tf32")
    does(check.good, "triton product in tf32, declared", DOT_KERNEL % "tf32")
    does(check.task, "linear_gelu_compiled", GELU, "tf32", "compile")
    does(check.good, "linear and triton gelu against torch.compile", GELU_KERNEL)


def check_outlives(check: Check, attempt: Attempts) -> None:
    """What outlives a call, in this process."""
    import gpu_outlives

    outlives = gpu_outlives.Outlives()
    for name in ("seals", "free_memory", "multiprocessors", "pools", "workspaces"):
        attempt(name.replace("_", " "), getattr(outlives, name))
    honest = SOFTMAX_KERNEL % ("", "0", "1.0", ", num_warps=8")
    attempt("softmax", lambda: check.task("softmax", SOFTMAX))
    batches = gpu_outlives.Batches(outlives.device, check.plan, check.runners_task())
    attempt("a batch's costs", lambda: batches.costs(honest))
    attempt("costs with a variable", lambda: batches.costs(SOFTMAX_KERNEL % (NOTING, "0", f"({SEEN})", ", num_warps=8")))
    attempt("a padded output", lambda: batches.laid_out(
        gpu_outlives.case("softmax/part_of_a_wider_output.py").replace("4096", "2048").replace("8192", "4096")))
    attempt("inputs changed by sums of zero", lambda: batches.changing(
        gpu_outlives.case("softmax/input_modified_by_sums_of_zero.py").replace("4096", "2048"), honest))
    attempt("linear_gelu", lambda: check.task("linear_gelu", GELU))
    batches = gpu_outlives.Batches(outlives.device, check.plan, check.runners_task())
    attempt("costs with cuBLAS", lambda: batches.costs(GELU_KERNEL))
    doubled = GELU_KERNEL.replace("        return y", "        self.linear.weight.mul_(2)\n        return y")
    attempt("a parameter changed", lambda: batches.changing(doubled, GELU_KERNEL))


def main() -> int:
    attempt = Attempts()
    with tempfile.TemporaryDirectory() as folder:
        check = Check(folder)
        check_processes(check, attempt)
        check_outlives(check, attempt)
        attempt("the end", check.end)
    say(f"done: {attempt.failures} not as they must be")
    return 1 if attempt.failures else 0


if __name__ == "__main__":
    sys.exit(main())
