"""Changes a function so that it tries a package first. The function's own body stays as the fallback."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from .._errors import Error


@dataclass(frozen=True)
class Asking:
    """How a function calls a package. `arguments` are expressions of the function's names. `trains`: the
    module computes something else in training. `fixed`: the kernels are only for modules with certain values
    of attributes."""

    function: str
    arguments: list[str]
    import_from: str
    name: str
    trains: bool = False
    fixed: bool = False

    @property
    def alias(self) -> str:
        return f"_{self.name}"


def with_kernel(text: str, where: str, asking: Asking) -> str:
    """The file's new text. Raises Error if the function cannot be found or changed."""
    tree, first, is_method = _place(text, where, asking)
    lines = text.splitlines(keepends=True)
    at = min([first.lineno, *(each.lineno for each in getattr(first, "decorator_list", []))]) - 1
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    called = ", ".join(asking.arguments)
    condition = " and ".join([*_conditions(asking, is_method), f"{asking.alias}.applies({called})"])
    step = "\t" if "\t" in indent else "    "
    lines[at:at] = [f"{indent}if {condition}:\n", f"{indent}{step}return {asking.alias}.call({called})\n"]
    lines.insert(_after_imports(tree), f"from {asking.import_from} import {asking.name} as {asking.alias}\n")
    return _parsed("".join(lines), where)


def with_comparison(text: str, where: str, asking: Asking) -> str:
    """The file's text for a trial: the function works as before and compares itself with the package (agreement.py)."""
    _, _, is_method = _place(text, where, asking)
    owner, _, last = asking.function.rpartition(".")
    conditions = " and ".join(_conditions(asking, is_method))
    arguments = f"({', '.join(asking.arguments)},)" + (f" if {conditions} else None" if conditions else "")
    return _parsed(f"{text.rstrip()}\n\n\nimport sys as _sys\n\nfrom {asking.import_from} import {asking.name} as {asking.alias}\n\n"
                   f"{asking.alias}.agreement.compare({owner or '_sys.modules[__name__]'}, {last!r}, {arguments!r})\n", where)


def _place(text: str, where: str, asking: Asking) -> tuple[ast.Module, ast.stmt, bool]:
    """The file, the function's first statement, and whether it is a method."""
    try:
        tree = ast.parse(text)
    except SyntaxError as wrong:
        raise Error(f"the file is not Python: {wrong.msg}", "bad_input", f"{where}:{wrong.lineno}") from None
    node, is_method = _found(tree, where, asking.function)
    first = _after_docstring(node, where, asking.function)
    if asking.trains and not is_method:
        raise Error("the module computes something else in training, and a function does not know whether it is in "
                    "training", "bad_input",
                    f"{where}: {asking.function}", "name the method of the module")
    for each in asking.arguments:
        _check(each, where)
    return tree, first, is_method


def _conditions(asking: Asking, is_method: bool) -> list[str]:
    return [*(["not self.training"] if asking.trains else []),
            *([f"{asking.alias}.same_constants(self)"] if asking.fixed and is_method else [])]


def _parsed(changed: str, where: str) -> str:
    try:
        ast.parse(changed)
    except SyntaxError as wrong:
        raise Error(f"the file cannot be changed by lines: {wrong.msg}", "bad_input", where,
                    "begin the function's body on a line of its own, indented as its other lines") from None
    return changed


def _found(tree: ast.Module, where: str, function: str) -> tuple[ast.FunctionDef, bool]:
    body: list[ast.stmt] = tree.body
    *classes, last = function.split(".")
    for wanted in classes:
        [*inner] = [node for node in body if isinstance(node, ast.ClassDef) and node.name == wanted]
        body = inner[-1].body if inner else []
    found = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == last]
    if len(found) != 1:
        raise Error(f"there {'is no' if not found else 'is more than one'} function {function}", "not_found", where,
                    "name it as Class.method or function; it must be neither nested nor async")
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(found[0])):
        raise Error(f"{function} is a generator", "bad_input", where)
    return found[0], bool(classes)


def _after_docstring(node: ast.FunctionDef, where: str, function: str) -> ast.stmt:
    has_docstring = ast.get_docstring(node) is not None
    if len(node.body) <= has_docstring or node.body[0].lineno == node.lineno:
        raise Error(f"the body of {function} does not begin on a line of its own", "bad_input", f"{where}:{node.lineno}")
    return node.body[has_docstring]


def _check(expression: str, where: str) -> None:
    try:
        ast.parse(expression, mode="eval")
    except SyntaxError:
        raise Error(f"{expression!r} is not an expression", "bad_input", f"{where}: arguments") from None


def _after_imports(tree: ast.Module) -> int:
    """The line after the last import at the module's top, from 0."""
    ends = [node.end_lineno or 0 for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    docstring = tree.body[0].end_lineno if tree.body and ast.get_docstring(tree) is not None else 0
    return max([*ends, docstring or 0])
