"""The imports and names that extracted code may use. Code is checked before it is executed anywhere, sandbox or not."""

from __future__ import annotations

import ast
import re
import sys

from . import names

# No module here gives access to files, processes, sockets, threads or clocks, or to names by indirect ways.
IMPORTS = frozenset({"__future__", "abc", "collections", "contextlib", "copy", "dataclasses", "einops", "einx", "enum",
                     "functools", "itertools", "math", "numbers", "numpy", "operator", "packaging", "random", "torch", "types",
                     "typing", "warnings"})
_REFUSED_MODULES = (
    "torch.hub", "torch.distributed", "torch.multiprocessing", "torch.utils.cpp_extension", "torch.utils.data",
    "torch.serialization", "torch.package", "torch.onnx", "torch.profiler", "numpy.ctypeslib", "numpy.f2py",
    "numpy.distutils", "numpy.testing", "numpy.lib.npyio", "torch.utils.tensorboard", "torch.testing", "contextlib.chdir",
    "random.SystemRandom", "random.seed", "random.setstate", "packaging.tags", "packaging.metadata")
_NAMES = frozenset({"eval", "exec", "compile", "__import__", "open", "input", "globals", "locals",
                   "breakpoint", "exit", "quit", "__builtins__", "__loader__", "__spec__", "__file__", "memoryview"})
_ATTRIBUTES = frozenset({
    "load", "save", "savez", "loadtxt", "savetxt", "fromfile", "tofile", "memmap", "hub", "load_library", "cpp_extension",
    "from_file", "distributed", "multiprocessing", "ctypes", "ctypeslib", "sys", "os", "importlib", "subprocess", "system",
    "data_ptr", "load_state_dict_from_url", "manual_seed", "set_default_device", "set_default_dtype",
    "attrgetter", "methodcaller", "chdir", "SystemRandom", "setstate", "CodeType", "FunctionType", "builtins", "bltns", "exec", "popen"})
# Libraries expose their own imports as attributes: torch.os, dataclasses.builtins, collections._sys. The
# names left out are also names of functions.
_MODULES = sys.stdlib_module_names - IMPORTS - {"array", "chunk", "random", "select", "signal", "trace"}
_DUNDERS = frozenset({
    "__init__", "__call__", "__class__", "__name__", "__getattr__", "__setattr__", "__getitem__", "__len__", "__iter__",
    "__next__", "__repr__", "__str__", "__new__", "__version__", "__setitem__", "__contains__", "__post_init__",
    "__delattr__", "__setstate__", "__getstate__", "__dict__", "__delitem__", "__sub__", "__rmul__", "__add__", "__mul__",
    "__eq__", "__hash__", "__doc__", "__enter__", "__exit__"})
_LIBRARIES = IMPORTS | {"nn", "F", "np"}
_PATCHERS = frozenset({"setattr", "delattr", "vars"})


class Refusal(Exception):
    """The reason why a module is refused: a code of docs/synthesis.md, and the finding."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(code, message)
        self.code, self.message = code, message


def may_import(module: str) -> bool:
    inside = any(module == refused or module.startswith(refused + ".") for refused in _REFUSED_MODULES)
    first, *others = module.split(".")
    return first in IMPORTS and not inside and not any(_is_way_out(one) for one in others)


def _is_way_out(name: str) -> bool:
    """Whether a library's attribute leads to a module that may not be imported."""
    return name in _ATTRIBUTES or name.lstrip("_") in _MODULES


def check(tree: ast.AST) -> None:
    """Raises Refusal."""
    bound = names.bound(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in _NAMES and (node.id != "input" or node.id not in bound):
            raise Refusal("forbidden_name", node.id)
        if isinstance(node, ast.Attribute):
            _check_attribute(node)
        elif isinstance(node, ast.Import):
            _check_imports(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            _check_imports([node.module or "", *(f"{node.module}.{one.name}" for one in node.names)])
        elif isinstance(node, (ast.Global, ast.Nonlocal)) and isinstance(node, ast.Global):
            raise Refusal("global_state", ", ".join(node.names))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _PATCHERS \
                and node.args and _root(node.args[0]) in _LIBRARIES:
            raise Refusal("patches_library", ast.unparse(node)[:100])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            _check_text(node.value)


def _check_text(text: str) -> None:
    """Checks the names in a text that getattr(), format() and similar functions would look up."""
    for name in re.findall(r"\b__\w+__\b", text):
        if name not in _DUNDERS:
            raise Refusal("forbidden_name", name)


def _check_attribute(node: ast.Attribute) -> None:
    dunder = node.attr.startswith("__") and node.attr.endswith("__")
    if node.attr in _ATTRIBUTES or dunder and node.attr not in _DUNDERS:
        if not (isinstance(node.value, ast.Name) and node.value.id == "self" and not dunder):
            raise Refusal("forbidden_name", "." + node.attr)
    if _root(node) in _LIBRARIES and (_is_way_out(node.attr) or node.attr == "__dict__"
                                      or ast.unparse(node) in _REFUSED_MODULES):
        raise Refusal("forbidden_name", ast.unparse(node)[:100])
    if not isinstance(node.ctx, ast.Load) and _root(node) in _LIBRARIES:
        raise Refusal("patches_library", ast.unparse(node)[:100])


def _check_imports(modules: object) -> None:
    for module in modules:  # type: ignore[attr-defined]
        if not may_import(module):
            raise Refusal("import_refused", module)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
