"""Plans, runs and compares candidates on a real GPU, and prints what every step takes: `python3 gpu_check.py`.

Needs PyTorch with CUDA, Triton and cuda.bindings. Starts planner, judge and runner as kernelsmith does. Ends within 60 s,
with status 1 where something is not as it must be.
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

HERE = os.path.dirname(os.path.abspath(__file__))
EVALUATOR = os.path.join(HERE, "..", "..", "..", "evaluator")
FOLDERS = [os.path.join(EVALUATOR, "torch", "python"), os.path.join(EVALUATOR, "python_process", "program")]
sys.path[0:0] = FOLDERS

from kernelsmith_process import framing  # noqa: E402

LIMIT_S = 58
ROUNDS = 20
BEGIN = time.perf_counter()

SOFTMAX = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, dim=1)
def get_inputs():
    return [torch.randn(4096, 2048)]
def get_init_inputs():
    return []
"""

SOFTMAX_KERNEL = """
import torch, triton
import triton.language as tl
%s
@triton.jit
def row_softmax(x, y, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * n + at, mask=at < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * n + at + %s, e / tl.sum(e, 0) * %s, mask=at < n)
class ModelNew(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        row_softmax[(x.shape[0],)](x, y, x.shape[1], BLOCK=2048%s)
        return y
"""
TUNED = """@triton.autotune(configs=[triton.Config({}, num_warps=w) for w in (1, 4, 8)], key=["n"])"""

NOTING = """
@triton.jit
def noted():
    asm: tl.constexpr = "{ .global .align 4 .u32 check_note; cvta.global.u64 $0, check_note; }"
    return tl.inline_asm_elementwise(asm, "=l,r", [tl.zeros((), tl.int32)], dtype=tl.int64, is_pure=True, pack=1)
"""
SEEN = "0 + (tl.atomic_add(noted().to(tl.pointer_type(tl.int32)), 1) >= tl.num_programs(0)).to(tl.float32) + 1"

GELU = """
import torch
class Model(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        return torch.nn.functional.gelu(self.linear(x))
def get_inputs():
    return [torch.randn(1024, 1024)]
def get_init_inputs():
    return [1024]
"""

GELU_KERNEL = """
import torch, triton
import triton.language as tl
@triton.jit
def gelu(y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(y + at, mask=at < n)
    tl.store(y + at, v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)), mask=at < n)
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        y = self.linear(x)
        gelu[(triton.cdiv(y.numel(), 1024),)](y, y.numel(), BLOCK=1024)
        return y
"""

