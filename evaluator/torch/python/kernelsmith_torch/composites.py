"""Library calls that are recorded as a whole, because below them PyTorch would choose operators for a CPU. The runner
makes the same call, and PyTorch chooses there. Recurrent networks are not traced at all: on a CPU's fakes they
would be tens of thousands of operators.
"""

from __future__ import annotations

from typing import Any

import torch

from .recording import Tape


def install(tape: Tape) -> None:
    """Replaces the functions in PyTorch's modules, for the rest of this process."""
    attention = _whole(tape, torch.nn.functional.scaled_dot_product_attention,
                       torch.ops.aten.scaled_dot_product_attention.default)
    torch.nn.functional.scaled_dot_product_attention = attention
    torch._C._nn.scaled_dot_product_attention = attention
    torch.batch_norm = _whole(tape, torch.batch_norm, torch.ops.aten.batch_norm.default)
    torch.instance_norm = _whole(tape, torch.instance_norm, torch.ops.aten.instance_norm.default)
    # In training dropout is one operator on a GPU, which draws differently than on a CPU. In evaluation there is no
    # operator.
    dropout, drawn = torch.dropout, _whole(tape, torch.dropout, torch.ops.aten.dropout.default)
    torch.dropout = torch._VF.dropout = lambda input, p, train: (drawn if train and p else dropout)(input, p, train)
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
        network = _network(tape, getattr(torch.ops.aten, name))
        setattr(torch._VF, name, network)
        setattr(torch, name, network)
    # The fast paths of nn.MultiheadAttention and nn.TransformerEncoder use other operators on a CPU.
    torch.backends.mha.set_fastpath_enabled(False)


def _whole(tape: Tape, function: Any, operator: torch._ops.OpOverload) -> Any:
    def call(*args: Any, **kwargs: Any) -> Any:
        if not tape.recording:
            return function(*args, **kwargs)
        with tape.pause():
            result = function(*args, **kwargs)
        # Training writes the running mean and variance, which the operators' schemas do not show.
        bound = dict(zip((a.name for a in operator._schema.arguments), args)) | kwargs
        trains = bound.get("training", bound.get("use_input_stats", False))
        statistics = (bound.get("running_mean"), bound.get("running_var")) if trains else ()
        tape.operator(operator, args, kwargs, result, tuple(t for t in statistics if t is not None))
        return result

    return call


def _network(tape: Tape, packet: torch._ops.OpOverloadPacket) -> Any:
    def call(data: torch.Tensor, second: Any, *rest: Any) -> tuple[torch.Tensor, ...]:
        # A packed sequence has other arguments: (data, batch_sizes, hx, ...) instead of (input, hx, ...).
        packed = isinstance(rest[1], (list, tuple))
        hidden = rest[0] if packed else second
        states = [hidden] if isinstance(hidden, torch.Tensor) else list(hidden)
        directions = 2 if rest[6 if packed else 5] else 1
        with tape.pause():
            output = data.new_empty((*data.shape[:-1], directions * states[0].shape[-1]))
            result = (output, *(state.new_empty(state.shape) for state in states))
        if tape.recording:
            tape.operator(packet.data if packed else packet.input, (data, second, *rest), {}, result)
        return result

    return call
