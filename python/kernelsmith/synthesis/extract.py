"""Stage 2: writes each nn.Module as one file that imports nothing from its repository."""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Iterator
from typing import Any

from . import allowed, entry
from .allowed import Refusal
from .calls import Calls
from .repository import Definition, Imported, Repository, SourceFile
from .rewrite import Rewritten
from .stages import Record, refused

MOST_TEXT = 64 << 10
_MOST_DEFINITIONS = 120
_MOST_DEPTH = 12
_MOST_STEPS = 50_000  # from one import to the next; each import may have several branches
_OURS = ("Model", "get_inputs", "get_init_inputs", "_Config")  # names that the file in KernelBench's layout binds itself
Place = tuple[str, str, str]  # repository, file, name


class Extraction:
    """One module with all the definitions that it needs."""

    def __init__(self) -> None:
        self.names: dict[Place, str] = {}
        self._taken: dict[str, Place] = {}
        self.nodes: dict[str, ast.stmt] = {}
        self.hard: dict[str, list[str]] = {}
        self.soft: dict[str, list[str]] = {}
        self.imports: dict[str, str] = {}  # local name -> statement
        self._queue: list[tuple[SourceFile, str, ast.stmt]] = []
        self._steps = 0

    def take(self, file: SourceFile, name: str, node: ast.stmt, called: str) -> None:
        """Adds a definition with the name `called`, and then everything that it needs."""
        self._place(file, name, node, called)
        while self._queue:
            self._process(*self._queue.pop(0))

    def _place(self, file: SourceFile, name: str, node: ast.stmt, called: str) -> str:
        self.names[_place(file, name)] = called
        self._taken[called] = _place(file, name)
        if len(self.names) > _MOST_DEFINITIONS:
            raise Refusal("too_large", f"more than {_MOST_DEFINITIONS} definitions")
        self._queue.append((file, name, node))
        return called

    def _process(self, file: SourceFile, name: str, node: ast.stmt) -> None:
        facts = file.of(node)
        made = copy.deepcopy(facts.node)
        rewritten = Rewritten(made, facts.free | _own_reads(made), lambda one: self._resolve(file, one), self.member)
        called = self.names[_place(file, name)]
        final = rewritten.with_name(name, called)
        allowed.check(final)
        self.nodes[called] = final
        needed = sorted(set(rewritten.needed) - {called})
        at_once = {rewritten.targets.get(one) for one in facts.at_once} if not isinstance(final, ast.Assign) else set(needed)
        self.hard[called] = [one for one in needed if one in at_once or one in rewritten.members]
        self.soft[called] = [one for one in needed if one not in self.hard[called]]

    def _resolve(self, file: SourceFile, name: str) -> Any:
        """The new name for a file's global name, or the file if the name is a module of the repository."""
        reason = Refusal("unresolved_name", name)
        candidates = [(file, one) for one in file.bindings.get(name, ())] or list(file.home.starred(file, name))
        for where, binding in candidates:
            try:
                return self._bound(where, name, binding)
            except Refusal as refusal:
                reason = refusal
        raise reason

    def _bound(self, file: SourceFile, name: str, binding: Definition | Imported, depth: int = 0) -> Any:
        self._steps += 1
        if depth > _MOST_DEPTH or self._steps > _MOST_STEPS:
            raise Refusal("import_cycle", name)
        if isinstance(binding, Definition):
            return self._definition(file, name, binding.node)
        other = file.home.target(file, binding)
        if other is None or other.path == file.path and not binding.name:
            inner = file.home.submodule(file, binding) if binding.name else None
            return inner if inner is not None else self._external(name, binding)
        if not binding.name:
            return other
        return self._of_module(other, binding, file, depth)

    def _of_module(self, other: SourceFile, binding: Imported, file: SourceFile, depth: int) -> Any:
        if other.broken:
            raise Refusal("broken_import", f"{other.path}: {other.broken}")
        reason = Refusal("unresolved_name", f"{binding.name} of {other.path}")
        found = ([(other, one) for one in other.bindings.get(binding.name, ())]
                 or list(other.home.starred(other, binding.name)))
        for where, one in found:
            if where.path == file.path and one is binding:
                continue
            try:
                return self._bound(where, binding.name, one, depth + 1)
            except Refusal as refusal:
                reason = refusal
        inner = file.home.submodule(file, binding)
        if inner is not None:
            return inner
        raise reason

    def _definition(self, file: SourceFile, name: str, node: ast.stmt) -> str:
        known = self.names.get(_place(file, name))
        if known is not None:
            return known
        if isinstance(node, ast.AugAssign) or (isinstance(node, ast.Assign) and not _is_simple(node, name)):
            raise Refusal("unclear_assignment", ast.unparse(node)[:100])
        called = name
        while called in self._taken or called in self.imports or called in _OURS:
            called += "_"
        return self._place(file, name, node, called)

    def _external(self, name: str, binding: Imported) -> str:
        module = binding.asked or binding.module
        whole = f"{module}.{binding.name}" if binding.name else module
        if binding.level or not allowed.may_import(module) or not allowed.may_import(whole):
            raise Refusal("import_refused", "." * binding.level + whole)
        local = name
        while True:
            same = binding.name == local or not binding.name and binding.asked.partition(".")[0] == local
            alias = "" if same else f" as {local}"
            statement = f"from {module} import {binding.name}{alias}" if binding.name else f"import {module}{alias}"
            if local not in self._taken and self.imports.get(local, statement) == statement:
                self.imports[local] = statement
                return local
            local += "_"

    def member(self, module: SourceFile, name: str) -> Any:
        """Resolves `module.name` for a module of the repository."""
        found = [(module, one) for one in module.bindings.get(name, ())] or list(module.home.starred(module, name))
        for where, binding in found:
            return self._bound(where, name, binding)
        inner = module.home.submodule(module, Imported("", name, 1)) if module.path.endswith("__init__.py") else None
        if inner is None:
            raise Refusal("unresolved_name", f"{name} of {module.path}")
        return inner

    def ordered(self) -> list[ast.stmt]:
        """The definitions, each after those that it needs when it is executed."""
        made: list[ast.stmt] = []
        seen: set[str] = set()

        def visit(name: str) -> None:
            if name in seen or name not in self.nodes:
                return
            seen.add(name)
            for one in self.hard[name]:
                visit(one)
            made.append(self.nodes[name])
            for one in self.soft[name]:
                visit(one)

        for name in list(self.nodes):
            visit(name)
        return made

    def text(self) -> str:
        imports = sorted(set(self.imports.values()), key=lambda one: (not one.startswith("import"), one))
        return "\n".join(imports) + "\n\n\n" + "\n\n\n".join(map(ast.unparse, self.ordered())) + "\n"


