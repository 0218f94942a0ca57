"""Loads a whole model and its inputs from a KernelBench file, an importable class, or a Transformers
configuration."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import text_of
from .runtime.lies import relaid
from .torch_here import executed, require_values, their_errors, torch_here


@dataclass(frozen=True)
class Loaded:
    """A model in evaluation mode, without gradients, on a device. `tokens`: the tokens in a step, if inputs
    are token numbers. `again` makes the same model anew."""

    name: str
    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tokens: int | None = None
    again: Callable[[], Loaded] | None = None

    def run(self) -> Any:
        return self.model(*self.args, **self.kwargs)


@dataclass(frozen=True)
class Wanted:
    """`model` is FILE.py, package.module:Class, or a folder or file of a Transformers configuration."""

    model: str
    inputs: Path | None = None
    batch: int = 1
    length: int = 128
    dtype: str | None = None
    seed: int = 0


def load(wanted: Wanted, device: str) -> Loaded:
    """Raises Error if this is not a model, or if the model's code raises an exception."""
    torch = torch_here()
    with their_errors(Path(wanted.model)), torch.random.fork_rng(devices=[]):
        torch.manual_seed(wanted.seed)
        loaded = _made(torch, wanted)
        require_values(loaded.model, (loaded.args, loaded.kwargs), Path(wanted.model))
        dtype = _dtype(torch, wanted.dtype)
        model = loaded.model.eval().requires_grad_(False).to(device)
        model = model if dtype is None else model.to(dtype)
    args, kwargs = _moved((loaded.args, loaded.kwargs), device, dtype)
    return Loaded(loaded.name, model, args, kwargs, loaded.tokens, lambda: load(wanted, device))


def _made(torch: Any, wanted: Wanted) -> Loaded:
    path = Path(wanted.model)
    if path.suffix == ".py":
        return _of_file(wanted, path)
    if path.suffix == ".json" or path.is_dir():
        return _of_configuration(torch, wanted, path)
    if ":" in wanted.model:
        return _of_class(wanted)
    raise Error("this is not a model", "invalid_argument", wanted.model,
                "give a file with Model and get_inputs, package.module:Class, or a Transformers configuration")


def _of_file(wanted: Wanted, path: Path) -> Loaded:
    made = _file(path)
    for name in ("Model", "get_inputs") if wanted.inputs is None else ("Model",):
        if not hasattr(made, name):
            raise Error(f"the file defines no {name}", "bad_input", str(path),
                        "docs/backend-torch.md says what a model's file has")
    init = made.get_init_inputs() if hasattr(made, "get_init_inputs") else []
    inputs = _file(wanted.inputs).get_inputs() if wanted.inputs is not None else made.get_inputs()
    return Loaded(path.stem, made.Model(*init), *_as_call(inputs))


def _of_class(wanted: Wanted) -> Loaded:
    module, _, name = wanted.model.partition(":")
    if wanted.inputs is None:
        raise Error("a class has no inputs of its own", "invalid_argument", wanted.model,
                    "--inputs FILE.py, which defines get_inputs(), and get_init_inputs() for the constructor")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as missing:
        raise Error(f"the class cannot be imported: {missing}", "not_found", wanted.model) from None
    made = _file(wanted.inputs)
    init = made.get_init_inputs() if hasattr(made, "get_init_inputs") else []
    return Loaded(name, found(*init), *_as_call(made.get_inputs()))


def _of_configuration(torch: Any, wanted: Wanted, path: Path) -> Loaded:
    file = path / "config.json" if path.is_dir() else path
    try:
        said = json.loads(file.read_bytes())
    except (OSError, ValueError) as wrong:
        raise Error(f"the configuration cannot be read: {wrong}", "bad_input", str(file)) from None
    try:
        import transformers  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise Error("a configuration needs transformers", "not_found", str(path), "pip install transformers") from None
    configuration = transformers.AutoConfig.for_model(**said)
    named = getattr(transformers, (configuration.architectures or [""])[0], None)
    model = transformers.AutoModel.from_config(configuration) if named is None else named(configuration)
    if wanted.inputs is not None:
        return Loaded(path.stem, model, *_as_call(_file(wanted.inputs).get_inputs()))
    tokens = torch.randint(configuration.vocab_size, (wanted.batch, wanted.length))
    return Loaded(path.stem, model, (), {"input_ids": tokens, "use_cache": False}, tokens.numel())


def _file(path: Path) -> Any:
    module = executed(text_of(path, encoding="utf-8-sig"), path, path.stem)
    sys.modules.setdefault(path.stem, module)
    return module


def _as_call(inputs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The inputs as arguments. A dict holds arguments by name."""
    return ((), dict(inputs)) if isinstance(inputs, dict) else (tuple(inputs), {})


def _dtype(torch: Any, name: str | None) -> Any:
    if name is None:
        return None
    known = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}
    return known[name]


def _moved(tree: Any, device: str, dtype: Any) -> Any:
    def moved(flat: Any) -> Any:
        flat = flat.to(device)
        return flat.to(dtype) if dtype is not None and flat.is_floating_point() else flat

    return relaid(tree, moved)
