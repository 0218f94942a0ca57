"""The fused kernels do what PyTorch's operators do: under Triton's interpreter, which needs no GPU."""

import math
import os
import subprocess
import sys
import unittest

from support import needs_torch

HERE = os.path.abspath(__file__)
SIZE = 3 * 8192 + 1021  # programs that are full, and one that is not; no whole number of words


def hashes_agree() -> None:
    import torch
    from kernelsmith_torch import accelerator, fused

    for dtype in (torch.int32, torch.uint8):
        words = torch.randint(0, 200, (SIZE,)).to(dtype)
        words[7] = -5 if dtype == torch.int32 else 251
        for key in (accelerator.PUBLIC_KEY, accelerator.secret_key()):
            mine, own = int(fused.weighted_sum(words, key)), int(accelerator.hash_of(words, key))
            assert mine == own, (dtype, key, mine, own)


def outputs(torch, dtype, faults: bool):
    """An Expected with everything in it that a comparison can meet, and an output."""
    from kernelsmith_torch.truth import BLOCK, Expected

    torch.manual_seed(1)
    truth = torch.randn(SIZE, dtype=torch.float64)
    truth[5], truth[6], truth[7] = math.nan, math.inf, -math.inf
    allowed = torch.full((SIZE,), 0.1)
    allowed[11] = math.inf
    actual = truth.to(dtype)
    actual[11] = 1e4
    if faults:
        actual[100], actual[SIZE - 1] = 50, 9
        actual[6] = 0
        actual[9000], actual[8192] = math.inf, math.nan
        bits = actual.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[dtype.itemsize])
        bits[200:210] = -1
    scale = torch.rand((SIZE + BLOCK - 1) // BLOCK, dtype=torch.float64) + 0.1
    return Expected((SIZE,), dtype, truth.float() if dtype.itemsize == 2 else truth, allowed, scale), actual


def looks_agree() -> None:
    import torch
    from kernelsmith_torch import compare, fused

    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        for faults in (False, True):
            for per_element, scaled in ((True, True), (True, False), (False, True)):
                one, actual = outputs(torch, dtype, faults)
                one.per_element = per_element
                one.scale = one.scale if scaled else None
                own = compare._look(one, actual)
                mine = fused.look(actual, compare._bits(actual), one.truth, one.allowed, one.scale,
                                  compare._poison_bits(actual), per_element, compare._LARGEST, compare._NONE)
                what = (dtype, faults, per_element, scaled, own.tolist(), mine.tolist())
                assert torch.equal(torch.cat([own[:1], own[3:]]), torch.cat([mine[:1], mine[3:]])), what
                assert math.isclose(own[2], mine[2], rel_tol=1e-12), what
                if own[0] > 0:  # among several that are as bad as can be, any
                    assert own[1] == mine[1] or own[0] == compare._LARGEST, what


def slices_agree() -> None:
    import torch
    from kernelsmith_torch import compare, fused

    one, actual = outputs(torch, torch.float32, True)
    whole, row = compare._look_fused(one, actual, compare._poison_bits(actual), slice(0, SIZE)), None
    usable, fused.usable = fused.usable, lambda tensor: True
    assert torch.equal(compare._look(one, torch.stack([actual, -actual], 1)[:, 0])[2:], whole[2:]), "of a column"
    for part in (slice(0, 8192), slice(8192, SIZE)):
        found = compare._look_fused(one, actual[part], compare._poison_bits(actual), part)
        row = found if row is None else compare._joined(row, found)
    assert torch.equal(whole[2:].round(decimals=9), row[2:].round(decimals=9)), (whole, row)
    assert whole[0] == row[0], (whole, row)
    fused.usable = usable


def tolerances_agree() -> None:
    import torch
    from kernelsmith_torch import fused, truth

    rule = truth.Truth.__new__(truth.Truth)
    rule._wide, rule._precision = object(), "bf16"
    torch.manual_seed(2)
    for dtype in (torch.float32, torch.float16, torch.float64):
        t = torch.randn(SIZE, dtype=torch.float64) * torch.logspace(-6, 2, SIZE, dtype=torch.float64)
        own = (t * (1 + 1e-3 * torch.randn(SIZE))).to(dtype)
        low = own.clone()
        low[50:60] *= 1.5
        t[5], t[6], own[6], own[7], low[8], t[9], own[9] = math.nan, math.inf, math.inf, math.inf, math.nan, -math.inf, math.inf
        for p in (own, low):
            places = torch.empty(2, SIZE)
            wanted = rule._rounding(dtype, t, own, p, 3000, (0.0, 0.0), places[0])
            fused.usable = lambda tensor: True
            mine = rule._rounding(dtype, t, own, p, 3000, (0.0, 0.0), places[1])
            fused.usable = lambda tensor: False
            assert torch.allclose(*places, rtol=1e-6, atol=0), (dtype, places)
            assert torch.allclose(wanted, mine, rtol=1e-12, atol=0), (dtype, wanted, mine)


@needs_torch
class Fused(unittest.TestCase):
    def test_agrees_with_pytorchs_operators(self) -> None:
        done = subprocess.run([sys.executable, HERE], env={**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
                              capture_output=True, text=True, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])


if __name__ == "__main__":
    hashes_agree()
    looks_agree()
    slices_agree()
    tolerances_agree()
