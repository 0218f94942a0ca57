"""The judge's kernels on a GPU: the same findings as on the processor, and how long a comparison takes beside a copy of the
bytes that it reads. Needs a GPU and KERNELSMITH_JUDGE_LIBRARY: `python3 -u gpu_judge.py`; 30 s.
"""

from __future__ import annotations

import math
import os
import random
import sys
import time
from unittest import mock

HERE = os.path.dirname(os.path.abspath(__file__))
EVALUATOR = os.path.join(HERE, "..", "..", "..", "evaluator")
sys.path[0:0] = [os.path.join(EVALUATOR, "torch", "python"), os.path.join(EVALUATOR, "python_process", "program")]

import torch  # noqa: E402

from kernelsmith_torch import accelerator, compare, judge  # noqa: E402
from kernelsmith_torch.truth import Expected, Truth, _row  # noqa: E402
from kernelsmith_torch.workloads import Tolerance  # noqa: E402

GPU, CPU = torch.device("cuda"), torch.device("cpu")
REALS = (torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64)
CASES = 2000


def truth_of(policy: str, precision: str, on_host: bool = False) -> Truth:
    """A Truth whose reference has 300 terms."""
    made = Truth.__new__(Truth)
    made._wide, made._precision, made.on_host = object(), precision, on_host
    made._tolerance = Tolerance("allclose", 1e-3, 1e-4, either=True) if policy == "either" else Tolerance(policy, 1e-3, 1e-4)
    made._terms, made._more = lambda output: 300, lambda variant: [(1e-6, 1e-6)]
    return made


def drawn(shape: tuple[int, ...], dtype: torch.dtype, some: random.Random) -> tuple[torch.Tensor, ...]:
    """The truth, and what reference and candidate write."""
    wide = torch.complex128 if dtype.is_complex else torch.float64
    t = torch.randn(shape, dtype=wide)
    if some.random() < 0.3:
        t *= torch.logspace(-10, 4, t.numel(), dtype=torch.float64).reshape(shape)
    unit = torch.finfo(dtype).eps
    own = (t + unit * some.choice((0, 1, 20)) * torch.randn(shape, dtype=wide)).to(dtype)
    actual = (t + unit * 10 ** some.uniform(0, 4) * torch.randn(shape, dtype=wide) * (torch.rand(shape) < 0.5)).to(dtype)
    for tensor in (t, own, actual):
        for _ in range(some.choice((0, 0, 3))):
            tensor.view(-1)[some.randrange(tensor.numel())] = some.choice((math.inf, -math.inf, math.nan, 0.0))
    if some.random() < 0.2:
        actual.view(-1).view(torch.uint8)[:actual.element_size()] = 0xFF
    return t, own, actual


def agree(one: tuple[float, judge.Found], other: tuple[float, judge.Found]) -> bool:
    """A GPU rounds less when it multiplies and adds, and more when it divides."""
    (limit, a), (limit_too, b) = one, other
    exact = [(tuple(found.counts), tuple(found.firsts), found.worst_at) for found in (a, b)]
    near = ((limit, limit_too), (a.worst, b.worst), (a.squares, b.squares), (a.worst_within, b.worst_within))
    return exact[0] == exact[1] and all(x == y or math.isclose(x, y, rel_tol=1e-4) for x, y in near)


def judged_on(device: torch.device, policy: str, precision: str, tensors: tuple[torch.Tensor, ...], on_host: bool) -> tuple[float, judge.Found]:
    t, own, actual = (tensor.to(device) for tensor in tensors)
    one = truth_of(policy, precision, on_host)._budgeted(own, t, own, 0, 0)
    assert one.truth.is_cuda == (device == GPU and not on_host)
    return one.rms_limit, judge.joined(compare.look(one, actual).cpu())


def same_findings() -> None:
    some = random.Random(62)
    torch.manual_seed(62)
    differing = 0
    for number in range(CASES):
        shape = some.choice(((5,), (3000,), (40, 64), (7, 1000), (3, 1024), (100, 3)))
        policy, precision = some.choice(("auto", "auto", "allclose", "either", "normwise")), some.choice(("fp32", "tf32", "bf16"))
        tensors = drawn(shape, some.choice(REALS), some)
        here, there = (judged_on(device, policy, precision, tensors, False) for device in (GPU, CPU))
        with mock.patch.object(accelerator, "CHUNK", 2048):
            sliced = judged_on(GPU, policy, precision, tensors, True)
        assert agree(sliced, here), number
        if not agree(here, there):  # rounding may decide for an element at its tolerance, or which of two is the worst
            differing += 1
            print("differs:", number, shape, policy, tensors[1].dtype, list(here[1].counts), list(there[1].counts))
    assert differing <= CASES // 500, differing
    print(f"{CASES} cases: {differing} differ between GPU and processor")
    for dtype in (torch.uint8, torch.int16, torch.int32, torch.int64):
        one, other = (torch.randint(0, 3, (9999,)).to(dtype) for _ in range(2))
        actual = torch.where(torch.rand(9999) < 0.9, one, torch.randint(0, 3, (9999,)).to(dtype))
        rows = [Expected((9999,), dtype, one.to(device), other.to(device)) for device in (GPU, CPU)]
        found = [judge.joined(compare.look(row, actual.to(row.truth.device)).cpu()) for row in rows]
        assert agree((1, found[0]), (1, found[1])) and found[0].counts[0] > 0, dtype
        key = accelerator.secret_key()
        assert int(accelerator.hash_of(actual.to(GPU), key)) == int(accelerator.hash_of(actual, key)), dtype


def seconds(step: object) -> float:
    """The best of ten."""
    times = []
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def speed() -> None:
    for dtype in (torch.float32, torch.bfloat16):
        t = torch.randn(1 << 28, dtype=torch.float64, device=GPU).view(-1, 4096)
        own = t.to(dtype)
        derived = seconds(lambda: truth_of("auto", "fp32")._budgeted(own, t, own, 0, 0))
        one = truth_of("auto", "fp32")._budgeted(own, t, own, 0, 0)
        del t
        read = own.nbytes + one.truth.nbytes + one.blocks.nbytes
        place = torch.empty(read // 2, dtype=torch.uint8, device=GPU)
        source = torch.empty_like(place)
        copied = seconds(lambda: place.copy_(source))  # reads and writes as many bytes as a comparison reads
        looked, hashed = seconds(lambda: compare.look(one, own)), seconds(lambda: accelerator.hash_of(own))
        print(f"{dtype}, {read / 1e9:.2f} GB: look {looked * 1e3:.3f} ms, copy {copied * 1e3:.3f} ms, ratio {looked / copied:.2f}; "
              f"hash of {own.nbytes / 1e9:.2f} GB {hashed * 1e3:.3f} ms; derive {derived * 1e3:.2f} ms")
        one.truth = one.truth.cpu().pin_memory()
        host = torch.empty(one.truth.shape, dtype=dtype, device=GPU)
        brought, copied = seconds(lambda: compare.look(one, own)), seconds(lambda: host.copy_(one.truth))
        print(f"  truth on the host: look {brought * 1e3:.1f} ms, its copy {copied * 1e3:.1f} ms, ratio {brought / copied:.2f}")


def compiling() -> None:
    for kind in ("f32", "4"):
        begin = time.perf_counter()
        judge._module(kind, GPU)
        print(f"NVRTC, kernels of {kind}: {time.perf_counter() - begin:.3f} s")


if __name__ == "__main__":
    torch.zeros(1, device=GPU)
    assert _row(torch.empty(7, 1000)) == 1000
    compiling()
    same_findings()
    speed()
