"""The list of operators that are allowed in a plan. The planner refuses others, and the workers check. A name
includes all its overloads and its in-place form; overloads that write to `out` are allowed only if OUT lists
the name, too. Excluded are random operators (a plan is repeated and compared), except those that draw nothing
in evaluation; operators whose shape or control flow depends on values (a graph cannot read them); those that
replace or resize a tensor's memory; those that change a tensor's shape in place (a plan runs many times on
the same tensors: safe_form returns a replacement); and anything that reads or writes files. `as_strided` must
stay within its storage: PyTorch checks that.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import torch

VIEWS = """
    alias as_strided broadcast_to chunk detach diagonal expand expand_as flatten movedim narrow permute real imag reshape
    reshape_as view_as_real view_as_complex select slice split split_with_sizes squeeze swapaxes swapdims t transpose
    unbind unflatten unfold unsqueeze view view_as _unsafe_view _reshape_alias contiguous lift_fresh
"""

CREATION = """
    arange empty empty_like empty_strided eye full full_like linspace logspace new_empty new_empty_strided new_full
    new_ones new_zeros ones ones_like scalar_tensor tril_indices triu_indices zeros zeros_like bartlett_window
    blackman_window hamming_window hann_window
"""

COPIES = """
    _to_copy cat clone constant_pad_nd copy fill flip hstack vstack pad repeat roll rot90 stack tile to zero_
    reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d
    pixel_shuffle pixel_unshuffle channel_shuffle complex im2col col2im tril triu diag_embed block_diag meshgrid
"""

# One input tensor, one output of the same shape.
UNARY = """
    abs acos acosh angle asin asinh atan atanh bitwise_not ceil clamp clamp_max clamp_min conj_physical cos cosh deg2rad
    digamma erf erfc erfinv exp exp2 expm1 floor frac isfinite isinf isnan isneginf isposinf lgamma log log10 log1p log2
    logical_not logit nan_to_num neg positive rad2deg reciprocal round rsqrt sgn sigmoid sign signbit sin sinc sinh
    special_bessel_j0 special_bessel_j1 special_entr special_erfcx special_i0 special_i0e special_i1 special_i1e
    special_log_ndtr special_ndtri sqrt square tan tanh trunc
"""

BINARY = """
    add addcdiv addcmul atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign div eq
    floor_divide fmax fmin fmod ge gt heaviside hypot isclose ldexp le lerp logaddexp logaddexp2 logical_and logical_or
    logical_xor lt masked_fill maximum minimum mul ne pow remainder rsub sub where xlogy __and__ __or__ __xor__
    __lshift__ __rshift__
"""

ACTIVATIONS = """
    celu elu gelu glu hardshrink hardsigmoid hardswish hardtanh leaky_relu log_sigmoid_forward mish prelu _prelu_kernel
    relu relu6 selu silu softplus softshrink threshold _softmax _log_softmax softmax log_softmax
"""

# Allowed in evaluation only, see takes_numbers().
DROPOUT = """
    alpha_dropout dropout feature_alpha_dropout feature_dropout native_dropout rrelu rrelu_with_noise
"""

REDUCTIONS = """
    all amax amin aminmax any argmax argmin count_nonzero cumprod cumsum cummax cummin diff linalg_vector_norm logcumsumexp
    logsumexp max mean median min mode nanmean nansum norm prod std std_mean sum var var_mean trace kthvalue
"""

PRODUCTS = """
    addbmm addmm _addmm_activation addmv addr baddbmm bilinear bmm chain_matmul cross linalg_cross dot einsum ger inner
    kron linear linalg_matmul linalg_multi_dot linalg_matrix_power matmul mm mv outer tensordot _trilinear vdot cdist
    _cdist_forward _euclidean_dist _pdist_forward cosine_similarity _scaled_mm _int_mm
"""

LINEAR_ALGEBRA = """
    linalg_cholesky_ex linalg_det _linalg_det linalg_eigh _linalg_eigh linalg_inv_ex linalg_lu_factor_ex
    linalg_solve_triangular triangular_solve linalg_diagonal linalg_matrix_exp
"""

CONVOLUTIONS = """
    convolution _convolution conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d
    cudnn_convolution cudnn_convolution_relu cudnn_convolution_add_relu
"""

POOLING = """
    adaptive_avg_pool1d _adaptive_avg_pool2d adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_avg_pool3d
    adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d avg_pool1d avg_pool2d avg_pool3d fractional_max_pool2d
    fractional_max_pool3d max_pool1d
    max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d max_pool3d_with_indices max_unpool2d
    max_unpool3d upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d _upsample_nearest_exact2d
    upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d upsample_bilinear2d _upsample_bilinear2d_aa
    upsample_bicubic2d _upsample_bicubic2d_aa upsample_trilinear3d grid_sampler_2d grid_sampler_3d affine_grid_generator
"""

NORMS = """
    batch_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training cudnn_batch_norm
    instance_norm layer_norm native_layer_norm group_norm native_group_norm rms_norm _fused_rms_norm renorm
    _weight_norm _weight_norm_interface
"""

NETWORKS = """
    scaled_dot_product_attention lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell
    embedding _embedding_bag embedding_bag
"""

LOSSES = """
    binary_cross_entropy binary_cross_entropy_with_logits cosine_embedding_loss ctc_loss _ctc_loss hinge_embedding_loss
    huber_loss kl_div l1_loss margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss_forward
    nll_loss_forward nll_loss2d_forward poisson_nll_loss smooth_l1_loss soft_margin_loss triplet_margin_loss
"""

INDEXING = """
    index index_add index_copy index_fill index_put index_reduce index_select gather masked_scatter scatter scatter_add
    scatter_reduce select_scatter slice_scatter diagonal_scatter as_strided_scatter take take_along_dim put sort argsort
    topk searchsorted bucketize isin
