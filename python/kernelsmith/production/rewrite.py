"""Lets a function ask a package first. Its own body stays, as what runs if no kernel applies."""

from __future__ import annotations

import ast

from .._errors import Error


def with_kernel(text: str, where: str, function: str, arguments: list[str], import_from: str, name: str, *,
                trains: bool) -> str:
    """The file's new text. Raises Error if the function cannot be found or changed."""
    try:
        tree = ast.parse(text)
    except SyntaxError as wrong:
        raise Error(f"the file is no Python: {wrong.msg}", "bad_input", f"{where}:{wrong.lineno}") from None
    node, is_method = _found(tree, where, function)
    first = _after_docstring(node, where, function)
    if trains and not is_method:
        raise Error("the module computes something else in training, and a function does not know which it is", "bad_input",
                    f"{where}: {function}", "name the method of the module")
    called, alias = ", ".join(_checked(each, where) for each in arguments), f"_{name}"
    indent = " " * first.col_offset
    condition = f"not self.training and {alias}.applies({called})" if trains else f"{alias}.applies({called})"
    lines = text.splitlines(keepends=True)
    lines[first.lineno - 1:first.lineno - 1] = [f"{indent}if {condition}:\n", f"{indent}    return {alias}.call({called})\n"]
    lines.insert(_after_imports(tree), f"from {import_from} import {name} as {alias}\n")
    changed = "".join(lines)
    ast.parse(changed)
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
                    "name it as Class.method or function; it is neither nested nor async")
    if any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in ast.walk(found[0])):
        raise Error(f"{function} is a generator", "bad_input", where)
    return found[0], bool(classes)


def _after_docstring(node: ast.FunctionDef, where: str, function: str) -> ast.stmt:
    has_docstring = ast.get_docstring(node) is not None
    if len(node.body) <= has_docstring or node.body[0].lineno == node.lineno:
        raise Error(f"the body of {function} does not begin on a line of its own", "bad_input", f"{where}:{node.lineno}")
    return node.body[has_docstring]


def _checked(expression: str, where: str) -> str:
    try:
        ast.parse(expression, mode="eval")
    except SyntaxError:
        raise Error(f"{expression!r} is no expression", "bad_input", f"{where}: arguments") from None
    return expression


def _after_imports(tree: ast.Module) -> int:
    """The line behind the last import of the module's top, from 0."""
    ends = [node.end_lineno or 0 for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    docstring = tree.body[0].end_lineno if tree.body and ast.get_docstring(tree) is not None else 0
    return max([*ends, docstring or 0])
