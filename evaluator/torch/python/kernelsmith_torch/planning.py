"""Plans one candidate in a process of its own. The candidate is executed here, so this process is not trusted."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import (DataDependentOutputException, DynamicOutputShapeException, FakeTensor,
                                           FakeTensorMode, UnsupportedFakeTensorException)
from torch.nn.parameter import is_lazy
from torch.utils import _pytree
from torch.utils._python_dispatch import _disable_current_modes

from kernelsmith_process.framing import Failure

from . import answers, composites, device, inductor, layout, lazy, plan_format, recording
from .addresses import Addresses
from .assembly import Module, assemble, describe
from .constants import Constants
from .declared import Declared
from .differences import refuse_differences
from .extension import Extensions
from .model_source import has_lazy, loaded
from .places import Places
from .progress import Progress
from .recording import Refused
from .triton_recording import Kernels, Recording
from .tuning import Tuning

_MOST_MESSAGE = 4_000


def plan(request: dict[str, Any], folder: str, reference_done: Callable[[], None],
         progress: Progress) -> tuple[dict[str, Any], bytes]:
    """The reply's fields and the plan. `folder` is this process's own, and becomes its working folder. A Failure is
    the task's fault before `reference_done` was called, and the candidate's after it. If `told_addresses` is in
    the reply, the plan may depend on addresses: the same request with the plan as `first` records the candidate with
    other addresses and refuses differences."""
    # Compiled kernels contain the names of their source files. Relative paths give the same bytes in every folder.
    os.chdir(folder)
    paths = {"reference": "reference.py", "candidate": request["name"]}
    candidate = request["candidate"]
    source = paths["reference" if candidate is None else "candidate"]
    first = request["first"]
    tape = recording.Tape(source, plan_format.MOST_OPERATIONS, Addresses(request["seed"], mirrored=first is not None),
                          progress)
    kernels = Kernels()
    target = device.Device.of(request["arch"])
    recording.show_cuda(tape)
    composites.install(tape)
    answers.install(target, tape)
    Recording(tape, target, kernels).install()
    tuning = Tuning(tape, again=first is not None)
    tuning.install()
    inductor.install(tuning)
    extensions = Extensions(tape, target, request.get("builds", {}), request.get("blob", b""))
    extensions.install()
    torch.nn.Module._apply = functools.partialmethod(_apply, _Brought(tape.places))
    lazy.install(tape)
    with FakeTensorMode(allow_non_fake_inputs=True) as fake, torch.no_grad(), recording.Recorder(tape), recording.Front(tape):
        try:
            task = _Task(_load("reference", request["reference"], paths["reference"]), fake, request["cast"],
                         request["workload"].arguments)
        except BaseException as error:
            raise _failure(error, paths["reference"], "task") from error
        reference_done()
        progress.doing("executing the candidate's module")
        try:
            tape.recording = True
            made = task.module if candidate is None else _load("candidate", candidate, source)
            module = _trace(task, getattr(made, "Model" if candidate is None else "ModelNew", None), tape)
            tape.recording = False
            told, used, modules, summary = assemble(tape, module, kernels.told, target.arch)
            blob = plan_format.encode(told, [kernels.cubins[i] for i in used], [extensions.modules[i] for i in modules])
            if first is not None:
                refuse_differences(first, blob, tape.asked_for_address)
        except plan_format.PlanError as error:
            raise Failure("candidate", "plan", "plan_too_large", str(error),
                          "launch fewer kernels and operators, and keep large tables in tensors") from None
        except BaseException as error:
            if extensions.wanted is None:
                raise _failure(error, source, "candidate", again=first is not None) from error
    if extensions.wanted is not None:  # whatever the candidate did afterwards
        return {"build": extensions.wanted}, b""
    summary["own_kernels"] = sorted({extensions.work.names.get(name, name) for name in summary["own_kernels"]})
    summary["extension_errors"] = extensions.errors
    if len(blob) > request["most_bytes"]:
        raise Failure("candidate", "plan", "plan_too_large", f"a plan of {len(blob)} bytes: at most {request['most_bytes']}",
                      "compile fewer kernels and configurations")
    return {"summary": summary, "text": describe(summary), "told_addresses": tape.addresses.told}, blob


class _Task:
    """What the reference defines: inputs, its constructor's arguments, and the names, shapes and dtypes of
    its state."""

    def __init__(self, module: types.ModuleType, fake: FakeTensorMode, cast: bool, arguments: dict[str, Any]) -> None:
        for name in ("Model", "get_inputs"):
            if not hasattr(module, name):
                raise Refused("reference_failed", f"the reference has no {name}", "it needs Model and get_inputs()")
        self.module = module
        self.constructor = list(module.get_init_inputs()) if hasattr(module, "get_init_inputs") else []
        given = list(module.get_inputs(**arguments))
        with _disable_current_modes():
            fixed = {number: loaded(value, cast) for number, value in Declared(module).fixed(arguments).items()}
        for number, value in fixed.items():
            given[number] = torch.empty_strided(value.shape, value.stride(), dtype=value.dtype)
        numbers = [number for number, one in enumerate(given) for _ in _pytree.tree_leaves(one)]
        leaves, self._tree = _pytree.tree_flatten(given)
        self._leaves = [fake.from_tensor(leaf) if isinstance(leaf, torch.Tensor) and not isinstance(leaf, FakeTensor)
                        else leaf for leaf in leaves]
        # An input that is given twice is two tensors in one storage.
        self._leaves = [leaf.detach().resolve_conj().resolve_neg() if isinstance(leaf, torch.Tensor) else leaf
                        for leaf in self._leaves]
        layout.change(self._leaves, lambda flat: loaded(flat, cast))
        self.known = [(leaf, fixed[number]) for leaf, number in zip(self._leaves, numbers) if number in fixed]
        self.tensors = [leaf for leaf in self._leaves if isinstance(leaf, torch.Tensor)]
        self._cast = cast
        with Constants():
            model = self.cast(module.Model(*self.constructor).eval())
            if has_lazy(model):
                model(*self.inputs())
        state = model._apply(layout.brought).state_dict()
        self.state = {name: t for name, t in state.items() if isinstance(t, torch.Tensor)}

    def cast(self, model: torch.nn.Module) -> torch.nn.Module:
        """A model with the task's `cast`: KernelBench's harness casts all floats of the constructor to fp32."""
        return model.to(torch.float32) if self._cast else model

    def inputs(self) -> list[Any]:
        return _pytree.tree_unflatten(self._leaves, self._tree)


def _load(name: str, text: str, path: str) -> types.ModuleType:
    """Executes `text` as a module. Triton reads its kernels' source from the file, and ptxas notes when it was written."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    os.utime(path, (0, 0))
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    exec(compile(text, path, "exec"), module.__dict__)
    return module


