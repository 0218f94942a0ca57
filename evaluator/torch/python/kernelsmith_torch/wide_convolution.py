"""Transposed convolutions in fp64 as sums of products, one for each element of the filter: for these cuDNN has no fast kernel in
fp64, and products run on tensor cores. Pure functions.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from .counting import Mode

TRANSPOSED = (torch.nn.ConvTranspose1d, torch.nn.ConvTranspose2d, torch.nn.ConvTranspose3d)
_CONVOLUTION = torch.ops.aten.convolution.default
_MOST = 1 << 27
"""Elements of a part of a batch, with its result: 1 GiB. Products need a few times this beside input and result."""


class AsProducts(Mode):
    """Entered around a reference in fp64. Other operators, and other dtypes, are as they were."""

    def __torch_dispatch__(self, function: Any, types: Any, args: tuple[Any, ...] = (),
                           kwargs: dict[str, Any] | None = None) -> Any:
        if function is _CONVOLUTION and not kwargs and args[6] and args[0].dtype == torch.float64 and len(args[0]):
            return transposed_convolution(*args)
        return function(*args, **(kwargs or {}))


def transposed_convolution(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, stride: list[int],
                           padding: list[int], dilation: list[int], _: bool, output_padding: list[int],
                           groups: int) -> torch.Tensor:
    """aten::convolution, transposed: x is [batch, channels, *sizes], and the batch is not empty."""
    dimensions = x.dim() - 2
    geometry = [list(one) * (dimensions if len(one) == 1 else 1) for one in (stride, padding, dilation, output_padding)]
    part = _of_part(x[:1], weight, bias, geometry, groups)
    result = part.new_empty(len(x), *part.shape[1:])
    step = max(1, _MOST // (x[0].numel() + part.numel()))
    for begin in range(0, len(x), step):
        result[begin:begin + step] = _of_part(x[begin:begin + step], weight, bias, geometry, groups)
    return result


def _of_part(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None, geometry: list[list[int]],
             groups: int) -> torch.Tensor:
    stride, padding, dilation, output_padding = geometry
    sizes = x.shape[2:]
    taps = weight.reshape(groups, -1, *weight.shape[1:]).transpose(1, 2)  # [groups, out, in, *filter]
    whole = [(n - 1) * s + d * (k - 1) + 1 + more
             for n, k, s, d, more in zip(sizes, weight.shape[2:], stride, dilation, output_padding)]
    result = x.new_zeros(len(x), groups, weight.shape[1], *whole)
    flat = x.reshape(len(x), groups, -1, sizes.numel())
    for at in itertools.product(*(range(k) for k in weight.shape[2:])):
        places = [slice(i * d, i * d + (n - 1) * s + 1, s) for i, n, s, d in zip(at, sizes, stride, dilation)]
        result[(..., *places)].add_(torch.matmul(taps[(..., *at)], flat).unflatten(3, sizes))
    result = result[(..., *(slice(p, n - p) for p, n in zip(padding, whole)))].flatten(1, 2)
    return result if bias is None else result.add_(bias.reshape(-1, *[1] * len(sizes)))