DOT_KERNEL = """
import torch, triton
import triton.language as tl
@triton.jit
def product(x, w, b, y, N, K, M: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, PRECISION: tl.constexpr):
    rows = tl.program_id(0) * M + tl.arange(0, M)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((M, BN), tl.float32)
    for k in range(0, K, BK):
        at = k + tl.arange(0, BK)
        a = tl.load(x + rows[:, None] * K + at[None, :])
        c = tl.load(w + columns[None, :] * K + at[:, None])
        total = tl.dot(a, c, total, input_precision=PRECISION)
    v = total + tl.load(b + columns)[None, :]
    tl.store(y + rows[:, None] * N + columns[None, :], v * 0.5 * (1.0 + tl.erf(v * 0.7071067811865476)))
class ModelNew(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, width)
    def forward(self, x):
        y = torch.empty_like(x)
        product[(x.shape[0] // 64, x.shape[1] // 64)](x, self.linear.weight, self.linear.bias, y, x.shape[1], x.shape[1],
                                                     M=64, BN=64, BK=32, PRECISION="%s")
        return y
"""


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
            told, _, seconds = process.must(do="hello")
            say(f"{process.name} is ready after {seconds:.2f} s more: {told}")
        self.arch = self.judge.must(do="hello")[0]["capability"]
        self.arch = 10 * self.arch[0] + self.arch[1]

    def task(self, name: str, reference: str, precision: str = "fp32", baseline: str = "eager") -> None:
        self.reference = reference
        self.path = os.path.join(self.folder, name + ".py")
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(reference)
        told, _, seconds = self.judge.must(do="prepare", reference=self.path, precision=precision, baseline=baseline,
                                           tolerance={"policy": "default"}, bank_bytes=2 << 30, batch_us=200,
                                           most_slots=32)
        self.slots, self.variants, self.precision = told["slots"], len(told["variants"]), precision
        self.outputs = told["outputs"]
        say(f"{name} ({precision}, {baseline}): judge prepared in {seconds:.2f} s: {told}")
        self.fresh_runner(restart=False)

    def fresh_runner(self, restart: bool = True) -> None:
        if restart:
            self.runner = Process("kernelsmith_torch.worker", "runner")
            self.runner.must(do="hello")
        seconds = self.runner.must(do="prepare", reference=self.path, precision=self.precision, slots=self.slots,
                                   outputs=self.outputs)[2]
        say(f"runner prepared in {seconds:.2f} s")

    def load(self, name: str, candidate: str | None, **limits: float) -> None:
        told, blob, seconds = self.planner.must(do="plan", reference=self.reference, candidate=candidate,
                                                name="candidate.py", arch=self.arch, timeout_s=20, most_bytes=64 << 20)
        say(f"{name}: planned in {seconds:.2f} s, {len(blob)} bytes: {told.get('summary')}")
        told, _, seconds = self.runner.must(blob, do="load", **limits)
        say(f"{name}: loaded in {seconds:.2f} s: {told}")

    def batch(self, variant: int, sets: list[int]) -> tuple[dict, dict, list[float]]:
        """Runs and compares one batch: times, findings, seconds of each step."""
        times, _, run_s = self.runner.must(do="run", variant=variant, sets=sets)
        told, _, publish_s = self.runner.must(do="publish")
        found, _, compare_s = self.judge.must(do="compare", variant=variant, sets=sets, outbox=told["outbox"])
        return times, found, [run_s, publish_s, compare_s]

    def good(self, name: str, candidate: str | None) -> None:
        """A candidate that must be right: times it beside the yardstick."""
        self.load(name, candidate)
        random.seed(7)
        mine, its, ratios, host, costs, worst = [], [], [], [], [], 0.0
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
                host.append((times["host_us"] - times["us"]) / times["us"])
            mine.append(pair["candidate"])
            its.append(pair["yardstick"])
            ratios.append(pair["yardstick"] / pair["candidate"])
            costs.append([yardstick_s, own_s, *steps])
        middle = [statistics.median(column) * 1e3 for column in zip(*costs)]
        say(f"{name}: candidate {_spread(mine)} us a call, yardstick {_spread(its)} us, ratio {_spread(ratios)}, worst error "
            f"{worst:.3f} of its budget, yardstick's own {own['error']:.3f}, host clock {statistics.median(host) * 100:+.1f} %")
        say(f"{name}: first pair {mine[0]:.2f} and {its[0]:.2f} us; median ms: yardstick %.2f, its compare %.2f, run %.2f, "
            "publish %.2f, compare %.2f" % tuple(middle))
        say(f"{name}: profile {self.runner.must(do='profile')[0]}")

    def bad(self, name: str, candidate: str, kind: str) -> None:
        """A candidate that must be found wrong."""
        self.load(name, candidate)
        found = self.batch(0, [3, 4][:self.slots])[1]
        if not found["wrong"] or found["wrong"]["kind"] != kind:
            raise Refused(f"{name} should be {kind}: {found}")
        say(f"{name}: found, {found['error']:.2f} of its budget: {found['wrong']}")

    def forgotten(self, name: str, candidate: str) -> None:
        """A candidate that is right as long as nothing tells it that it ran before: it must be right in each batch."""
        self.load(name, candidate)
        for seed in (3, 4, 5):
            found = self.batch(0, [seed])[1]
            if found["wrong"]:
                raise Refused(f"{name} knows of a batch before: {found}")
        say(f"{name}: right in each batch")

    def crash(self, name: str, candidate: str) -> None:
        """A candidate that must crash its runner, and nothing else."""
        try:
            self.load(name, candidate)
            raise Refused(f"{name} should crash")
        except Refused as error:
            status = self.runner.end()
            say(f"{name}: {error}; the runner's status is {status}")
            if "'crashed'" not in str(error) or status != 3:
                raise Refused(f"{name} should be crashed, and the runner's status 3") from error
        self.fresh_runner()

    def hang(self, name: str, candidate: str) -> None:
        """A candidate that never ends: its runner must say so after 2 s, and a spare that has started must take over."""
        spare = Process("kernelsmith_torch.worker", "runner")
        spare.must(do="hello")
        start = time.perf_counter()
        try:
            self.load(name, candidate, call_s=2.0)
            raise Refused(f"{name} should be timed_out")
        except Refused as error:
            told_s = time.perf_counter() - start
            if "'timed_out'" not in str(error):
                raise
            say(f"{name}: {error}; planned and told after {told_s:.2f} s")
        start = time.perf_counter()
        self.runner.process.kill()
        self.runner.process.wait()
        ended_s = time.perf_counter() - start
        self.runner = spare
        self.fresh_runner(restart=False)
        say(f"{name}: the killed runner was gone after {ended_s:.2f} s, the spare ready after {time.perf_counter() - start:.2f} s")

    def end(self) -> None:
        for process in (self.planner, self.judge, self.runner):
            say(f"{process.name} ended with status {process.end()}")


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):.4g} (cv {statistics.stdev(values) / statistics.mean(values) * 100:.2f} %)"