def _trace(task: _Task, kind: Any, tape: recording.Tape) -> Module:
    if not (isinstance(kind, type) and issubclass(kind, torch.nn.Module)):
        raise Refused("no_model_new", "the candidate defines no class ModelNew(torch.nn.Module)", "define it")
    try:
        inspect.signature(kind).bind(*task.constructor)
    except TypeError as error:
        raise Refused("other_constructor", f"ModelNew does not take the arguments of the reference's Model: {error}",
                      "give it the constructor of Model", f"{os.path.basename(tape.source)}:{_line_of(kind)}") from None
    tape.progress.doing("executing the constructor")
    with _reading(tape):
        model = kind(*task.constructor)
    model = task.cast(model.eval()).to(recording.CUDA)
    module = None if has_lazy(model) else _with_state(model, task, tape)
    tape.steps = tape.call
    tape.progress.doing("executing forward")
    parameters = dict(model.named_parameters())
    with _reading(tape, task.known) if task.known else contextlib.nullcontext():
        outputs = [leaf for leaf in _pytree.tree_leaves(model(*task.inputs())) if isinstance(leaf, torch.Tensor)]
    if not outputs:
        raise Refused("plan_failed", "forward returns no tensor", "return what the reference returns")
    made = [name for name, parameter in model.named_parameters() if parameter is not parameters.get(name)]
    if made and any(isinstance(step, recording.Step) and step.draws for step in tape.call):
        raise Refused("not_allowed", f"forward() makes and draws {min(made)}, which must be made once",
                      "make it in the constructor, or by a module of torch.nn.Lazy*")
    module = module or _with_state(model, task, tape)
    module.outputs = [tape.number(t) for t in outputs]
    return module


@contextlib.contextmanager
def _reading(tape: recording.Tape, known: Sequence[tuple[torch.Tensor, torch.Tensor]] = ()) -> Iterator[None]:
    """The candidate may read values that are known while it is planned."""
    constants = Constants(known)
    tape.written = constants.written
    with constants:
        yield


