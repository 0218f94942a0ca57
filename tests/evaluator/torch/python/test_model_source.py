"""Inputs of the three variants, on the CPU."""

import tempfile
import unittest
from unittest import mock

from support import HEAD, needs_torch

TRIANGLE = HEAD + """
class Model(nn.Module):
    def forward(self, x, h, n):
        return x @ x + h
def get_inputs(): return [(torch.rand(6, 6).triu() - 2 * torch.eye(6)).flip(0), torch.zeros(6, 6), torch.arange(3)]
def get_init_inputs(): return []
"""


@needs_torch
class Variants(unittest.TestCase):
    def draw(self, variant):
        import torch
        from kernelsmith_torch.model_source import Reference

        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(TRIANGLE)
            file.flush()
            return Reference(file.name, torch.device("cpu"), False).draw(variant, 7).tensors()

    def test_zeros_of_a_structure_stay_zeros(self):
        import torch

        x, h, n = self.draw(0)
        for most in (1 << 27, 4):  # in one part, and in several, of which the first is zero
            with mock.patch("kernelsmith_torch.model_source._MOST_MASK", most):
                shifted = self.draw(2)
            self.assertTrue(torch.equal(shifted[0], torch.where(x == 0, x, x + 1)))
            self.assertTrue(torch.equal(shifted[1], h + 1), "a tensor of zeros has no structure")
            self.assertTrue(torch.equal(shifted[2], n), "whole numbers may be indices")
        self.assertTrue(torch.equal(self.draw(1)[0], 4 * x))