def _place(file: SourceFile, name: str) -> Place:
    return (file.home.name, file.path, name)


def _own_reads(node: ast.stmt) -> set[str]:
    """The statement's own name, if the statement reads it: a class or function may name itself."""
    name = getattr(node, "name", "")
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id == name}


def _is_simple(node: ast.Assign, name: str) -> bool:
    """Whether the statement is `name = ...` or `a, b = ...`."""
    return any(isinstance(target, ast.Name) and target.id == name
               or isinstance(target, ast.Tuple) and all(isinstance(one, ast.Name) for one in target.elts)
               for target in node.targets)


def modules(repository: Repository, about: Record, calls: Calls) -> Iterator[Record]:
    """The modules of a file; a refused module comes with the reason."""
    file = repository.files[about["path"]].parse()
    base = {name: about[name] for name in ("repository", "commit", "path", "licence")}
    if file.tree is None:
        yield refused({**base, "id": _id(base, "")}, "broken_file", file.broken)
        return
    for node in file.tree.body:
        if isinstance(node, ast.ClassDef):
            record = {**base, "name": node.name, "id": _id(base, node.name)}
            try:
                if entry.is_module(repository, file, node):
                    yield _module(record, file, node, calls)
            except (RecursionError, MemoryError, ValueError, SyntaxError) as failed:  # ast.unparse cannot write some trees
                yield refused(record, "broken_file", f"{type(failed).__name__}: {failed}")


def _module(record: Record, file: SourceFile, node: ast.ClassDef, calls: Calls) -> Record:
    try:
        extraction = Extraction()
        extraction.take(file, node.name, node, "Model")
        main = extraction.nodes["Model"]
        assert isinstance(main, ast.ClassDef)
        entry.open_keywords(main)
        code = extraction.text()
    except Refusal as refusal:
        return refused(record, refusal.code, refusal.message)
    if len(code) > MOST_TEXT:
        return refused(record, "too_large", f"{len(code)} characters")
    if not entry.has_forward(extraction):
        return refused(record, "no_forward", "")
    return {**record, "code": code, "annotations": entry.hints(node), "calls": calls.of(node),
            "sources": sorted({f"{home}/{path}" for home, path, _ in extraction.names})}


def _id(base: Record, name: str) -> str:
    return hashlib.sha256(f"{base['repository']}\n{base['path']}\n{name}".encode()).hexdigest()[:16]
