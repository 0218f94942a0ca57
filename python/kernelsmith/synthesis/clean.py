"""Removes code that does not affect the result: annotations, docstrings, registrations, moves between
devices."""

from __future__ import annotations

import ast

_SAYS = frozenset({"print", "pprint", "warn", "warning", "info", "debug", "log", "print_log", "deprecate", "warn_once"})
_SAYERS = frozenset({"logger", "logging", "warnings", "log", "LOGGER", "_logger", "_LOGGER", "tqdm", "rank_zero_info"})
_KEPT_DECORATORS = frozenset({"property", "staticmethod", "classmethod", "cached_property", "wraps", "lru_cache", "cache",
                              "partial", "no_grad", "inference_mode", "contextmanager", "setter", "dataclass",
                              "abstractmethod", "total_ordering"})
_DROPPED_DECORATORS = frozenset({"script", "script_method", "ignore", "export", "unused", "compile", "overload", "autocast",
                                 "beartype", "typechecked", "jaxtyped", "typecheck", "custom_fwd", "custom_bwd", "disable",
                                 "add_start_docstrings", "allow_in_graph", "abstractmethod", "final", "override",
                                 "_copy_to_script_wrapper", "abstractproperty"})
_DEVICES = ("cuda", "cpu")


def cleaned(node: ast.stmt) -> ast.stmt:
    """A copy."""
    made = ast.parse(ast.unparse(node)).body[0]
    made = _Clean(_is_record(made)).visit(made)
    assert isinstance(made, ast.stmt)
    return ast.fix_missing_locations(made)


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_record(node: ast.stmt) -> bool:
    """Whether it is a dataclass, whose annotations are its fields."""
    if not isinstance(node, ast.ClassDef):
        return False
    return any(_last(one) == "dataclass" for one in node.decorator_list) or \
        any(_last(base) in ("NamedTuple", "TypedDict") for base in node.bases)


def _drops(decorator: ast.expr) -> bool:
    name = _last(decorator)
    return name not in _KEPT_DECORATORS and ("regist" in ast.unparse(decorator).lower() or name in _DROPPED_DECORATORS)


class _Clean(ast.NodeTransformer):
    def __init__(self, record: bool) -> None:
        self._record = record

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.decorator_list = [one for one in node.decorator_list if not _drops(one)]
        node.returns = None
        for one in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]:
            if one is not None:
                one.annotation = None
        self.generic_visit(node)
        node.body = _body(node.body)
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.decorator_list = [one for one in node.decorator_list if _last(one) in _KEPT_DECORATORS or not _drops(one)]
        node.bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        node.bases = [base for base in node.bases if _last(base) not in ("Generic", "Protocol")]
        self.generic_visit(node)
        node.body = _body(node.body)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST | None:
        self.generic_visit(node)
        if self._record:
            node.annotation = ast.Name("object", ast.Load())
            return node
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value else None

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(value, ast.Constant):
            return None
        if isinstance(value, ast.Call):
            owner = value.func.value if isinstance(value.func, ast.Attribute) else None
            if owner is not None and _last(value) == "to" and "device" in ast.unparse(value):  # `self.to(device)`
                return None
            if _last(value) in _SAYS and (owner is None or _last(owner) in _SAYERS):
                return None
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        node.body = node.body or [ast.Pass()]
        return node

    def _block(self, node: ast.AST) -> ast.AST:
        self.generic_visit(node)
        if not node.body:  # type: ignore[attr-defined]
            node.body = [ast.Pass()]  # type: ignore[attr-defined]
        return node

    visit_For = visit_While = visit_With = visit_Try = visit_ExceptHandler = _block

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and (node.value.id, node.attr) == ("os", "environ"):
            return ast.Dict([], [])  # as if no variable were set
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        node.keywords = [one for one in node.keywords if not (one.arg == "device" and _is_device(one.value))]
        if isinstance(node.func, ast.Attribute):
            if node.func.attr == "cuda" and not isinstance(node.func.value, ast.Name):
                return node.func.value
            if node.func.attr == "cuda" and isinstance(node.func.value, ast.Name) and node.func.value.id != "torch":
                return node.func.value
            if node.func.attr == "to" and len(node.args) == 1 and not node.keywords and _is_device(node.args[0]):
                return node.func.value
        return node


def _is_device(node: ast.expr) -> bool:
    if isinstance(node, ast.Call) and _last(node) == "device" and len(node.args) == 1:
        node = node.args[0]
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.partition(":")[0] in _DEVICES


def _body(body: list[ast.stmt]) -> list[ast.stmt]:
    return body or [ast.Pass()]
