"""Transposed convolutions as products are PyTorch's transposed convolutions."""

from __future__ import annotations

import random
import unittest
from unittest import mock

import torch
import torch.nn.functional as F

from kernelsmith_torch import wide_convolution
from kernelsmith_torch.wide_convolution import AsProducts

FUNCTIONS = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)


class Products(unittest.TestCase):
    def test_every_kind(self) -> None:
        some = random.Random(62)
        torch.manual_seed(62)
        for _ in range(100):
            dimensions, groups = some.randint(1, 3), some.randint(1, 3)
            channels, outputs = groups * some.randint(1, 3), groups * some.randint(1, 2)
            kernel, stride, dilation = ([some.randint(1, most) for _ in range(dimensions)] for most in (3, 3, 2))
            more = [some.randrange(max(s, d)) for s, d in zip(stride, dilation)]
            x = torch.randn(some.randint(1, 3), channels, *[some.randint(6, 9) for _ in kernel], dtype=torch.float64)
            weight = torch.randn(channels, outputs // groups, *kernel, dtype=torch.float64)
            bias = some.choice((None, torch.randn(outputs, dtype=torch.float64)))
            padding = [some.randint(0, k // 2) for k in kernel]
            rest = (x, weight, bias, stride, padding, more, groups, dilation)
            expected = FUNCTIONS[dimensions - 1](*rest)
            with mock.patch.object(wide_convolution, "_MOST", some.choice((1, 500, 1 << 27))), AsProducts():
                with mock.patch.object(wide_convolution, "transposed_convolution",
                                       wraps=wide_convolution.transposed_convolution) as used:
                    found = FUNCTIONS[dimensions - 1](*rest)
            used.assert_called_once()
            torch.testing.assert_close(found, expected, rtol=1e-12, atol=1e-12)

    def test_others_are_left_alone(self) -> None:
        x = torch.randn(2, 4, 9)
        with AsProducts(), mock.patch.object(wide_convolution, "transposed_convolution") as used:
            F.conv_transpose1d(x, torch.randn(4, 4, 3))
            F.conv1d(x.double(), torch.randn(4, 4, 3).double())
        used.assert_not_called()


if __name__ == "__main__":
    unittest.main()