def main() -> int:
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        check = Check(folder)

        def attempt(step: object, *arguments: object) -> None:
            nonlocal failures
            if time.perf_counter() - BEGIN > LIMIT_S:
                raise SystemExit("the time is over")
            try:
                step(*arguments)
            except Refused as error:
                failures += 1
                say(f"NOT AS IT MUST BE: {error}")
                if "runner" in str(error) and check.runner.lost():
                    check.fresh_runner()

        softmax = SOFTMAX_KERNEL
        attempt(check.task, "softmax", SOFTMAX)
        attempt(check.good, "triton softmax", softmax % ("", "0", "1.0", ", num_warps=8"))
        attempt(check.good, "the reference's own plan", None)
        attempt(check.good, "autotuned softmax", softmax % (TUNED, "0", "1.0", ""))
        attempt(check.bad, "softmax off by 1e-4", softmax % ("", "0", "1.0001", ""), "wrong")
        attempt(check.bad, "softmax NaN", softmax % ("", "0", "float('nan')", ""), "not_finite")
        attempt(check.forgotten, "softmax with a variable", softmax % (NOTING, "0", f"({SEEN})", ", num_warps=8"))
        attempt(check.crash, "softmax out of bounds", softmax % ("", "(1 << 38)", "1.0", ""))
        attempt(check.good, "triton softmax after a crash", softmax % ("", "0", "1.0", ", num_warps=8"))
        forever = softmax.replace("    v = tl", "    while tl.load(x, volatile=True) != 12345.678:\n        pass\n    v = tl")
        attempt(check.hang, "softmax that never ends", forever % ("", "0", "1.0", ""))
        attempt(check.good, "triton softmax after a hang", softmax % ("", "0", "1.0", ", num_warps=8"))
        attempt(check.task, "linear_gelu", GELU)
        attempt(check.good, "linear and triton gelu", GELU_KERNEL)
        attempt(check.good, "triton product in fp32", DOT_KERNEL % "ieee")
        attempt(check.bad, "triton product in tf32", DOT_KERNEL % "tf32", "wrong")
        attempt(check.task, "linear_gelu_tf32", GELU, "tf32")
        attempt(check.good, "triton product in tf32, declared", DOT_KERNEL % "tf32")
        attempt(check.task, "linear_gelu_compiled", GELU, "tf32", "compile")
        attempt(check.good, "linear and triton gelu against torch.compile", GELU_KERNEL)
        check.end()
    say(f"done: {failures} not as they must be")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
