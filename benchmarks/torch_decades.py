"""What the torch judge says of references whose values span many decades, on the CPU: look-alikes of KernelBench's Mamba2
(level 3, 48 and 49) and long softmaxes.

    PYTHONPATH=evaluator/torch/python:evaluator/python_process/program \
        python3 benchmarks/torch_decades.py [--seeds 4] [--only mamba] [--honest]

Honest programs compute the same in another order; the others round to fewer digits, or leave a term out. Prints a table: how
many sets of inputs (every variant, several seeds) are refused by the budgets alone, and with the second look at single
elements (docs/tolerance.md). Exits with 1 if an honest program is refused by that, or another one on no set.
"""

import argparse
import itertools
import math
import pathlib
import sys
import tempfile

import torch

from kernelsmith_torch.compare import compare_batch
from kernelsmith_torch.model_source import VARIANTS, Reference
from kernelsmith_torch.truth import Tolerance, Truth

BATCH, LENGTH, HEADS, WIDTH, STATE, CHUNK = 4, 512, 8, 16, 16, 64

MAMBA = f"""
import torch, torch.nn as nn, torch.nn.functional as F
def segsum(x):
    n = x.size(-1)
    sums = torch.cumsum(x, dim=-1)
    mask = torch.tril(torch.ones(n, n, device=x.device, dtype=bool))
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(~mask, -torch.inf)
def blocks(x, length):
    return x.reshape(x.shape[0], -1, length, *x.shape[2:])
def scan(X, A, B, C, length):
    X, A, B, C = (blocks(x, length) for x in (X, A, B, C))
    A = A.permute(0, 3, 1, 2)
    sums = torch.cumsum(A, dim=-1)
    inside = torch.einsum("bclhn,bcshn,bhcls,bcshp->bclhp", C, B, torch.exp(segsum(A)), X)
    states = torch.einsum("bclhn,bhcl,bclhp->bchpn", B, torch.exp(sums[..., -1:] - sums), X)
    states = torch.cat([torch.zeros_like(states[:, :1]), states], dim=1)
    decay = torch.exp(segsum(F.pad(sums[..., -1], (1, 0))))
    states = torch.einsum("bhzc,bchpn->bzhpn", decay, states)
    before = torch.einsum("bclhn,bchpn,bhcl->bclhp", C, states[:, :-1], torch.exp(sums))
    return (inside + before).flatten(1, 2), states[:, -1]
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.A = nn.Parameter(torch.randn({BATCH}, {LENGTH}, {HEADS}))
        self.B = nn.Parameter(torch.randn({BATCH}, {LENGTH}, {HEADS}, {STATE}))
        self.C = nn.Parameter(torch.randn({BATCH}, {LENGTH}, {HEADS}, {STATE}))
    def forward(self, X):
        return scan(X, self.A, self.B, self.C, {CHUNK})[WHICH]
def get_inputs():
    return [torch.randn({BATCH}, {LENGTH}, {HEADS}, {WIDTH})]
"""

SOFTMAX = """
import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)
def get_inputs():
    return [torch.randn(16, 8192) * 5]
"""

ATTENTION = """
import torch
class Model(torch.nn.Module):
    def forward(self, q, k, v):
        return torch.softmax(q @ k.transpose(1, 2), -1) @ v
def get_inputs():
    return [torch.randn(4, 128, 32), torch.randn(4, 1024, 32), torch.randn(4, 1024, 32)]
"""


def as_is(x):
    return x


