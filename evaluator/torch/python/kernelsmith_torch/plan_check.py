"""Checks an untrusted plan: sizes are bounded, types are right, operators are listed. check_plan() turns the parsed
JSON of a plan into a Plan, or raises Failure (candidate, `bad_plan`). PyTorch checks shapes, strides and memory of
tensors when operators are called. A pure function.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from . import operators, plan_format
from .checks import MOST_IDS, MOST_LIST, integer_of, list_of, name_of, object_of, refuse, tensor_of, text_of
from .layout import Arrangement, Lie
from .module_check import DeviceOp, Modules, Symbol, Upload, check_module
from .plan_values import Alternative, Aten, Constant, Kernel, Launch, Op, Plan, Ref, Seed, TensorInfo, TensorMap

MOST_OPS = 200_000  # of all alternatives
MOST_ARGUMENTS = 256
MOST_DEPTH = 6
MOST_DIMENSIONS = 32
MOST_SCRATCH = 1 << 30
_MOST_SHARED = 232_448  # an H100's, and no device has more
_MOST_WARPS = 32
_MOST_CTAS = 16
_MOST_RANK = 5  # of tensor maps
_GRID = (2**31 - 1, 65_535, 65_535)

SCALARS = {"i1": (0, 1), "i8": (-2**7, 2**7 - 1), "i16": (-2**15, 2**15 - 1), "i32": (-2**31, 2**31 - 1),
           "i64": (-2**63, 2**63 - 1), "u1": (0, 1), "u8": (0, 2**8 - 1), "u16": (0, 2**16 - 1),
           "u32": (0, 2**32 - 1), "u64": (0, 2**64 - 1), "fp32": None, "fp64": None}
"""Types of kernel arguments that are not pointers, and the bounds of integers."""

_LAYOUTS = {"strided": torch.strided}
_MEMORY_FORMATS = {name: getattr(torch, name) for name in
                   ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d")}
DTYPES = {str(value).removeprefix("torch."): value for value in vars(torch).values() if isinstance(value, torch.dtype)
          and not str(value).startswith(("torch.q", "torch.bits"))}


def check_plan(plan: dict[str, Any], cubins: list[bytes], capability: tuple[int, int], device: torch.device) -> Plan:
    """`plan` and `cubins` are as plan_format.decode() gives them. `capability` is that of the device that
    will run them; (0, 0) for the CPU."""
    return _Checker(cubins, capability, device).plan(plan)


class _Checker:
    def __init__(self, cubins: list[bytes], capability: tuple[int, int], device: torch.device) -> None:
        self._cubins, self._capability, self._device = cubins, capability, device
        self._ops = 0
        self._kernel_count = 0

    def plan(self, plan: Any) -> Plan:
        object_of(plan, "the plan", {"version", "arch", "inputs", "state", "setup", "alternatives", "kernels"}, {"modules", "draws"})
        if isinstance(plan["arch"], str):
            refuse(f"its kernels are for {plan['arch'][:64]!r}, and modules run on NVIDIA's GPUs only")
        arch = integer_of(plan["arch"], 0, 10_000, "arch")
        if self._capability != (0, 0) and arch != 10 * self._capability[0] + self._capability[1]:
            refuse(f"its kernels are for sm_{arch}, and the device is sm_{self._capability[0]}{self._capability[1]}")
        kernels = [self._kernel(k, cubin) for k, cubin in zip(plan["kernels"], self._cubins)]
        self._kernel_count = len(kernels)
        self._modules = Modules([check_module(module, cubin) for module, cubin in
                                 zip(plan.get("modules", []), self._cubins[len(kernels):], strict=True)])
        inputs = [self._tensor(t) for t in list_of(plan["inputs"], MOST_ARGUMENTS, "inputs")]
        lies = [self._lie(t, info) for t, info in zip(plan["inputs"], inputs)]
        object_of(plan["state"], "state")
        state = {text_of(name, "a name in state"): self._id(id_) for name, id_ in plan["state"].items()}
        given = [t.id for t in inputs] + list(state.values())
        if len(set(given)) != len(given):
            refuse("two inputs or parameters have the same id")
        known = set(state.values())
        setup = self._block(plan["setup"], known, given=set(), keep=None)
        draws, drawn = self._draws(plan.get("draws", []), known | {t.id for t in inputs})
        fixed = known | {t.id for t in inputs} | drawn
        alternatives = []
        for alternative in list_of(plan["alternatives"], plan_format.MOST_ALTERNATIVES, "alternatives"):
            object_of(alternative, "an alternative", {"name", "ops", "outputs"})
            outputs = [self._tensor(t) for t in list_of(alternative["outputs"], MOST_ARGUMENTS, "outputs")]
            known = set(fixed)
            ops = self._block(alternative["ops"], known, given=fixed, keep={t.id for t in outputs})
            for output in outputs:
                if output.id not in known:
                    refuse(f"an output is tensor {output.id}, which no operation gives")
            alternatives.append(Alternative(text_of(alternative["name"], "a name"), ops, outputs))
        if not alternatives:
            refuse("it has no alternatives")
        used = set(state.values()).union(*({t.id for t in a.outputs}.union(*map(_ids, a.ops)) for a in alternatives))
        self._free(setup, used)
        self._free(draws, used)
        return Plan(inputs, state, setup, alternatives, kernels, self._modules.modules,
                    None if None in lies else Arrangement(tuple(lies)), draws, sorted(drawn & used))

    def _block(self, ops: Any, known: set[int], given: set[int], keep: set[int] | None) -> list[Op]:
        """Operations in order; `known` grows by their results. Tensors that are neither in `given` nor in
        `keep` are freed after their last use. If `keep` is None, nothing is freed: the block is the setup,
        which alone may have constants and draws."""
        most = min(plan_format.MOST_OPERATIONS, MOST_OPS - self._ops)
        checked = [self._op(op, known, keep is None) for op in list_of(ops, most, "operations")]
        self._ops += len(checked)
        self._modules.end_of_block()
        if keep is not None:
            self._free(checked, given | keep)
        return checked

    def _draws(self, ops: Any, taken: set[int]) -> tuple[list[Op], set[int]]:
        """The draws before each call. Other work is not allowed there, because it is not measured."""
        drawn: set[int] = set()
        draws = self._block(ops, drawn, given=set(), keep=None)
        if not all(isinstance(op, Seed) or isinstance(op, Aten) and (op.draws or op.name in operators.SCRATCH) for op in draws):
            refuse("there is other work than draws before a call")
        if drawn & taken:
            refuse("what is drawn has the id of another tensor")
        return draws, drawn

    @staticmethod
    def _free(ops: list[Op], seen: set[int]) -> None:
        """Each operation frees tensors that are not in `seen` and not used later."""
        seen = seen.union(_pointed_at(ops))
        for op in reversed(ops):
            op.frees = [id_ for id_ in dict.fromkeys(_ids(op)) if id_ not in seen]
            seen.update(op.frees)

    def _op(self, op: Any, known: set[int], in_setup: bool) -> Op:
        if isinstance(op, dict) and "launch" in op:
            return self._launch(op, known)
        if isinstance(op, dict) and "constant" in op and in_setup:
            return self._constant(op, known)
        if isinstance(op, dict) and (entry := self._modules.entry(op, known)) is not None:
            return entry
        if isinstance(op, dict) and "seed" in op and in_setup:
            object_of(op, "a seed", {"seed", "draws"})
            return Seed(integer_of(op["seed"], -2**63, 2**63 - 1, "a seed"), _one_of(op["draws"], ("cuda", "all")))
        object_of(op, "an operation", {"aten", "overload", "args", "kwargs", "out"}, {"strides", "draws"} if in_setup else {"strides"})
        name, overload = name_of(op["aten"], "an operator's name"), name_of(op["overload"], "an operator's overload")
        draws = _one_of(op["draws"], ("cpu", "cuda")) if "draws" in op else ""
        if not (operators.draws if draws else operators.allowed)(name, overload):
            refuse(f"operator {name}.{overload} is not listed")
        packet = getattr(torch.ops.aten, name.removeprefix("aten::"), None)
        if packet is None or overload not in packet.overloads():
            refuse(f"this PyTorch has no operator {name}.{overload}")
        # Libraries on a GPU may return other strides than planning assumed, so that a view there needs a copy here.
        function = torch.ops.aten.reshape.default if (name, overload) == ("aten::view", "default") else getattr(packet, overload)
        args = [self._value(v, known) for v in list_of(op["args"], MOST_ARGUMENTS, "arguments")]
        object_of(op["kwargs"], "keyword arguments")
        kwargs = {name_of(k, "a keyword"): self._value(v, known) for k, v in op["kwargs"].items()}
        if not draws and operators.takes_numbers(function, args, kwargs):
            refuse(f"operator {name}.{overload} draws")
        strides = [self._sizes(stride) for stride in list_of(op.get("strides", []), MOST_LIST, "strides")]
        return Aten(function, args, kwargs, self._out(op["out"], known), draws=draws, strides=strides)

    def _constant(self, op: dict[str, Any], known: set[int]) -> Constant:
        object_of(op, "a constant", {"constant", "out"})
        object_of(op["constant"], "a constant", {"dtype", "shape", "values"})
        dtype, shape = self._dtype(op["constant"]["dtype"]), self._sizes(op["constant"]["shape"])
        values = [self._value(v, set()) for v in list_of(op["constant"]["values"], plan_format.MOST_CONSTANT, "values")]
        if math.prod(shape) != len(values) or not all(isinstance(v, (bool, int, float)) for v in values):
            refuse("a constant's values are not as many numbers as its shape says")
        out = self._out(op["out"], known)
        if not isinstance(out, Ref):
            refuse("a constant is not one tensor")
        return Constant(dtype, shape, values, out)

    def _out(self, out: Any, known: set[int], depth: int = 0) -> Any:
        if out is None:
            return None
        if isinstance(out, list):
            if depth >= 2:
                refuse("results are nested too deep")
            return [self._out(o, known, depth + 1) for o in list_of(out, MOST_LIST, "results")]
        if not isinstance(out, dict) or set(out) != {"t"}:
            refuse("a result is not a tensor")
        id_ = self._id(out["t"])
        known.add(id_)
        return Ref(id_)

    def _launch(self, op: dict[str, Any], known: set[int]) -> Launch:
        object_of(op, "a launch", {"launch", "grid", "args"}, {"line"})
        kernel = integer_of(op["launch"], 0, self._kernel_count - 1, "a launch's kernel")
        grid = list_of(op["grid"], 3, "a grid")
        if len(grid) != 3:
            refuse("a grid does not have three dimensions")
        x, y, z = (integer_of(n, 1, most, "a grid's dimension") for n, most in zip(grid, _GRID))
        args = [self._argument(a, known) for a in list_of(op["args"], MOST_ARGUMENTS, "a kernel's arguments")]
        return Launch(kernel, (x, y, z), args, text_of(op.get("line", ""), "a line"))

    def _argument(self, argument: Any, known: set[int]) -> tuple[str, Any]:
        pair = list_of(argument, 2, "a kernel's argument")
        if len(pair) != 2:
            refuse("a kernel's argument is not a type and a value")
        kind = text_of(pair[0], "a type")
        if kind == "tensormap":
            return kind, self._tensor_map(pair[1], known)
        value = self._value(pair[1], known)
        if kind.startswith("*"):
            if not isinstance(value, Ref):
                refuse(f"a kernel's argument of type {kind} is not a tensor")
        elif kind not in SCALARS:
            refuse(f"a kernel's argument is of type {kind}")
        elif SCALARS[kind] is None:
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                refuse(f"a kernel's argument of type {kind} is not a number")
        elif not isinstance(value, int) or not SCALARS[kind][0] <= value <= SCALARS[kind][1]:
            refuse(f"a kernel's argument of type {kind} is out of its range")
        return kind, value

    def _tensor_map(self, value: Any, known: set[int]) -> TensorMap:
        """The driver checks the rest. The kernel may read anywhere, as with a pointer."""
        object_of(value, "a tensor map", {"base", "type", "shape", "strides", "box", "swizzle", "nan"})
        base = self._value(value["base"], known)
        if not isinstance(base, Ref) or not isinstance(value["nan"], bool):
            refuse("a tensor map's base is not a tensor, or its fill is not a boolean")
        shape, strides, box = ([integer_of(n, 1, most, f"a number of a tensor map's {key}")
                                for n in list_of(value[key], _MOST_RANK, f"a tensor map's {key}")]
                               for key, most in (("shape", 2**32), ("strides", 2**40), ("box", 256)))
        if not len(shape) == len(box) == len(strides) + 1:
            refuse("a tensor map's shape, strides and box do not have the same rank")
        return TensorMap(base, integer_of(value["type"], 0, 15, "a tensor map's type"), shape, strides, box,
                         integer_of(value["swizzle"], 0, 3, "a tensor map's swizzle"), value["nan"])

    def _value(self, value: Any, known: set[int], depth: int = 0) -> Any:
        if value is None or isinstance(value, (bool, float)):
            return value
        if isinstance(value, int):
            return integer_of(value, -2**63, 2**63 - 1, "a number")
        if isinstance(value, str):
            return text_of(value, "a text")
        if isinstance(value, list):
            if depth >= MOST_DEPTH:
                refuse("lists are nested too deep")
            return [self._value(v, known, depth + 1) for v in list_of(value, MOST_LIST, "a list")]
        if not isinstance(value, dict) or len(value) != 1:
            refuse("a value has no known kind")
        (kind, inner), = value.items()
        if kind == "t":
            return tensor_of(value, known)
        if kind == "device" and inner is True:
            return self._device
        for name, table in (("dtype", DTYPES), ("layout", _LAYOUTS), ("memory_format", _MEMORY_FORMATS),
                            ("float", {"inf": float("inf"), "-inf": -float("inf"), "nan": float("nan")})):
            if kind == name and isinstance(inner, str) and inner in table:
                return table[inner]
        refuse(f"a value has no known kind: {kind[:40]}")

    def _tensor(self, tensor: Any) -> TensorInfo:
        object_of(tensor, "a tensor", {"id", "dtype", "shape"}, {"stride", "offset", "storage"})
        return TensorInfo(self._id(tensor["id"]), self._dtype(tensor["dtype"]), self._sizes(tensor["shape"]))

    def _lie(self, tensor: dict[str, Any], info: TensorInfo) -> Lie | None:
        if not {"stride", "offset", "storage"} <= tensor.keys():
            return None
        return Lie(info.dtype, info.shape, self._sizes(tensor["stride"]), integer_of(tensor["offset"], 0, 2**62, "an offset"),
                   integer_of(tensor["storage"], 0, MOST_ARGUMENTS - 1, "a storage"))

    @staticmethod
    def _dtype(name: Any) -> torch.dtype:
        if not isinstance(name, str) or name not in DTYPES:
            refuse("a tensor's dtype is not known")
        return DTYPES[name]

    @staticmethod
    def _sizes(shape: Any) -> tuple[int, ...]:
        return tuple(integer_of(n, 0, 2**62, "a size") for n in list_of(shape, MOST_DIMENSIONS, "a shape"))

    def _kernel(self, kernel: dict[str, Any], cubin: bytes) -> Kernel:
        object_of(kernel, "a kernel", {"name", "offset", "size", "shared", "warps"},
                {"ctas", "global_scratch", "profile_scratch", "registers", "spills"})
        return Kernel(name_of(kernel["name"], "a kernel's name"), cubin,
                      integer_of(kernel["shared"], 0, _MOST_SHARED, "a kernel's shared memory"),
                      integer_of(kernel["warps"], 1, _MOST_WARPS, "a kernel's warps"),
                      integer_of(kernel.get("ctas", 1), 1, _MOST_CTAS, "a kernel's ctas"),
                      integer_of(kernel.get("global_scratch", 0), 0, MOST_SCRATCH, "a kernel's scratch"),
                      integer_of(kernel.get("profile_scratch", 0), 0, MOST_SCRATCH, "a kernel's scratch"))

    @staticmethod
    def _id(id_: Any) -> int:
        return integer_of(id_, 0, MOST_IDS - 1, "a tensor's id")


def _ids(op: Op) -> Iterator[int]:
    """Every tensor that an operation reads or returns."""
    if isinstance(op, DeviceOp):
        yield from (ref.id for ref in op.refs())
        return
    if isinstance(op, Seed):
        return
    pending: list[Any] = [[v for _, v in op.args]] if isinstance(op, Launch) else [op.out]
    if isinstance(op, Aten):
        pending += [op.args, op.kwargs]
    while pending:
        value = pending.pop()
        if isinstance(value, Ref):
            yield value.id
        elif isinstance(value, TensorMap):
            yield value.base.id
        elif isinstance(value, list):
            pending.extend(value)
        elif isinstance(value, dict):
            pending.extend(value.values())


def _pointed_at(ops: Sequence[Op]) -> Iterator[int]:
    """Tensors whose addresses are in memory, because operations reach them by naming only that memory; and
    the memory itself, which is written again when a setup's tensors are moved."""
    for op in ops:
        if isinstance(op, (Upload, Symbol)) and op.pointers:
            yield from (ref.id for ref in op.refs())


def _one_of(value: Any, known: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in known:
        refuse(f"a generator is not one of {', '.join(known)}")
    return value
