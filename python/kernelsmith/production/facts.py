"""The facts in a package: the operator's arguments, the buckets, and the devices for which they were measured."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from .._errors import Error
from .runtime.lies import lies_of
from .references import best_of_each, digest, free_sizes, sizes_of
from .torch_here import executed, require_values, their_errors, torch_here
from .winners import Winner

_SCHEMA_TYPES = {bool: "bool", int: "int", float: "float", str: "str"}


@dataclass(frozen=True)
class Met:
    """A recorded reference: names and values of an operator's arguments, and the number of outputs."""

    inputs: dict[str, Any]
    states: dict[str, Any]
    init: dict[str, Any]
    outputs: int
    trains: bool
    constants: dict[str, Any]

    def arguments(self) -> list[tuple[str, Any]]:
        """The schema's names and the values. A duplicate name gets an underscore, and a name that is not an
        identifier (`0.weight` of a Sequential) gets an `at` before it."""
        named: dict[str, Any] = {}
        for name, value in (*self.inputs.items(), *self.states.items(), *self.init.items()):
            name = name.replace(".", "__")
            name = name if name.isidentifier() else f"at{name}"
            while name in named:
                name += "_"
            named[name] = value
        return list(named.items())


def met(winner: Winner) -> Met:
    """Runs the reference and records it. Raises Error if it cannot be an operator."""
    torch = torch_here()
    where = winner.folder / "task" / "reference.py"
    made = executed(winner.reference, where, "reference")
    with torch.random.fork_rng(devices=[]), torch.no_grad(), their_errors(where):
        init = made.get_init_inputs()
        # A copy has the layout of a parameter that is moved to a GPU: dense, in a storage that it does not
        # share.
        model = made.Model(*init).eval()._apply(lambda tensor: tensor.clone())
        inputs = made.get_inputs()
        require_values(model, inputs, where)
        given = model(*inputs)
    _refuse_hidden_tensors(torch, model, where)
    outputs = list(given) if isinstance(given, (tuple, list)) else [given]
    if not all(isinstance(output, torch.Tensor) for output in outputs) or isinstance(given, list):
        raise Error("an operator gives a tensor or a tuple of tensors, and this reference gives something else", "bad_input",
                    str(where), "change what Model.forward returns")
    states = dict([*model.named_parameters(), *model.named_buffers()])
    return Met(_named(model.forward, inputs, where), states, _named(type(model).__init__, init, where, skip=1), len(outputs),
               _trains(torch, model, winner.reference), getattr(made, "CONSTANTS", {}))


def _named(function: Any, values: Any, where: Any, skip: int = 0) -> dict[str, Any]:
    names = [parameter.name for parameter in inspect.signature(function).parameters.values()][skip:]
    if isinstance(values, dict) or len(values) > len(names):
        raise Error("inputs are a list, one for each argument", "bad_input", str(where))
    return dict(zip(names, values, strict=False))


def _refuse_hidden_tensors(torch: Any, model: Any, where: Any) -> None:
    for path, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                raise Error(f"{'.'.join(filter(None, (path, name)))} is a tensor that is neither parameter nor buffer",
                            "bad_input", str(where), "make it a buffer by register_buffer, so that a package can pass it on")


def _trains(torch: Any, model: Any, reference: str) -> bool:
    """Whether the module computes something else in training."""
    kinds = (torch.nn.modules.dropout._DropoutNd, torch.nn.modules.batchnorm._NormBase)
    return "training" in reference or any(isinstance(module, kinds) for module in model.modules())


def schema_of(one: Met) -> str:
    """The operator's schema for torch.library."""
    arguments = ", ".join(f"{_type_of(value, name)} {name}" for name, value in one.arguments())
    returns = "Tensor" if one.outputs == 1 else f"({', '.join(['Tensor'] * one.outputs)})"
    return f"({arguments}) -> {returns}"