def tf32(x):
    """Ten bits after the point, to nearest."""
    return ((x.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)


def narrow(dtype):
    return lambda x: x.to(dtype).float()


def stable_segsum(a):
    n = a.shape[-1]
    lower = torch.tril(torch.ones(n, n, dtype=bool), -1)
    sums = a[..., :, None].expand(*a.shape, n).masked_fill(~lower, 0).cumsum(-2)
    return sums.masked_fill(~torch.tril(torch.ones(n, n, dtype=bool)), -math.inf)


def cumsum_by_halves(a):
    """Hillis and Steele's scan."""
    step = 1
    while step < a.shape[-1]:
        a = a + torch.nn.functional.pad(a, (step, 0))[..., :a.shape[-1]]
        step *= 2
    return a


def difference(sums):
    n = sums.shape[-1]
    return (sums[..., :, None] - sums[..., None, :]).masked_fill(~torch.tril(torch.ones(n, n, dtype=bool)), -math.inf)


def chunked(length, into=as_is, segsum=None, cumsum=lambda a: a.cumsum(-1), out=as_is, exp=torch.exp, scores=None):
    """Mamba2 in chunks, as fused kernels do: scores, then one product; the state goes from chunk to chunk. `into` is done to
    what products take, `out` to what is accumulated."""
    segsum = segsum or (lambda a: difference(cumsum(a)))

    def program(p, x):
        a, b, c = p["A"], p["B"], p["C"]
        state = torch.zeros(x.shape[0], x.shape[2], STATE, x.shape[3])
        y = []
        for at in range(0, x.shape[1], length):
            A = a[:, at:at + length].permute(0, 2, 1).contiguous()
            X, B, C = (t[:, at:at + length].permute(0, 2, 1, 3) for t in (x, b, c))
            sums = cumsum(A)
            weights = (into(C) @ into(B).transpose(2, 3)) * exp(segsum(A))
            if scores is not None:
                weights = scores(weights)
            here = into(weights) @ into(X)
            before = (into(C) @ into(state)) * exp(sums)[..., None]
            y.append(out(here + before).permute(0, 2, 1, 3))
            add = into(B * exp(sums[..., -1:] - sums)[..., None]).transpose(2, 3) @ into(X)
            state = out(state * exp(sums[..., -1])[..., None, None] + add)
        return torch.cat(y, 1), state.transpose(2, 3)

    return program


def sequential(out=as_is, last=None):
    def program(p, x):
        a, b, c = p["A"].exp(), p["B"], p["C"]
        if last is not None:
            b = last(b)
        state = torch.zeros(x.shape[0], x.shape[2], STATE, x.shape[3])
        y = []
        for t in range(x.shape[1]):
            state = out(a[:, t, :, None, None] * state + b[:, t, :, :, None] * x[:, t, :, None, :])
            y.append(out((c[:, t, :, None, :] @ state).squeeze(2)))
        return torch.stack(y, 1), state.transpose(2, 3)

    return program


def without(column):
    """Leaves a term of a chunk out: that of its first step everywhere, or of its last step, which only the last row has."""
    def scores(weights):
        weights = weights.clone()
        weights[..., column] = 0
        return weights
    return scores


def exp_by_2(x):
    return torch.exp2(x * math.log2(math.e))


def without_steps(every):
    def change(b):
        b = b.clone()
        b[:, every - 1::every] = 0
        return b
    return change


def in_single_elements(program, wrong):
    """The honest program's output, but at one element in 4,096."""
    def both(*given):
        good, bad = program(*given), wrong(*given)
        there = torch.rand(good.shape, generator=torch.Generator().manual_seed(1)) < 1 / 4096
        return torch.where(there, bad, good)
    return both


MAMBA_HONEST = {f"chunks of {n}": chunked(n) for n in (16, 32, 64, 128, LENGTH)}
MAMBA_HONEST |= {"one by one": sequential(),
                 "chunks of 64, sums of each part": chunked(64, segsum=stable_segsum),
                 "chunks of 32, exp2": chunked(32, exp=exp_by_2),
                 "chunks of 64, sums by halves": chunked(64, cumsum=cumsum_by_halves),
                 "chunks of 128, sums by halves": chunked(128, cumsum=cumsum_by_halves)}
BF16, F16 = narrow(torch.bfloat16), narrow(torch.float16)
MAMBA_WRONG = {"TF32 products, chunks of 64": chunked(64, into=tf32), "TF32 products, chunks of 16": chunked(16, into=tf32),
               "bf16 products": chunked(64, into=BF16), "chunk states in bf16": chunked(64, out=BF16),
               "chunk states in f16": chunked(64, out=F16), "state in bf16": sequential(out=BF16),
               "state in f16": sequential(out=F16)}
Y_WRONG = {"without a chunk's first term": chunked(64, scores=without(0)),
           "without a chunk's last term": chunked(64, scores=without(-1))}
STATE_WRONG = {"without every 64th step": sequential(last=without_steps(64))}


def online(length, exp=torch.exp, out=as_is, into=as_is, skip=False):
    def program(_, x):
        most = torch.full(x.shape[:-1], -math.inf)
        total = torch.zeros(x.shape[:-1])
        x = into(x)
        parts = x.split(length, -1)
        for part in parts:
            now = torch.maximum(most, part.amax(-1))
            add = exp(part - now[..., None])
            total = out(total * exp(most - now) + (add[..., :-1] if skip else add).sum(-1))
            most = now
        return exp(x - most[..., None]) / total[..., None]
    return program


def flash(length, exp=torch.exp, out=as_is, into=as_is, skip=False):
    def program(_, q, k, v):
        most = torch.full(q.shape[:-1], -math.inf)
        total, y = torch.zeros(q.shape[:-1]), torch.zeros_like(q)
        for ks, vs in zip(k.split(length, 1), v.split(length, 1)):
            s = into(q) @ into(ks).transpose(1, 2)
            if skip:
                s[..., -1] = -math.inf
            now = torch.maximum(most, s.amax(-1))
            weights, shrink = exp(s - now[..., None]), exp(most - now)
            total = out(total * shrink + weights.sum(-1))
            y = out(y * shrink[..., None] + into(weights) @ into(vs))
            most = now
        return y / total[..., None]
    return program


ONLINE = {f"online, parts of {n}": online(n) for n in (32, 256, 1024)} | {"online, exp2": online(128, exp_by_2)}
ONLINE_WRONG = {"inputs in TF32": online(256, into=tf32), "sum in bf16": online(256, out=BF16),
                "sum in f16": online(32, out=F16),
                "a term in 256 left out": online(256, skip=True)}
FLASH = {f"online, parts of {n}": flash(n) for n in (16, 64, 256)} | {"online, exp2": flash(64, exp_by_2)}
FLASH_WRONG = {"TF32 products": flash(64, into=tf32), "sums in bf16": flash(64, out=BF16), "sums in f16": flash(64, out=F16),
               "a term in 64 left out": flash(64, skip=True)}


def pick(programs, which):
    return {name: (lambda p, *x, run=run: run(p, *x)[which]) for name, run in programs.items()}


def with_single(honest, wrong, *names):
    """The wrong programs, and some of them in single elements of an honest output."""
    base = next(iter(honest.values()))
    return wrong | {f"{name}: one element in 4,096": in_single_elements(base, wrong[name]) for name in names}


def mamba(which, more):
    honest, wrong = pick(MAMBA_HONEST, which), pick(MAMBA_WRONG | more, which)
    return (MAMBA.replace("[WHICH]", f"[{which}]"), honest,
            with_single(honest, wrong, "TF32 products, chunks of 64", "bf16 products", next(iter(more))))


FAMILIES = {
    "Mamba2, Y": mamba(0, Y_WRONG),
    "Mamba2, last state": mamba(1, STATE_WRONG),
    "softmax": (SOFTMAX, ONLINE, with_single(ONLINE, ONLINE_WRONG, "inputs in TF32", "sum in bf16")),
    "attention": (ATTENTION, FLASH, with_single(FLASH, FLASH_WRONG, "TF32 products", "a term in 64 left out")),
}


class Row:
    """A program's, or those of several."""

    def __init__(self):
        self.sets = self.before = self.after = 0
        self.worst = 0.0

    def add(self, before, after):
        self.sets += 1
        self.before += before.wrong is not None
        self.after += after.wrong is not None
        self.worst = max(self.worst, after.error)

    def told(self):
        return f"{self.sets} | {self.before} | {self.after} | {f'{self.worst:.2g}' if self.worst < 1e6 else 'over 1e6'} |"


def judge_family(text, honest, wrong, seeds):
    """The rows of a table; all honest programs share one."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "reference.py")
        path.write_text(text, encoding="utf-8")
        reference = Reference(str(path), torch.device("cpu"))
    truth = Truth(reference, "fp32", Tolerance(), 0)
    title = f"honest: {len(honest)} programs"
    rows = {name: Row() for name in [title, *wrong]}
    for variant, seed in itertools.product(range(len(VARIANTS)), seeds):
        expected = [truth.expected(variant, seed)]
        for name, program in {**honest, **wrong}.items():
            output = program(reference.state(), *reference.draw(variant, seed).tensors()).contiguous()
            before = after = compare_batch(expected, [[output]])
            if before.wrong:
                after = compare_batch(expected, [[output]], lambda _, run, v=variant, s=seed: truth.moved(v, s, run))
            rows[title if name in honest else name].add(before, after)
            if after.wrong and name in honest:
                print(f"refused: {name}, {VARIANTS[variant]}, seed {seed}: {after.wrong}", file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--first", type=int, default=1000)
    parser.add_argument("--only", default="")
    parser.add_argument("--honest", action="store_true", help="no others")
    arguments = parser.parse_args()
    seeds = range(arguments.first, arguments.first + arguments.seeds)
    good = True
    print("| reference | program | sets | refused by budgets | refused | worst |\n|---|---|---|---|---|---|", flush=True)
    for family, (text, honest, wrong) in FAMILIES.items():
        if arguments.only not in family:
            continue
        for name, row in judge_family(text, honest, {} if arguments.honest else wrong, seeds).items():
            good &= row.after > 0 if name in wrong else row.after == 0
            print(f"| {family} | {name} | {row.told()}", flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
