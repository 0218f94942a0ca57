"""The reference: loads reference.py as trusted code, draws its inputs from a seed, makes its parameters.

Judge and runner both use this, so that they have the same inputs and parameters without sending any. Every failure
is a Failure with fault `task` that names file and line of the reference.
"""

from __future__ import annotations

import copy
import itertools
import os
import random
import sys
import traceback
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn.parameter import is_lazy
from torch.utils import _pytree as pytree

from kernelsmith_process.framing import Failure

from .declared import Declared
from .forward_draws import ForwardDraws
from .layout import Arrangement, brought, change, write
from .memory import asked_for, is_memory
from .workloads import Workload

VARIANTS = ("given", "scaled", "shifted")
_STATE_SEED = 0
_MATERIAL_SEED = 1
# With the input's own seed forward() would draw the input again.
_FORWARD = 1 << 62
_MOST_MASK = 1 << 27  # the most bytes of temporaries for an input of gigabytes
# Models that are made early take at most this share of the host's memory: a few tasks may be prepared at once.
_SHARE_OF_SPARES = 1 / 16


def where_in(error: BaseException, path: str) -> str:
    """`file:line` of the deepest frame of `path` in an exception; only the path if there is none."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        lines.append(error.lineno)
    return f"{path}:{lines[-1]}" if lines else path


def out_of_memory(fault: str, doing: str, where: str, error: BaseException) -> Failure:
    """The Failure for memory that ran out. Code that knows the device decides whose fault that is."""
    return Failure(fault, "run", "out_of_memory", f"memory ran out while {doing}", "", where, doing=doing,
                   asked=asked_for(str(error)))


@contextmanager
def blaming(path: str, doing: str) -> Iterator[None]:
    """Converts exceptions of the reference to Failures of the task."""
    try:
        yield
    except Failure:
        raise
    except Exception as error:  # noqa: BLE001 - a reference may raise anything
        if is_memory(error):
            raise out_of_memory("task", doing, where_in(error, path), error) from error
        raise Failure("task", "run", "reference_failed", f"{type(error).__name__} while {doing}: {error}",
                      "the reference must run by itself; see file and line", where_in(error, path)) from error


@dataclass
class Inputs:
    """The flattened result of get_inputs(). Tensors are on the device."""

    leaves: list[Any]
    spec: Any
    draws: ForwardDraws
    seed: int  # seed of forward()'s draws

    def drawn(self) -> list[torch.Tensor]:
        """The draws of forward(); empty before its first call."""
        return self.draws.drawn(self.seed)

    def tensors(self) -> list[torch.Tensor]:
        return [leaf for leaf in self.leaves if isinstance(leaf, torch.Tensor)]

    def with_tensors(self, tensors: Sequence[torch.Tensor]) -> Inputs:
        """The same structure around other tensors."""
        rest = iter(tensors)
        return Inputs([next(rest) if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves], self.spec,
                      self.draws, self.seed)

    def arguments(self) -> list[Any]:
        """Copies for one call, which may change their shapes in place."""
        return pytree.tree_unflatten([leaf.detach() if isinstance(leaf, torch.Tensor) else leaf for leaf in self.leaves], self.spec)


def output_tensors(result: Any) -> list[torch.Tensor]:
    """The tensors in forward()'s result (a tensor, tuple, list, dict, nested), in order."""
    return [leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor)]