"""

TRANSFORMS = "_fft_c2c _fft_c2r _fft_r2c"

LISTS = """
    _foreach_add _foreach_mul _foreach_sub _foreach_div _foreach_copy_ _foreach_zero_
"""

GROUPS: dict[str, frozenset[str]] = {
    name: frozenset(names.split())
    for name, names in {
        "views": VIEWS, "creation": CREATION, "copies": COPIES, "unary": UNARY, "binary": BINARY,
        "activations": ACTIVATIONS, "dropout": DROPOUT, "reductions": REDUCTIONS, "products": PRODUCTS, "linear algebra": LINEAR_ALGEBRA,
        "convolutions": CONVOLUTIONS, "pooling": POOLING, "norms": NORMS, "networks": NETWORKS, "losses": LOSSES,
        "indexing": INDEXING, "transforms": TRANSFORMS, "lists": LISTS,
    }.items()
}

_NAMES = frozenset().union(*GROUPS.values())

_ALLOWED = _NAMES | {f"{name}_" for name in _NAMES}

_LIGHT = frozenset().union(*(GROUPS[name] for name in (
    "views", "creation", "copies", "unary", "binary", "activations", "dropout"))) - {
    "_softmax", "_log_softmax", "softmax", "log_softmax"}


def is_heavy(name: str) -> bool:
    """Whether aten::NAME is not an elementwise operator: a product, a reduction, a convolution, ..."""
    return _listed(name) not in _LIGHT


def does_work(name: str) -> bool:
    """Whether aten::NAME does more than allocate memory or make a view."""
    return _listed(name) not in GROUPS["views"] | GROUPS["creation"]


def _listed(name: str) -> str:
    """The listed name of aten::NAME: `add` for aten::add_, its in-place form."""
    short = name.removeprefix("aten::")
    return short if short in _NAMES else short.removesuffix("_")


# Allowed in a constructor and before a call, where the seed is known. The count of numbers depends only on shapes.
DRAWS = frozenset("""
    rand rand_like randn randn_like randint randint_like bernoulli bernoulli_ exponential_ normal normal_ random_ uniform_
""".split())


# Operators that make a tensor for a draw to fill, or to take its shape from.
SCRATCH = ("aten::empty_strided", "aten::zeros")


# Operators that may write to `out`. Planner and runner do not let them change its shape, because it may be an input.
OUT = frozenset("""
    abs add addmm addmv amax amin argmax argmin baddbmm bitwise_and bmm cat clamp cos cumsum div exp gelu index_select log
    log2 logsumexp max maximum mean min minimum mm mul mv neg pow reciprocal relu rsqrt sigmoid silu sin sqrt stack sub
    sum tanh topk where
""".split())


def allowed(name: str, overload: str) -> bool:
    """Whether `aten::NAME.OVERLOAD` is allowed in a plan; `name` begins with aten::, `overload` may be default."""
    return _is_in(_ALLOWED, name, overload)


def draws(name: str, overload: str) -> bool:
    """Whether `aten::NAME.OVERLOAD` may draw in a plan's setup."""
    return _is_in(DRAWS, name, overload)


def is_given(name: str, overload: str) -> bool:
    """Whether `aten::NAME.OVERLOAD` is a draw whose numbers depend only on the seed and shapes. They can then be
    drawn before a call, and given to it."""
    if not draws(name, overload):
        return False
    kinds = [str(argument.type) for argument in getattr(getattr(torch.ops.aten, name[6:]), overload)._schema.arguments]
    return "Tensor" not in kinds or kinds.count("Tensor") == 1 and (name.endswith(("_", "_like")) or overload == "p")


def takes_numbers(function: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Whether this call advances a generator: dropout and similar operators do in training if their rate is not 0."""
    if torch.Tag.nondeterministic_seeded not in function.tags:
        return False
    arguments = function._schema.arguments
    given = {a.name: a.default_value for a in arguments if a.has_default_value()}
    given |= dict(zip((a.name for a in arguments), args)) | dict(kwargs)
    return not (given.get("train", given.get("training")) is False or given.get("dropout", given.get("dropout_p")) == 0)


@functools.cache
def safe_form(function: torch._ops.OpOverload) -> torch._ops.OpOverload | None:
    """The operator with the same result as `function`, but without its assumption (`unsafe_split`: the parts are not
    written) or its effect on a tensor's shape (`squeeze_`). None if there is none: `resize_` and `set_` replace
    memory."""
    name = function._schema.name.removeprefix("aten::")
    if torch.Tag.inplace_view in function.tags:
        safe = name.removesuffix("_")
    elif name.startswith(("unsafe_", "_unsafe_")):
        safe = name.removeprefix("_").removeprefix("unsafe_")
    else:
        return None
    packet = getattr(torch.ops.aten, safe, None)
    found = next((overload for overload in (getattr(packet, each) for each in (packet.overloads() if packet else ()))
                  if _takes(overload) == _takes(function)), None)
    is_view = found is not None and found._schema.arguments[0].alias_info is not None
    return found if is_view or torch.Tag.inplace_view not in function.tags else None


def _takes(function: torch._ops.OpOverload) -> list[tuple[str, str]]:
    return [(argument.name, str(argument.type)) for argument in function._schema.arguments]


@functools.cache
def _is_in(names: frozenset[str], name: str, overload: str) -> bool:
    namespace, _, short = name.partition("::")
    if namespace != "aten" or short not in names:
        return False
    operator = getattr(getattr(torch.ops.aten, short, None), overload, None)
    if not isinstance(operator, torch._ops.OpOverload) or torch.Tag.inplace_view in operator.tags:
        return False
    return short in OUT or not any(argument.is_out for argument in operator._schema.arguments)
