"""Finds the names that a definition takes from outside."""

from __future__ import annotations

import ast
import builtins
import symtable

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__class__"}


def free(node: ast.stmt) -> set[str]:
    """The names that the node reads from outside: it binds them neither where it reads them nor at its
    top."""
    table = symtable.symtable(ast.unparse(node), "node", "exec")
    top = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_namespace()}
    return {name for name in _read(table, top=True) if name not in BUILTINS} - top


def _read(table: symtable.SymbolTable, top: bool = False) -> set[str]:
    found = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (top or symbol.is_global())}
    for child in table.get_children():
        found |= _read(child)
    return found


def bound(node: ast.AST) -> set[str]:
    """The names that are bound anywhere within the node: parameters, variables, nested definitions."""
    found = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Load):
            found.add(inner.id)
        elif isinstance(inner, ast.arg):
            found.add(inner.arg)
        elif isinstance(inner, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and inner is not node:
            found.add(inner.name)
        elif isinstance(inner, (ast.Import, ast.ImportFrom)):
            found |= {(one.asname or one.name).partition(".")[0] for one in inner.names}
        elif isinstance(inner, ast.ExceptHandler) and inner.name:
            found.add(inner.name)
    return found


class _Hollow(ast.NodeTransformer):
    """Empties the bodies of functions."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        hollow = ast.FunctionDef(node.name, node.args, [ast.Pass()], node.decorator_list, node.returns)
        return ast.copy_location(hollow, node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return ast.copy_location(ast.Lambda(node.args, ast.Constant(None)), node)


def needed_at_once(node: ast.stmt) -> set[str]:
    """The names that must exist when the definition is executed, for its bases, decorators, defaults and
    class bodies."""
    return free(ast.fix_missing_locations(_Hollow().visit(ast.parse(ast.unparse(node)).body[0])))
