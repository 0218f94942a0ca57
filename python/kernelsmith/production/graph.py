"""A model's exported graph as operators, each with its modules, computation and memory traffic."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._errors import Error
from .models import Loaded
from .torch_here import torch_here


@dataclass(frozen=True)
class Operator:
    """`modules` are the paths of the modules around the operator, outermost first. In a module's second call,
    its path ends with "@1"."""

    name: str
    modules: tuple[str, ...]
    key: str
    flops: dict[str, float]
    moved: float
    kernels: int
    takes: frozenset[str]
    gives: str


@dataclass(frozen=True)
class Graph:
    operators: list[Operator]
    sizes: dict[str, float]
    users: dict[str, set[str]]
    classes: dict[str, str] = field(default_factory=dict)


def graph_of(loaded: Loaded) -> Graph:
    """Raises Error for a model that cannot be exported."""
    torch = torch_here()
    program = exported(loaded.model, loaded.args, loaded.kwargs, loaded.name)
    graph = Graph([], {}, {})
    for node in program.run_decompositions({}).graph.nodes:
        value = node.meta.get("val")
        graph.sizes[node.name] = _bytes(torch, value)
        graph.users[node.name] = {user.name for user in node.users}
        if node.op == "call_function":
            graph.operators.append(_operator(torch, node, value))
            graph.classes.update({path: str(kind) for path, kind in node.meta.get("nn_module_stack", {}).values()})
    return graph


def exported(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], where: str) -> Any:
    torch = torch_here()
    try:
        with torch.no_grad():
            return torch.export.export(model, args, kwargs, strict=False)
    except Exception as raised:
        first = (str(raised).strip().splitlines() or [""])[0]
        raise Error(f"the model cannot be exported: {type(raised).__name__}: {first}", "bad_input", where,
                    "torch.export must be able to trace it: no decisions by values, no unknown types") from raised


def _operator(torch: Any, node: Any, value: Any) -> Operator:
    stack = tuple(path for path, _ in node.meta.get("nn_module_stack", {}).values() if path)
    tensors = [each for each in node.all_input_nodes if isinstance(each.meta.get("val"), torch.Tensor)]
    is_view = _is_view(torch, node.target, [each.meta["val"] for each in tensors], value)
    moved = 0.0 if is_view else sum(_bytes(torch, each.meta["val"]) for each in tensors) + _bytes(torch, value)
    shapes = [_form(torch, each.meta["val"]) for each in tensors]
    constants = torch.fx.node.map_arg((node.args, node.kwargs), lambda each: "")
    return Operator(str(node.target), stack, f"{node.target} {shapes} {constants} {_form(torch, value)}",
                    {} if is_view else _flops(torch, node, value), moved, int(not is_view),
                    frozenset(each.name for each in tensors), node.name)


def _is_view(torch: Any, target: Any, inputs: list[Any], value: Any) -> bool:
    """Whether the operator launches nothing: a view, a check, or a getitem of a tuple."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.returns:
        return True
    if any(isinstance(value, torch.Tensor) and each.dtype != value.dtype for each in inputs[:1]):
        return False
    return any(each.alias_info is not None and not each.alias_info.is_write for each in schema.arguments)


def _flops(torch: Any, node: Any, value: Any) -> dict[str, float]:
    from torch.utils import flop_counter  # type: ignore[import-not-found,import-untyped,unused-ignore]

    name = str(getattr(node.target, "overloadpacket", ""))
    args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), lambda each: each.meta["val"])
    count = flop_counter.flop_registry.get(getattr(node.target, "overloadpacket", None))
    if count is not None:
        flops = count(*args, **kwargs, out_val=value)
    elif name in ("aten.linear", "aten.matmul"):
        flops = 2 * value.numel() * args[0].shape[-1]
    elif name.startswith("aten.conv"):
        flops = flop_counter.conv_flop_count(args[0].shape, args[1].shape, value.shape, transposed="transpose" in name)
    elif "scaled_dot_product" in name:
        flops = flop_counter.sdpa_flop_count(*(each.shape for each in args[:3]))
    else:
        return {}
    return {_kind(torch, name, args): float(flops)}


def _kind(torch: Any, name: str, args: Any) -> str:
    """The precision on the device. By default PyTorch uses TF32 for convolutions but not for products."""
    [dtype, *_] = [each.dtype for each in args if isinstance(each, torch.Tensor)]
    if dtype in (torch.float16, torch.bfloat16):
        return "half"
    settings = torch.backends.cudnn if name.startswith("aten.conv") else torch.backends.cuda.matmul
    return "tf32" if settings.allow_tf32 else "fp32"


def takes_tf32(program: Any) -> bool:
    """Whether PyTorch's present settings use TF32 for a product of an exported module."""
    torch = torch_here()
    return any("tf32" in _flops(torch, node, node.meta.get("val")) for node in program.graph.nodes
               if node.op == "call_function")


def _bytes(torch: Any, value: Any) -> float:
    if isinstance(value, torch.Tensor):
        return float(min(value.numel() * value.element_size(), value.untyped_storage().nbytes()))
    return sum(_bytes(torch, each) for each in value) if isinstance(value, (list, tuple)) else 0.0


def _form(torch: Any, value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return str(value.dtype), tuple(value.shape), value.stride()
    return [_form(torch, each) for each in value] if isinstance(value, (list, tuple)) else value