class Reference:
    """One reference.py on one device. Not thread-safe: it sets the global random state."""

    def __init__(self, path: str, device: torch.device, cast: bool = False, workload: Workload = Workload()) -> None:
        self.path, self.device, self._workload = path, device, workload
        self._cast = cast
        self._draws = ForwardDraws(self._seed)
        self._fixed: dict[int, torch.Tensor] | None = None  # once a workload's inputs were drawn
        self._spares: list[torch.nn.Module] = []
        self._module = types.ModuleType("kernelsmith_reference")
        self._module.__file__ = path
        sys.modules[self._module.__name__] = self._module
        with blaming(path, "loading the reference"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            exec(compile(text, path, "exec"), self._module.__dict__)  # noqa: S102 - the task's own file is trusted
        for name in ("Model", "get_inputs"):
            if not callable(getattr(self._module, name, None)):
                raise Failure("task", "run", "reference_incomplete", f"the reference defines no {name}",
                              "define Model and get_inputs, and get_init_inputs if Model has arguments", path)
        with torch.no_grad(), blaming(path, "making Model"):
            self.declared = Declared(self._module)
            self._unvaried = self.declared.unvaried()
            self._model = self._made(self._module.Model)

    @staticmethod
    def early(path: str, device: torch.device, cast: bool, spares: int, workload: Workload = Workload()) -> Reference | None:
        """The reference, and so many modules for model(), which are made on the host while another task has the GPU;
        None if the file may use the GPU when a module is made."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if "cuda" in text or "Lazy" in text:
            return None
        reference = Reference(path, device, cast, workload)
        size = sum(t.numel() * t.element_size() for t in _held(reference._model))
        room = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * _SHARE_OF_SPARES
        with torch.no_grad():
            while len(reference._spares) < spares and (len(reference._spares) + 1) * size <= room:
                reference._spares.append(reference._made(reference._module.Model))
        return reference

    def at(self, workload: Workload) -> Reference:
        """The same reference and parameters, with another workload's inputs."""
        other = copy.copy(self)
        other._workload, other._draws, other._fixed = workload, ForwardDraws(self._seed), None
        return other

    def drop_spares(self) -> None:
        self._spares.clear()

    def made_by(self, kind: type[torch.nn.Module]) -> torch.nn.Module:
        """Another module on the device, made from the same seed and with the arguments of Model's constructor."""
        with torch.no_grad():
            return self._made(kind).to(self.device)

    def seed_constructor(self) -> None:
        """Seeds generators as for Model's constructor, so that a candidate's constructor draws the same."""
        self._seed(_STATE_SEED)

    def seed_call(self, seed: int) -> None:
        """Seeds generators as for a call on the inputs of `seed`, so that a candidate draws the same as the
        reference."""
        self._seed(seed ^ _FORWARD)

    def _made(self, kind: type[torch.nn.Module]) -> torch.nn.Module:
        self._seed(_STATE_SEED)
        given = getattr(self._module, "get_init_inputs", list)()
        self.seed_constructor()
        model = kind(*given).eval()
        model = model.to(torch.float32) if self._cast else model
        model = self._materialised(model) if has_lazy(model) else model
        # Parameters are moved here, so that their layout is known. Tensors that the constructor made on the
        # GPU are unchanged.
        return model._apply(lambda tensor: tensor if tensor.is_cuda else brought(tensor))

    def _materialised(self, model: torch.nn.Module) -> torch.nn.Module:
        """The module after one call, which creates and draws its parameters with the generator state after the
        constructor."""
        with torch.random.fork_rng([self.device] if self.device.type == "cuda" else []):
            inputs = self.draw(0, _MATERIAL_SEED)
        model.to(self.device)(*inputs.arguments())
        return model.cpu()

    def model(self) -> torch.nn.Module:
        """Another Model with the same parameters, on the device, in eval mode. It is constructed, because a copy's
        closures would refer to the original's modules and tensors."""
        with torch.no_grad(), blaming(self.path, "moving Model to the device"):
            model = self._spares.pop() if self._spares else self._made(self._module.Model)
            self.restore(model)
            return model.to(self.device)

    def restore(self, model: torch.nn.Module) -> None:
        """Copies the parameters and buffers of the first Model to a Model of model()."""
        with torch.no_grad():
            for target, source in zip(_held(model), _held(self._model), strict=True):
                write(target, source)

    def state(self) -> dict[str, torch.Tensor]:
        """Parameters and buffers on the host, by their names in the state_dict."""
        return {name: value.detach().cpu() for name, value in self._model.state_dict().items()}

    def kept_by(self, model: torch.nn.Module) -> list[torch.Tensor]:
        """The tensors that the module and its file hold in attributes, globals and containers there: also tables by shape, which
        the next workload's call may replace."""
        found: list[torch.Tensor] = []
        seen: set[int] = set()
        left: list[Any] = [*map(vars, model.modules()), vars(self._module)]
        while left:
            one = left.pop()
            if isinstance(one, torch.Tensor):
                found.append(one)
            elif isinstance(one, (dict, list, tuple)) and id(one) not in seen:
                seen.add(id(one))
                left += one.values() if isinstance(one, dict) else one
        return found

    def state_lies(self) -> Arrangement:
        """The layout of parameters and buffers on the device."""
        return Arrangement.of(self._model.state_dict().values())

    def draw(self, variant: int, seed: int) -> Inputs:
        """The inputs of a set: equal for the same variant and seed, in every process with such a device."""
        with torch.no_grad(), blaming(self.path, "running get_inputs"):
            if self._fixed is None:
                self._fixed = self.declared.fixed(self._workload.arguments)
            self._seed(seed)
            with self.device:
                given = self._module.get_inputs(**self._workload.arguments)
            if not isinstance(given, (list, tuple)):
                raise TypeError(f"get_inputs returns a {type(given).__name__}, not a list")
            given = list(given)
            for number, value in self._fixed.items():
                given[number] = value.to(self.device)
            leaves, spec = pytree.tree_flatten(given)
            varied = [number not in self._fixed and number not in self._unvaried
                      for number, one in enumerate(given) for _ in pytree.tree_leaves(one)]
            del given
            leaves = [leaf.detach().resolve_conj().resolve_neg() if isinstance(leaf, torch.Tensor) else leaf
                      for leaf in leaves]
            change(leaves, lambda flat: self._varied(flat, variant), varied)
            change(leaves, lambda flat: self._varied(flat, 0), [not varies for varies in varied])
            return Inputs([leaf.to(self.device) if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves], spec,
                          self._draws, seed ^ _FORWARD)

    def _varied(self, flat: torch.Tensor, variant: int) -> torch.Tensor:
        """Makes only one copy, because the tensor may be the module's own and large."""
        # PyTorch cannot multiply floats of 8 bits.
        if not flat.is_floating_point() or flat.itemsize == 1 or VARIANTS[variant] == "given":
            return loaded(flat.to(self.device), self._cast)
        varied = torch.empty_like(flat, dtype=torch.float32 if self._cast else flat.dtype, device=self.device).copy_(flat)
        return varied.mul_(4) if VARIANTS[variant] == "scaled" else _shifted(varied)

    def _seed(self, seed: int) -> None:
        """Like torch.manual_seed, without the millisecond for devices of other kinds."""
        torch.default_generator.manual_seed(seed)
        if self.device.type == "cuda":
            torch.cuda.default_generators[self.device.index].manual_seed(seed)
        random.seed(seed)
        numpy = sys.modules.get("numpy")
        if numpy is not None:
            numpy.random.seed(seed % 2**32)


def loaded(tensor: torch.Tensor, cast: bool) -> torch.Tensor:
    """Applies the task's `cast` to an input: KernelBench's harness casts floats of inputs like the modules."""
    return tensor.to(torch.float32) if cast and tensor.is_floating_point() else tensor


def _held(model: torch.nn.Module) -> list[torch.Tensor]:
    return [*model.parameters(), *model.buffers()]


def _shifted(flat: torch.Tensor) -> torch.Tensor:
    """Adds one in place. Zeros in a tensor with other values are kept, because they may be structure, as in a
    triangular matrix."""
    parts = flat.split(_MOST_MASK)
    has_others = any(bool(part.any()) for part in parts)
    for part in parts:
        part.add_(part.ne(0) if has_others else 1)
    return flat


def has_lazy(model: torch.nn.Module) -> bool:
    """Whether the model's first call creates parameters or buffers (torch.nn.Lazy*)."""
    return any(map(is_lazy, itertools.chain(model.parameters(), model.buffers())))


def constants(inputs: Inputs) -> list[Any]:
    """Inputs that are not tensors: constants of every plan."""
    return [leaf for leaf in inputs.leaves if not isinstance(leaf, torch.Tensor)]


def check_sets(variant: Any, variants: int, sets: Any, most: int) -> None:
    """Raises Failure if a request's sets of inputs are invalid."""
    if variant not in range(variants) or not isinstance(sets, list) or not 0 < len(sets) <= most or \
            not all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in sets):
        raise Failure("machine", "run", "bad_request", f"a variant below {variants} and 1 to {most} seeds are wanted")


def run_model(model: torch.nn.Module, inputs: Inputs) -> list[torch.Tensor]:
    """The outputs of one eager call that receives its draws."""
    with inputs.draws.of_call(inputs.seed):
        return run_plainly(model, inputs)


def run_plainly(model: torch.nn.Module, inputs: Inputs) -> list[torch.Tensor]:
    """The outputs of one eager call."""
    with torch.no_grad():
        return output_tensors(model(*inputs.arguments()))
