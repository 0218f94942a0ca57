"""Operations are counted as PyTorch counts them, without what its own counter imports."""

import subprocess
import sys
import unittest

import torch
from torch.utils.flop_counter import FlopCounterMode

from kernelsmith_torch.counting import Operations

CALLS = {
    "product": lambda x: x @ x,
    "linear": lambda x: torch.nn.functional.linear(x, x, x[0]),
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "einsum": lambda x: torch.einsum("ij,kj->ik", x, x),
    "convolution": lambda x: torch.nn.functional.conv2d(x.view(1, 1, 8, 8), x[:3, :3].reshape(1, 1, 3, 3)),
    "transposed": lambda x: torch.nn.functional.conv_transpose2d(x.view(1, 1, 8, 8), x[:2, :2].reshape(1, 1, 2, 2)),
    "attention": lambda x: torch.nn.functional.scaled_dot_product_attention(*[x.view(1, 1, 8, 8)] * 3),
    "none": lambda x: torch.relu(x) + 1,
}


class CountingTest(unittest.TestCase):
    def test_as_pytorch_counts(self):
        x = torch.randn(8, 8)
        for manner in (torch.no_grad, torch.inference_mode):
            for name, call in CALLS.items():
                with self.subTest(name, manner=manner.__name__), manner():
                    theirs, ours = FlopCounterMode(display=False), Operations()
                    with theirs:
                        expected = call(x)
                    with ours:
                        got = call(x)
                    self.assertEqual(ours.count, theirs.get_total_flops())
                    self.assertTrue(ours.count or name in ("attention", "none"))  # on a CPU PyTorch has no formula for it
                    torch.testing.assert_close(got, expected)

    def test_what_takes_seconds_is_not_imported(self):
        program = ("import sys, torch\nfrom kernelsmith_torch.counting import Operations\n"
                   "from kernelsmith_torch.accelerator import Device, place\nfrom kernelsmith_torch.layout import Arrangement\n"
                   "with Operations(), torch.no_grad():\n    torch.nn.Linear(4, 4)(torch.randn(4, 4))\n"
                   "place(Arrangement.of([torch.empty(4, 4)]), Device(None))\n"
                   "print([name for name in ('torch._dynamo.utils', 'sympy') if name in sys.modules])")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout.strip(), "[]")
