"""Finds a module's family (one of 20) and difficulty from the operators of its plan."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

# Operators that only allocate, make views, or copy.
LAYOUT = frozenset("""
    alias as_strided broadcast_to chunk detach diagonal expand expand_as flatten movedim narrow permute real imag reshape
    reshape_as
    select slice split split_with_sizes squeeze swapaxes swapdims t transpose unbind unflatten unsqueeze view view_as
    _unsafe_view
    _reshape_alias contiguous lift_fresh arange empty empty_like full full_like new_empty new_full new_ones
    new_zeros ones ones_like
    scalar_tensor zeros zeros_like _to_copy clone copy_ copy to view_as_real view_as_complex linspace empty_strided
""".split())
_PRODUCTS = "mm|bmm|addmm|baddbmm|matmul|linear|einsum|addbmm|mv|dot|bilinear"
_NORMS = r"\w*batch_norm\w*|instance_norm|(?:native_)?layer_norm|(?:native_)?group_norm|rms_norm|_fused_rms_norm"
_BY_HAND = r"rsqrt|std|var|linalg_vector_norm|norm|var_mean"
_CONVOLUTIONS = r"_?convolution|cudnn_convolution\w*|conv\w*"
_ACTIVATIONS = (
    r"relu\w*_?|leaky_relu_?|gelu_?|silu_?|sigmoid_?|tanh_?|elu_?|selu_?|celu_?|mish_?|hardswish_?|hardsigmoid_?|hardtanh_?|"
    r"softplus|softsign|prelu|_prelu_kernel|glu|log_sigmoid_forward|threshold_?")


@dataclass(frozen=True, slots=True)
class _Rule:
    """`needs`: each of these patterns must match at least this many operators. `last`: this pattern must
    match the last operator, apart from scaling and adding up."""

    family: str
    needs: tuple[tuple[str, int], ...]
    last: str = ""


_GATE = "mul of two"
_SCALING = r"add_?|neg|div_?|\w+_scalar|mul"
# The first rule that fits decides. docs/synthesis.md has the same table, and a test compares the two.
RULES = (
    _Rule("recurrence", ((r"lstm\w*|gru\w*|rnn_\w+", 1),)),
    _Rule("spectral", ((r"_fft_\w+", 1),)),
    _Rule("vector quantisation", ((r"argmin|argmax|_?cdist\w*|_euclidean_dist", 1),
        (r"embedding|index|gather|index_select", 1))),
    _Rule("mixture of experts", ((r"topk", 1), (_PRODUCTS, 1))),
    _Rule("attention", ((r"scaled_dot_product_attention", 1),)),
    _Rule("attention", ((r"_?softmax", 1), (_PRODUCTS, 2))),
    _Rule("scan", ((r"cumsum|cumprod|logcumsumexp|cummax|cummin", 1),)),
    _Rule("graph", ((r"scatter\w*|index_add_?|index_put_?", 1),)),
    _Rule("sampling", ((r"grid_sampler_\w+|affine_grid_generator|upsample_\w+|_upsample_\w+|pixel_shuffle|pixel_unshuffle",
        1),)),
    _Rule("channel attention", ((_CONVOLUTIONS, 1), (r"mean|_?adaptive_avg_pool\w+|avg_pool\w+", 1),
        (r"sigmoid_?|hardsigmoid_?|_?softmax", 1),
                                (f"mul_?|{_GATE}", 1))),
    _Rule("convolution block", ((_CONVOLUTIONS, 3), (f"{_NORMS}|{_BY_HAND}", 1))),
    _Rule("convolution and normalisation", ((_CONVOLUTIONS, 1), (f"{_NORMS}|{_BY_HAND}", 1))),
    _Rule("convolution", ((_CONVOLUTIONS, 1),)),
    _Rule("embedding", ((r"_?embedding\w*", 1),)),
    _Rule("gated product", ((_PRODUCTS, 1), (_ACTIVATIONS, 1), (_GATE, 1))),
    _Rule("perceptron", ((_PRODUCTS, 1), (_ACTIVATIONS, 1))),
    _Rule("matrix product", ((_PRODUCTS, 1),)),
    _Rule("loss", ((r"\w*loss\w*|binary_cross_entropy\w*|kl_div", 1),)),
    _Rule("loss", ((r"r?sub", 1),), last="mean|sum"),
    _Rule("normalisation", ((_NORMS, 1),)),
    _Rule("normalisation", ((_BY_HAND, 1),)),
    _Rule("normalisation", (("mean|sum", 1), ("sqrt", 1), (r"div_?", 1))),
    _Rule("reduction", ((r"_?(log_)?softmax|_log_softmax|logsumexp|sum|mean|amax|amin|max|min|prod|\w*pool\w*|topk|sort|"
        "median", 1),)),
    _Rule("element by element", ()),
)
FAMILIES = tuple(dict.fromkeys(rule.family for rule in RULES))
_HEAVY = re.compile(
    "|".join(
        (_PRODUCTS,
        _NORMS,
        _CONVOLUTIONS,
        r"_?softmax|_log_softmax|scaled_dot_product_attention|lstm|gru|rnn_\\w+|"
        r"_fft_\w+|sum|mean|amax|cumsum|\w*pool\w*|topk|sort|embedding|gather|scatter\w*|index\w*")))


def family(operators: list[list[Any]]) -> str:
    names = _named(operators)
    counts = Counter(names)
    last = next((name for name in reversed(names) if name not in LAYOUT and not re.fullmatch(_SCALING, name)), "")
    for rule in RULES:
        if (not rule.last or re.fullmatch(rule.last, last)) and all(
                sum(count for name, count in counts.items() if re.fullmatch(pattern, name)) >= least
                for pattern, least in rule.needs):
            return rule.family
    return RULES[-1].family


def _named(operators: list[list[Any]]) -> list[str]:
    """Operators' names without the axes that they reduce. A multiplication of two computed tensors is a gate,
    but x * sigmoid(x) is an activation."""
    names = [str(name).removesuffix("_outer") for name, _ in operators]
    for at, (_, read) in enumerate(operators):
        if names[at] in ("mul", "mul_") and len(read) == 2:
            swish = any(names[one].startswith("sigmoid") and other in operators[one][1]
                        for one, other in (read, read[::-1]))
            names[at] = "sigmoid" if swish else _GATE
    return names


def work(operators: list[list[Any]]) -> list[str]:
    """Operators that compute."""
    return [str(name) for name, _ in operators if name not in LAYOUT]


def difficulty(operators: list[list[Any]]) -> int:
    """Level 1 has at most 4 operators that compute, of which at most one is heavy. Level 3 has at least 25 of
    them, or at least 8 heavy ones. Level 2 is between."""
    computing = work(operators)
    heavy = sum(bool(_HEAVY.fullmatch(name.removesuffix("_outer"))) for name in computing)
    if len(computing) >= 25 or heavy >= 8:
        return 3
    return 1 if len(computing) <= 4 and heavy <= 1 else 2
