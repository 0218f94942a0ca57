"""Writes a module as a task's reference: its exported graph as Python, with named parameters whose values are
drawn like the recorded ones."""

from __future__ import annotations

import re
from string import Template
from typing import Any

from .._errors import Error
from .runtime.lies import lies_of
from .texts import template
from .torch_here import torch_here

# Constants with more values are unreadable as text.
_MOST_VALUES = 4096
# Operators by the names that users call. The planner knows attention only by that name. Views become
# reshapes, because in fp64 attention gives other strides, for which a view of the recorded module may be
# impossible; then there would be no truth more exact than the module itself.
_NAMES = {**{f"torch.ops.aten.{name}.default(": f"torch.nn.functional.{name}("
             for name in ("scaled_dot_product_attention", "linear", "silu", "gelu")},
          "torch.ops.aten.view.default(": "torch.reshape(", "torch.ops.aten._unsafe_view.default(": "torch.reshape("}


def reference_of(program: Any, inputs: list[Any], title: str, origin: str) -> str:
    """A draft, whose constants are open (constants.py). `inputs` are the tensors of the recorded call, in the
    graph's order. Raises Error if the module cannot be a reference."""
    torch = torch_here()
    names = _placeholders(torch, program)
    if not names:
        raise Error("the module takes no tensor", "bad_input", title)
    _refuse_mutations(program, title)
    lines = [f"        {name} = {_read(target)}" for name, target in _states(program).items()]
    return Template(template("task_reference.py")).safe_substitute({
        "title": title, "origin": origin, "inputs": ", ".join(names),
        "body": "\n".join([*lines, *_body(program, names[0], title)]),
        "states": "\n".join(_held(torch, program, name) for name in _states(program)) or "        pass",
        **_inputs(torch, names, inputs)})


def _inputs(torch: Any, names: list[str], inputs: list[Any]) -> dict[str, str]:
    """The inputs for get_inputs. Tensors that share a storage, or cover only a part of it, are views of a
    drawn storage."""
    lies = lies_of(inputs)
    storages, drawn = [], []
    for name, value, lie in zip(names, inputs, lies, strict=True):
        views = [each for each, other in zip(inputs, lies, strict=True) if (other[0], other[4]) == (lie[0], lie[4])]
        if len(views) == 1 and value.untyped_storage().nbytes() == value.nbytes:
            drawn.append(f"        {_drawn(torch, value)},  # {name}")
            continue
        if views[0] is value:
            end = max(_end(each) for each in views)
            storages.append(f"    storage_{lie[4]}_{str(lie[0])[6:]} = "
                            f"drawn({(end,)}, (1,), {lie[0]}, {', '.join(map(repr, _range(torch, views)))})")
        drawn.append(f"        storage_{lie[4]}_{str(lie[0])[6:]}.as_strided({tuple(value.shape)}, {value.stride()}, "
                     f"{value.storage_offset()}),  # {name}")
    return {"storages": "".join(f"{line}\n" for line in storages), "drawn": "\n".join(drawn)}


def _end(value: Any) -> int:
    """The place after the tensor's last element in its storage."""
    steps = sum((n - 1) * step for n, step in zip(value.shape, value.stride(), strict=True))
    return int(value.storage_offset() + steps + 1) if value.numel() else 0


def _placeholders(torch: Any, program: Any) -> list[str]:
    """The names of the inputs that are tensors. Numbers and flags are in the graph."""
    wanted = set(program.graph_signature.user_inputs)
    return [node.name for node in program.graph.nodes
            if node.op == "placeholder" and node.name in wanted and isinstance(node.meta.get("val"), torch.Tensor)]


def _refuse_mutations(program: Any, title: str) -> None:
    signature = program.graph_signature
    if signature.buffers_to_mutate or signature.user_inputs_to_mutate:
        raise Error("the module writes to its inputs or buffers", "bad_input", title,
                    "a task's module must return its results")
    if any(node.op in ("call_module", "get_attr") for node in program.graph.nodes):
        raise Error("the module has a graph within its graph", "bad_input", title)


def _states(program: Any) -> dict[str, str]:
    """Parameters, buffers and constants by their names in the graph."""
    signature = program.graph_signature
    found = {**signature.inputs_to_parameters, **signature.inputs_to_buffers}
    constants = signature.inputs_to_lifted_tensor_constants
    used = {node.name for node in program.graph.nodes if node.op == "placeholder" and node.users}
    return {name: target for name, target in {**found, **constants}.items() if name in used}


def _value(program: Any, name: str) -> Any:
    target = _states(program)[name]
    return program.state_dict[target] if target in program.state_dict else program.constants[target]


def _held(torch: Any, program: Any, name: str) -> str:
    target, value = _states(program)[name], _value(program, name)
    is_parameter = name in program.graph_signature.inputs_to_parameters
    if is_parameter or (value.numel() > _MOST_VALUES and value.is_floating_point()):
        drawn = _drawn(torch, value)
    elif value.numel() <= _MOST_VALUES:
        drawn = f"torch.tensor({value.tolist()!r}, dtype={value.dtype})"
    else:
        raise Error(f"the buffer {target} has {value.numel()} numbers that are not drawn", "bad_input", target)
    return f"        held(self, {target!r}, {drawn}, {is_parameter})"


def _drawn(torch: Any, value: Any) -> str:
    low, high = _range(torch, [value])
    return f"drawn({tuple(value.shape)}, {value.stride()}, {value.dtype}, {low!r}, {high!r})"


def _range(torch: Any, values: list[Any]) -> tuple[Any, Any]:
    full = [value for value in values if value.numel()]
    low, high = (min(value.min().item() for value in full), max(value.max().item() for value in full)) if full else (0, 1)
    if low == high and values[0].is_floating_point():  # an untrained norm: if drawn so, leaving it out would be correct
        low, high = low - 0.5, high + 0.5
    return (int(low), int(high)) if values[0].dtype == torch.bool else (low, high)


def _body(program: Any, first: str, title: str) -> list[str]:
    """The graph's code without its heading, changed so that it creates tensors on the inputs' device."""
    lines = [line.strip() for line in program.graph_module.code.splitlines()]
    begin = next(at for at, line in enumerate(lines) if line.startswith("def forward("))
    body = [re.sub(r";  \w+ = .*None$", "", line) for line in lines[begin + 1:]
            if line and not re.fullmatch(r"(\w+ = )+None", line)]
    body = [line for line in body if "torch.ops.aten._assert_" not in line]
    body = [re.sub(r"device\(type='\w+'(, index=\d+)?\)", f"{first}.device", line) for line in body]
    for name, usual in _NAMES.items():
        body = [line.replace(name, usual) for line in body]
    *steps, answer = body
    outputs = [name for name in re.findall(r"\w+", answer.removeprefix("return")) if name != "None"]
    if not outputs:
        raise Error("the module returns no tensor", "bad_input", title)
    return [f"        {line}" for line in (*steps, f"return {outputs[0] if len(outputs) == 1 else ', '.join(outputs)}")]


def _read(target: str) -> str:
    """The expression that reads `layers.0.weight` from self. Numbers are names of children."""
    found = "self"
    for part in target.split("."):
        found = f"{found}.{part}" if part.isidentifier() else f"getattr({found}, {part!r})"
    return found
