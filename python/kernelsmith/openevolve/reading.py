"""Reads a configuration: checks a file against keys.py, and reports errors with lines."""

from __future__ import annotations

import copy
import difflib
import re
from pathlib import Path
from typing import Any

from .._errors import Error
from .keys import FREE, KEYS, MODEL_KEYS, MODELS, SECTIONS, Key
from .sections import LLMModelConfig, Section

_BY_PATH = {key.path: key for key in KEYS}


class Reader:
    """Overrides the defaults with a file."""

    def __init__(self, config: Section, lines: dict[str, int], file: str) -> None:
        self._config, self._lines, self._file = config, lines, file

    def _where(self, path: str) -> str:
        line = self._lines.get(path)
        return f"{self._file}:{line}" if line else f"{self._file or 'the configuration'}: {path}"

    def _bad(self, path: str, message: str, hint: str = "") -> Error:
        return Error(message, "bad_input", self._where(path), hint)

    def _warn(self, path: str, message: str) -> None:
        self._config.warnings.append(f"{self._where(path)}: {message}")

    def read(self, prefix: str, given: Any) -> None:
        if not isinstance(given, dict):
            raise self._bad(prefix, f"'{prefix or 'the configuration'}' is a section of keys, not {type(given).__name__}")
        for name, value in given.items():
            path = f"{prefix}.{name}" if prefix else str(name)
            if not prefix and name in SECTIONS:
                self.read(path, {} if value is None else value)
            elif path == "llm.model":
                raise self._bad(path, "there is no key llm.model", "use llm.primary_model, or the list llm.models")
            elif path not in _BY_PATH:
                self._unknown(path, [key.path for key in KEYS])
            else:
                self._take(_BY_PATH[path], value)

    def _unknown(self, path: str, known: list[str]) -> None:
        leaf = path.rpartition(".")[2]
        by_leaf = {one.rpartition(".")[2]: one for one in known}
        near = difflib.get_close_matches(path, known, 1, 0.85) or [
            by_leaf[one] for one in difflib.get_close_matches(leaf, by_leaf, 1, 0.85)]
        use = f"did you mean {near[0]}?" if near else "OpenEvolve 0.4.1 has no such key either; take it out"
        self._warn(path, f"unknown key '{path}': {use}")

    def _take(self, key: Key, value: Any) -> None:
        if key.path in MODELS:
            value = [self._model(key.path, at, one) for at, one in enumerate(value or [])]
        else:
            value = self._checked(key, value)
        if not key.honoured and value != key.default:
            self._warn(key.path, f"'{key.path}' does nothing here: {key.use}")
        self._config.put(key.path, value)

    def _model(self, path: str, at: int, given: Any) -> LLMModelConfig:
        here = f"{path}.{at}"
        if not isinstance(given, dict) or not given.get("name"):
            raise self._bad(here, "a model is a section with a name")
        known = {key.path: key for key in MODEL_KEYS}
        taken = {}
        for name, value in given.items():
            if name not in known:
                self._unknown(f"{here}.{name}", [f"{here}.{one}" for one in known])
                continue
            taken[name] = value
            if not known[name].honoured and value != known[name].default:
                self._warn(f"{here}.{name}", f"'{name}' of a model does nothing here: {known[name].use}")
        return LLMModelConfig(**taken)

    def _checked(self, key: Key, value: Any) -> Any:
        """Checks that a value has the default's type. null means the default, and numbers may be
        converted."""
        default = key.default
        if value is None and default is not None and key.path != "random_seed" and key.path != "database.random_seed":
            return copy.deepcopy(default) if key.path not in ("llm.temperature", "llm.top_p") else None
        kinds: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int, float), float: (int, float), str: (str,),
                                               list: (list,), dict: (dict,)}
        wanted = kinds.get(type(default))
        odd = wanted is not None and (not isinstance(value, wanted) or isinstance(value, bool) != isinstance(default, bool))
        if odd and value is not None and key.path not in FREE:
            raise self._bad(key.path, f"'{key.path}' is {_NAMES[type(default)]}, not {value!r}")
        return value


_NAMES = {bool: "true or false", int: "a number", float: "a number", str: "a text", list: "a list", dict: "a section"}


def parsed(text: str, file: str) -> tuple[Any, dict[str, int]]:
    """The values of a YAML file, and the line of each key by its path."""
    try:
        import yaml  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise Error("reading YAML needs PyYAML", "not_found", file, "pip install PyYAML") from None
    loader = yaml.SafeLoader(text)
    try:
        node = loader.get_single_node()
        values = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as failed:
        mark = getattr(failed, "problem_mark", None)
        where = f"{file}:{mark.line + 1}" if mark else file
        raise Error(f"this is not YAML: {getattr(failed, 'problem', None) or failed}", "bad_input", where) from None
    finally:
        loader.dispose()
    lines: dict[str, int] = {}

    def walk(node: Any, path: str) -> None:
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                inner = f"{path}.{key.value}" if path else str(key.value)
                lines[inner] = key.start_mark.line + 1
                walk(value, inner)
        elif isinstance(node, yaml.SequenceNode):
            for at, value in enumerate(node.value):
                lines[f"{path}.{at}"] = value.start_mark.line + 1
                walk(value, f"{path}.{at}")

    walk(node, "")
    return values, lines


def resolve_paths(config: Section) -> None:
    """Makes the paths in a file relative to that file."""
    base = Path(config.file).resolve().parent if config.file else Path.cwd()
    if config.prompt.template_dir:
        config.prompt.template_dir = str(base / config.prompt.template_dir)
    config.database.island_initial_programs = [
        None if one is None else str(base / one) for one in config.database.island_initial_programs]


def check(config: Section, file: str) -> None:
    """Checks the values of keys, some of them together."""

    def bad(path: str, message: str) -> Error:
        return Error(message, "bad_input", f"{file or 'the configuration'}: {path}")

    try:
        re.compile(config.diff_pattern)
    except re.error as failed:
        raise bad("diff_pattern", f"this is not a regular expression: {failed}") from None
    share = config.full_rewrite_probability
    if not 0 <= share <= 1:
        raise bad("full_rewrite_probability", f"a probability must be from 0 to 1, not {share}")
    if share > 0 and not config.diff_based_evolution:
        raise bad("full_rewrite_probability", "it needs diff_based_evolution: true")
    for path, least in (("database.num_islands", 1), ("evaluator.parallel_evaluations", 1), ("checkpoint_interval", 1),
                        ("max_iterations", 1), ("database.population_size", 1), ("database.migration_interval", 1)):
        if config.get(path) < least:
            raise bad(path, f"it is at least {least}, not {config.get(path)}")
    for path in ("prompt.island_system_messages", "database.island_initial_programs"):
        if len(config.get(path)) > config.database.num_islands:
            raise bad(path, "it has more entries than database.num_islands")
    if config.evolution_trace.format not in ("jsonl", "json"):
        raise bad("evolution_trace.format", f"there is no '{config.evolution_trace.format}'; the formats are jsonl and json")
