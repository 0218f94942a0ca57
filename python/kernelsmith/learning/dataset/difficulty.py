"""A task's family and difficulty, derived from the operators that its reference calls."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

# Patterns of PyTorch's names. A task belongs to the first family that matches, so expensive families come
# first.
_FAMILIES = {
    "attention": "attention|attn",
    "convolution": "conv",
    "matrix product": "matmul|gemm|^mm$|bmm|addmm|^linear$|bilinear|einsum",
    "recurrence": "lstm|^gru|^rnn",
    "normalisation": "norm",
    "softmax": "softmax|logsumexp",
    "pooling": "pool",
    "loss": "loss|cross_entropy|kl_div",
    "scan": "cumsum|cumprod|cummax|cummin|scan",
    "indexing": "gather|scatter|embedding|index|routing|sort|topk",
    "reduction": "reduce|^sum$|^mean$|^max$|^min$|^amax$|^amin$|^prod$|argmax|argmin|^var$|^std$",
    "activation": "relu|gelu|silu|swish|sigmoid|tanh|^elu$|softplus|softsign|mish",
}
_PATTERNS = {name: re.compile(pattern) for name, pattern in _FAMILIES.items()}
_HEAVY = frozenset({"attention", "convolution", "matrix product", "recurrence", "normalisation"})
# Problems of KernelBench's first level have one or two operators, problems of its second level three or more.
_MANY = 3
_MODULES = frozenset({"torch", "nn", "F", "functional"})


@dataclass(frozen=True, slots=True)
class Difficulty:
    """Level 1 has few operators and none that is heavy. Level 3 has many operators and a heavy one. Level 2
    is between. A task without a reference has neither a family nor a level."""

    family: str | None
    level: int | None
    operators: tuple[str, ...]


def difficulty(reference: str, name: str) -> Difficulty:
    """Derived from the classes of a Python reference, else from the task's name and the loops of its
    reference."""
    if not reference:
        return Difficulty(None, None, ())
    operators = _called(reference)
    count = len(operators)
    if not operators:
        operators = tuple(re.findall(r"[a-z0-9]+", name.lower()))
        count = len(re.findall(r"\bfor\s*\(", reference))
    found = [family for family, pattern in _PATTERNS.items() if any(map(pattern.search, operators))]
    level = 1 + (count >= _MANY) + any(family in _HEAVY for family in found)
    return Difficulty(found[0] if found else "other", level, operators)


def _called(reference: str) -> tuple[str, ...]:
    """Operators in the order of the text: nn.Conv2d, torch.relu, F.silu, x.sum(), a @ b."""
    try:
        tree = ast.parse(reference)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    found = []
    for node in (inner for outer in tree.body if isinstance(outer, ast.ClassDef) for inner in ast.walk(outer)):
        name = _operator(node)
        if name:
            found.append((node.lineno, node.col_offset, name))  # type: ignore[attr-defined]
    return tuple(name for *_, name in sorted(found))


def _operator(node: ast.AST) -> str:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
        return "matmul"
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return ""
    name, owner = node.func.attr.lower(), node.func.value
    root = owner.attr if isinstance(owner, ast.Attribute) else owner.id if isinstance(owner, ast.Name) else ""
    if root in _MODULES:
        return "" if name in ("parameter", "tensor", "module") else name
    own = isinstance(owner, ast.Name) and owner.id == "self"
    return name if not own and any(pattern.search(name) for pattern in _PATTERNS.values()) else ""
