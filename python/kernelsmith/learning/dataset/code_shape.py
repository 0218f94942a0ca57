"""The shape of code, which is the code without names, numbers, comments and layout."""

from __future__ import annotations

import ast
import enum
import hashlib
import re
from functools import lru_cache

_TOKEN = re.compile(r"[^\W\d]\w*|\d[\w.]*|[^\w\s]")
_C_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_SHINGLE = 5
# A name before a parenthesis is called if one of these words precedes it. After any other word it is
# declared.
_BEFORE_CALLS = frozenset({"return", "else", "do", "case", "throw", "new"})


class Plain(ast.NodeTransformer):
    """Removes names, attributes of self, constants, annotations and docstrings. Functions that are called but defined
    elsewhere keep their names."""

    def __init__(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        self._imported = {one.asname or one.name: one.name for node in nodes if isinstance(node, ast.ImportFrom)
                          for one in node.names}
        self._own = {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self._own |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        self._own |= {node.arg for node in nodes if isinstance(node, ast.arg)}

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func.id if isinstance(node.func, ast.Name) else None
        self.generic_visit(node)
        if called is not None and called not in self._own:
            node.func = ast.Name(self._imported.get(called, called), ast.Load())
        return node

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


class Language(enum.Enum):
    """The language of a text, as far as texts are compared differently."""

    PYTHON = "Python"
    C = "C and its relatives"
    OTHER = "other text"


@lru_cache(maxsize=4096)
def language_of(code: str) -> Language:
    try:
        return Language.PYTHON if _is_program(ast.parse(code)) else Language.OTHER
    except (SyntaxError, ValueError):
        return Language.C if {";", "{", "}"} <= set(code) else Language.OTHER
    except (RecursionError, MemoryError):  # nests deeper than Python parses
        return Language.C


@lru_cache(maxsize=4096)
def normalised(code: str) -> str:
    """For Python, the written syntax tree without names and numbers. For other code, its tokens without
    comments and numbers; names that are not called become numbers in the order of their first use. For other
    text, its words."""
    language = language_of(code)
    if language is Language.OTHER:
        return _words(code)
    if language is Language.PYTHON:
        try:
            return _written(ast.parse(code))
        except (RecursionError, MemoryError):  # nests deeper than Python writes
            pass
    return " ".join(_plain_tokens(code))


def _is_program(tree: ast.Module) -> bool:
    """Whether a text is code: a reference defines functions or classes, while prose such as "Task: sort"
    parses, too."""
    return any(isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) for node in ast.walk(tree))


def _written(tree: ast.Module) -> str:
    plain = Plain(tree)
    kept = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    return ast.unparse(ast.fix_missing_locations(plain.visit(ast.Module(kept, []))))


def _words(text: str) -> str:
    return " ".join(_TOKEN.findall(text.casefold()))


def _plain_tokens(code: str) -> list[str]:
    found = _TOKEN.findall(_C_COMMENT.sub(" ", code))
    kept = _called(found)
    places: dict[str, str] = {}
    tokens = []
    for token in found:
        if token[0].isdigit():
            tokens.append("0")
        elif _is_name(token) and token not in kept:
            tokens.append(places.setdefault(token, f"v{len(places)}"))
        else:
            tokens.append(token)
    return tokens


def _is_name(token: str) -> bool:
    return token[0].isalpha() or token[0] == "_"


def _called(tokens: list[str]) -> set[str]:
    """Names before a parenthesis that the text does not declare."""
    called: set[str] = set()
    declared: set[str] = set()
    for before, name, after in zip(["", *tokens], tokens, tokens[1:], strict=False):
        if _is_name(name) and after == "(":
            new = _is_name(before) and before not in _BEFORE_CALLS
            (declared if new else called).add(name)
    return called - declared


def fingerprint(code: str) -> str:
    """Equal for code that differs only in names, numbers, comments and layout."""
    return hashlib.sha256(normalised(code).encode(errors="surrogateescape")).hexdigest()


def shingles(code: str) -> frozenset[str]:
    """Every five tokens in a row of the normalised code."""
    return shingles_of(normalised(code))


def shingles_of(text: str) -> frozenset[str]:
    """Every five tokens in a row."""
    tokens = _TOKEN.findall(text)
    return frozenset(" ".join(tokens[at:at + _SHINGLE]) for at in range(max(1, len(tokens) - _SHINGLE + 1)))