def _type_of(value: Any, name: str) -> str:
    if type(value).__module__.startswith("torch"):
        return "Tensor"
    if type(value) in _SCHEMA_TYPES:
        return _SCHEMA_TYPES[type(value)]
    if isinstance(value, (list, tuple)) and value and {type(each) for each in value} in ({int}, {float}):
        return f"{_SCHEMA_TYPES[type(value[0])]}[]"
    raise Error(f"{name} is {type(value).__name__}, which no operator takes", "bad_input", "reference.py",
                "arguments are tensors, numbers, texts, and lists of numbers")


def _stored(values: list[Any]) -> list[dict[str, Any]]:
    """The tensors with their storages and offsets: kernels were measured with these, and may reach one tensor
    from another."""
    lies = iter(lies_of([value for value in values if type(value).__module__.startswith("torch")]))
    return [_lying(value, next(lies)) if type(value).__module__.startswith("torch") else
            {"value": list(value) if isinstance(value, tuple) else value} for value in values]


def _lying(value: Any, lie: tuple[Any, ...]) -> dict[str, Any]:
    return {"dtype": str(value.dtype), "shape": list(value.shape), "stride": list(value.stride()),
            "contiguous": value.is_contiguous(), "offset": lie[3], "storage": lie[4]}


def facts_of(name: str, winners: list[Winner], capability: tuple[int, int], *, between: bool) -> dict[str, Any]:
    """The contents of package.json. Raises Error."""
    free, chosen = free_sizes(winners), best_of_each(winners)
    seen = [met(winner) for winner in chosen]
    schema = schema_of(seen[0])
    for one, winner in zip(seen, chosen, strict=True):
        if schema_of(one) != schema:
            raise Error("the runs' modules take different arguments", "bad_input", str(winner.folder), "publish them apart")
    texts = list(dict.fromkeys(winner.text for winner in chosen))
    buckets = [{"kernel": f"kernel_{texts.index(winner.text)}", "sizes": sizes_of(winner.reference),
                "arguments": _stored([value for _, value in one.arguments()]), **_provenance(winner)}
               for one, winner in zip(seen, chosen, strict=True)]
    return {"name": name, "namespace": f"{name}_{digest(*texts, chosen[0].reference)[:8]}", "schema": schema,
            "inputs": list(seen[0].inputs), "states": list(seen[0].states),
            "init": list(seen[0].init), "constants": _constants(seen), "outputs": seen[0].outputs, "precision": _one_precision(chosen),
            "trains": seen[0].trains,
            "capabilities": [list(capability)], "hardware": winners[0].hardware, "free": free,
            "between": ranges(buckets) if between else [], "buckets": buckets}


def _constants(seen: list[Met]) -> dict[str, Any]:
    """The constructor's arguments with their values, and the other constants of a profile
    (production/constants.py)."""
    arguments: dict[str, list[Any]] = {name: [] for name in seen[0].init}
    for one in seen:
        for name, value in one.init.items():
            arguments[name] += [] if value in arguments[name] else [value]
    return {"arguments": arguments, "attributes": seen[0].constants.get("arguments", {}),
            "fixed": seen[0].constants.get("fixed", {}), "literals": seen[0].constants.get("literals", [])}


def _one_precision(winners: list[Winner]) -> str:
    kinds = sorted({winner.precision for winner in winners})
    if len(kinds) > 1:
        raise Error(f"the runs' tasks have different precisions: {', '.join(kinds)}", "bad_input", str(winners[1].folder),
                    "publish them apart")
    return kinds[0]


def ranges(buckets: list[dict[str, Any]]) -> list[list[int]]:
    """[argument, dimension, smallest, largest] of each dimension in which the buckets differ."""
    found = []
    for at, alike in enumerate(zip(*(bucket["arguments"] for bucket in buckets), strict=True)):
        for dim, sizes in enumerate(zip(*(stored.get("shape", []) for stored in alike), strict=True)):
            if len(set(sizes)) > 1:
                found.append([at, dim, min(sizes), max(sizes)])
    return found


def _provenance(winner: Winner) -> dict[str, Any]:
    return {"task": winner.task, "task_digest": winner.task_digest, "run": winner.run, "archive": winner.archive,
            "program": winner.program, "speedup": winner.speedup, "runtime_us": winner.figures["runtime_us"],
            "tier": winner.tier,
            "baseline": winner.baseline, "toolchain": winner.figures["toolchain"]}