def _with_state(model: torch.nn.Module, task: _Task, tape: recording.Tape) -> Module:
    module, wrong = Module([tape.number(t) for t in task.tensors], {}), []
    held: dict[str, torch.Tensor] = {}
    for name, tensor in _held(model).items():
        tape.number(tensor)
        due = task.state.get(name)
        if due is not None and (due.shape, due.dtype) == (tensor.shape, tensor.dtype):
            held[name] = tensor
        elif due is not None:
            wrong.append(f"{name} is {_words(tensor)}, in the reference {_words(due)}")
    own, others = (layout.Arrangement.of(tensors).lies for tensors in (held.values(), [task.state[name] for name in held]))
    for at, (name, one, other) in enumerate(zip(held, own, others)):
        twins, due = ([name for name, lie in zip(held, lies) if lie.storage == lies[at].storage] for lies in (own, others))
        is_like = one.matters()[:-1] == other.matters()[:-1]
        alone = layout.is_alone(held[name]) and all(lie == one for lie in own if lie.storage == one.storage)
        if twins == due and is_like or alone and (twins == due or len(twins) == 1):
            if one not in own[:at]:  # a parameter with two names has one in the plan
                module.state[name] = tape.number(held[name])
                if twins != due or not is_like:
                    module.own_lies.add(name)
        else:
            wrong.append(f"{name} lies in one storage with {', '.join(twins)}, and in the reference with {', '.join(due)}"
                         if twins != due else f"{name} has {one.words()}, and in the reference {other.words()}")
    if wrong:
        raise Refused("other_parameters", "; ".join(wrong[:16]),
                      "give each parameter the name, shape and dtype that it has in the reference")
    return module


def _held(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return dict([*model.named_parameters(remove_duplicate=False), *model.named_buffers(remove_duplicate=False)])


def _words(tensor: torch.Tensor) -> str:
    return f"{recording.name_of(tensor.dtype)}{list(tensor.shape)}"


class _Brought:
    """Tensors of modules to which nn.Module._apply was applied. Objects whose identities are kept here are
    kept alive."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._left: dict[int, torch.UntypedStorage] = {}  # copies on the GPU of tensors in the CPU's memory
        self.parameters: dict[tuple[int, int], tuple[Any, ...]] = {}

    def applied(self, function: Callable[[torch.Tensor], torch.Tensor], tensor: torch.Tensor) -> torch.Tensor:
        """A tensor that is moved to the GPU has PyTorch's layout there."""
        if self._places.on_cpu(tensor):
            self._left[recording.storage_of(tensor)] = tensor.untyped_storage()
        result = function(tensor)
        comes = recording.storage_of(result) in self._left and not self._places.on_cpu(result)
        return layout.brought(result) if comes else result


def _apply(self: torch.nn.Module, brought: _Brought, function: Callable[[torch.Tensor], torch.Tensor],
           recurse: bool = True) -> torch.nn.Module:
    """nn.Module._apply for fakes: a changed parameter is replaced by a new one everywhere; PyTorch would replace its
    memory instead."""
    for child in self.children() if recurse else ():
        child._apply(function)
    for key, parameter in self._parameters.items():
        if is_lazy(parameter):
            parameter.data = function(parameter.data)
        if parameter is None or is_lazy(parameter):
            continue
        which = id(function), id(parameter)
        if which not in brought.parameters and (result := brought.applied(function, parameter)) is not parameter:
            brought.parameters[which] = function, parameter, torch.nn.Parameter(result, parameter.requires_grad)
        self._parameters[key] = brought.parameters[which][2] if which in brought.parameters else parameter
    for key, buffer in self._buffers.items():
        if is_lazy(buffer):
            buffer.data = function(buffer.data)
        elif buffer is not None:
            self._buffers[key] = brought.applied(function, buffer)
    return self


def _failure(error: BaseException, path: str, fault: str, again: bool = False) -> Failure:
    where = _where(error, path)
    if isinstance(error, Refused):
        code, message, hint, where = error.code, error.message, error.hint, error.where or where
    elif isinstance(error, SyntaxError) and error.filename == path:
        code, message, hint = "syntax_error", f"{type(error).__name__}: {error.msg}", ""
        where = f"{os.path.basename(path)}:{error.lineno}"
    elif isinstance(error, (DataDependentOutputException, DynamicOutputShapeException)):
        code = "reads_values"
        message = f"{error.func} depends on a tensor's values, which planning does not have"
        hint = "keep the computation on tensors, without .item() and without shapes that depend on values"
    elif isinstance(error, UnsupportedFakeTensorException):
        code, message, hint = "not_allowed", str(error), ""
    elif isinstance(error, (SystemExit, KeyboardInterrupt)):
        code, message, hint = "plan_failed", "it ended the process", "do not call exit()"
    else:
        code, message, hint = "plan_failed", f"{type(error).__name__}: {error}", ""
    if again and code != "address_as_number":
        message = f"with its tensors at other addresses: {message}"
    stage = "compile" if code in ("syntax_error", "triton_compile") else "plan"
    code = code if fault == "candidate" else "reference_failed"
    return Failure(fault, stage, code, message[:_MOST_MESSAGE], hint, where)


def _where(error: BaseException, path: str) -> str:
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if recording.is_own(frame.filename, path)]
    return f"{os.path.basename(own[-1].filename)}:{own[-1].lineno}" if own else ""


def _line_of(kind: type) -> int:
    try:
        return inspect.getsourcelines(kind)[1]
    except (OSError, TypeError):
        return 1
