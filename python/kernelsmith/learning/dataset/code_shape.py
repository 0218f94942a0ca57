"""The shape of code: what stays of it without names, numbers, comments and layout."""

from __future__ import annotations

import ast
import hashlib
import re
from functools import lru_cache

_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\w\s]")
_C_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SHINGLE = 5


class _Plain(ast.NodeTransformer):
    """Takes names, attributes of self, constants, annotations and docstrings out."""

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name("_", node.ctx), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg("_")

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(0)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        own = isinstance(node.value, ast.Name) and node.value.id == "self"
        self.generic_visit(node)
        if own:
            node.attr = "_"
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        return None if isinstance(node.value, ast.Constant) else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return ast.Constant(0)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.name, node.returns = "_", None
        return _with_body(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        node.name = "_"
        return _with_body(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value or ast.Constant(0), lineno=node.lineno)


def _with_body(node: ast.FunctionDef | ast.ClassDef) -> ast.AST:
    node.body = node.body or [ast.Pass()]
    return node


@lru_cache(maxsize=4096)
def normalised(code: str) -> str:
    """Python: its syntax tree without names and numbers, written out. Anything else: its tokens without comments, numbers,
    and with names numbered by their first place."""
    try:
        with_tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return " ".join(_plain_tokens(code))
    kept = [node for node in with_tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    tree = _Plain().visit(ast.Module(kept, []))
    return ast.unparse(ast.fix_missing_locations(tree))


def _plain_tokens(code: str) -> list[str]:
    places: dict[str, str] = {}
    tokens = []
    for token in _TOKEN.findall(_C_COMMENT.sub(" ", code)):
        if token[0].isdigit():
            tokens.append("0")
        elif token[0].isalpha() or token[0] == "_":
            tokens.append(places.setdefault(token, f"v{len(places)}"))
        else:
            tokens.append(token)
    return tokens


def fingerprint(code: str) -> str:
    """Equal for code that differs in names, numbers, comments and layout only."""
    return hashlib.sha256(normalised(code).encode(errors="surrogateescape")).hexdigest()


def shingles(code: str) -> frozenset[str]:
    """Every five tokens in a row of what normalised() leaves."""
    tokens = _TOKEN.findall(normalised(code))
    return frozenset(" ".join(tokens[at:at + _SHINGLE]) for at in range(max(1, len(tokens) - _SHINGLE + 1)))
