"""A repository as importable modules: finds the names that each file binds at its top, and the files that
imports name."""

from __future__ import annotations

import ast
import hashlib
import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .._errors import Error
from . import allowed, names, sources
from .clean import cleaned

_MOST_STARS = 8  # chains of `from x import *`
_MOST_NESTING = 200  # of a file: a walk through its tree goes a few frames deeper for each level


@dataclass(frozen=True, slots=True)
class Definition:
    """A statement that binds a name."""

    node: ast.stmt


@dataclass(frozen=True, slots=True)
class Imported:
    """`import module` (name empty), or `from module import name`; level counts leading dots."""

    module: str
    name: str
    level: int = 0
    asked: str = ""  # `import a.b` binds a, `import a.b as c` binds a.b


Binding = Definition | Imported


@dataclass(frozen=True, slots=True)
class Facts:
    """A cleaned statement, the names that it needs, and the names that must exist when it is executed."""

    node: ast.stmt
    free: set[str]
    at_once: set[str]


@dataclass(slots=True, eq=False)
class SourceFile:
    """One file, parsed at its first use. `broken` says why it cannot be parsed."""

    home: Repository
    path: str
    text: str
    facts: dict[int, Facts] = field(default_factory=dict)
    bindings: dict[str, list[Binding]] = field(default_factory=lambda: defaultdict(list))
    stars: list[Imported] = field(default_factory=list)
    tree: ast.Module | None = None
    broken: str = ""
    parsed: bool = False

    def parse(self) -> SourceFile:
        if self.parsed:
            return self
        self.parsed = True
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.tree = _not_too_deep(ast.parse(self.text))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as failed:
            self.tree, self.broken = None, f"{type(failed).__name__}: {failed}"
            return self
        for statement in self.tree.body:
            self._bind(statement)
        return self

    def of(self, node: ast.stmt) -> Facts:
        if id(node) not in self.facts:
            made = cleaned(node)
            self.facts[id(node)] = Facts(made, names.free(made), names.needed_at_once(made))
        return self.facts[id(node)]

    def _bind(self, node: ast.stmt, either: bool = False) -> None:
        """Records the names that a statement binds. `either`: the node is in one of several branches, of
        which the first usable branch counts; otherwise the last binding counts."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            self._add(node.name, Definition(node), either)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in (inner.id for inner in ast.walk(target)
                             if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)):
                    self._add(name, Definition(node), either)
        elif isinstance(node, ast.Import):
            for one in node.names:
                self._add(one.asname or one.name.partition(".")[0], Imported(
                    one.name if one.asname else one.name.partition(".")[0], "", 0, one.name), either)
        elif isinstance(node, ast.ImportFrom):
            for one in node.names:
                imported = Imported(node.module or "", one.name, node.level)
                if one.name == "*":
                    self.stars.append(imported)
                else:
                    self._add(one.asname or one.name, imported, either)
        elif isinstance(node, ast.If) and _asks_environment(node.test):
            for inner in node.orelse:
                self._bind(inner, either=True)
        elif isinstance(node, (ast.If, ast.With)):
            for inner in [*node.body, *getattr(node, "orelse", [])]:
                self._bind(inner, either=True)
        elif isinstance(node, ast.Try):
            self._try(node)

    def _try(self, node: ast.Try) -> None:
        """Binds names as if the imports were executed. If an import fails, its names come from the handlers,
        or are None."""
        handlers = [inner for handler in node.handlers for inner in handler.body]
        wanted = [inner for inner in node.body if isinstance(inner, (ast.Import, ast.ImportFrom))]
        missing = [one for one in wanted if not self.home.has(self.path, one)]
        for inner in [*handlers, *node.finalbody] if missing else [*node.body, *node.orelse, *node.finalbody, *handlers]:
            self._bind(inner, either=True)
        for one in missing:
            for alias in one.names:
                if alias.name != "*":
                    name = (alias.asname or alias.name).partition(".")[0]
                    self._bind(ast.parse(f"{name} = None").body[0], either=True)

    def _add(self, name: str, binding: Binding, either: bool) -> None:
        known = self.bindings[name]
        known.append(binding) if either else known.insert(0, binding)


def _asks_environment(test: ast.expr) -> bool:
    """Whether it is `"NAME" in os.environ`. No variable is set."""
    return (isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In)
            and ast.unparse(test.comparators[0]) in ("os.environ", "environ"))


def _not_too_deep(tree: ast.Module) -> ast.Module:
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_NESTING):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return tree
    raise ValueError(f"it nests deeper than {_MOST_NESTING} levels")


class Repository:
    """The files of one repository."""

    def __init__(self, place: Path, others: Callable[[str], Repository | None] = lambda _: None) -> None:
        self._others = others
        tree = sources.opened(place)
        self.name, self.commit = tree.name, tree.commit
        listed = [[path, hashlib.sha256(data).hexdigest()] for path, data in tree.files.items()]
        self.digest = hashlib.sha256(json.dumps(listed).encode()).hexdigest()
        self.files = {path: SourceFile(self, path, sources.text_of(data))
                      for path, data in tree.files.items() if path.endswith(".py")}
        self._ends: dict[str, list[str]] = defaultdict(list)
        for path in sorted(self.files, key=lambda one: (one.count("/"), one)):
            dotted = dotted_of(path)
            self._ends[dotted.rpartition(".")[2]].append(path)

    def check(self, digest: str) -> Repository:
        if self.digest != digest:
            raise Error("the repository changed since the synthesis began", "corrupt", self.name,
                        "restore it, or begin again in a new folder")
        return self

    def find(self, dotted: str, near: str) -> SourceFile | None:
        """The file that `import dotted` means in the file `near`: a file next to a script, else the one
        closest to the root, else one in another repository that has this package."""
        if dotted.partition(".")[0] in allowed.IMPORTS:
            return None
        found = self._own(dotted, near)
        if found is None and (other := self._others(dotted.partition(".")[0])) is not None and other is not self:
            found = other._own(dotted, "")
        return found

    def has(self, near: str, statement: ast.Import | ast.ImportFrom) -> bool:
        """Whether an import can be followed."""
        if isinstance(statement, ast.ImportFrom) and statement.level:
            return self.relative(near, statement.level, statement.module or "") is not None
        modules = ([statement.module or ""] if isinstance(statement, ast.ImportFrom)
                   else [one.name for one in statement.names])
        return all(allowed.may_import(module) or self.find(module, near) is not None for module in modules)

    def _own(self, dotted: str, near: str) -> SourceFile | None:
        folder = near.rpartition("/")[0]
        if f"{folder}/__init__.py" in self.files:  # a package: neighbours are not found by their bare names
            folder = ""
        beside = f"{folder}/" if folder else ""
        stem = dotted.replace(".", "/")
        for path in (f"{beside}{stem}.py", f"{beside}{stem}/__init__.py"):
            if path in self.files:
                return self.files[path].parse()
        for path in self._ends.get(dotted.rpartition(".")[2], ()):
            own = dotted_of(path)
            if own == dotted or own.endswith("." + dotted):
                return self.files[path].parse()
        return None

    def relative(self, near: str, level: int, module: str) -> SourceFile | None:
        """The file that `from ..module import` means."""
        parts = near.split("/")[:-1]
        if level > len(parts) + 1:
            return None
        base = parts[:len(parts) - (level - 1)]
        stem = "/".join([*base, *(module.split(".") if module else [])])
        for path in (f"{stem}.py", f"{stem}/__init__.py" if stem else "__init__.py"):
            if path in self.files:
                return self.files[path].parse()
        return None

    def target(self, file: SourceFile, imported: Imported) -> SourceFile | None:
        """The file of the module that an import names, if the file is in this repository."""
        if imported.level:
            return self.relative(file.path, imported.level, imported.module)
        return self.find(imported.module, file.path)

    def submodule(self, file: SourceFile, imported: Imported) -> SourceFile | None:
        """The file of `module` in `from package import module`."""
        dotted = f"{imported.module}.{imported.name}" if imported.module else imported.name
        if imported.level:
            return self.relative(file.path, imported.level, dotted)
        return self.find(dotted, file.path)

    def starred(self, file: SourceFile, name: str, left: int = _MOST_STARS,
                seen: set[int] | None = None) -> Iterator[tuple[SourceFile, Binding]]:
        """The definition of this name from star imports. Files may import each other in many ways, so each
        file is visited only once."""
        seen = seen or {id(file)}
        for star in file.stars if left else ():
            other = self.target(file, star)
            if other is not None and id(other) not in seen:
                seen.add(id(other))
                for binding in other.bindings.get(name, ()):
                    yield other, binding
                yield from self.starred(other, name, left - 1, seen)


def dotted_of(path: str) -> str:
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
