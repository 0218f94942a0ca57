"""OpenEvolve's configuration: the same sections, names and defaults."""

from __future__ import annotations

import copy
import dataclasses
import os
import re
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import text_of
from .keys import KEYS, MODELS, PROVIDERS, SECTIONS
from .reading import Reader, check, parsed, resolve_paths
from .sections import LLMModelConfig, Section

# The settings of a model that may change during a search.
_SERVER = frozenset({"api_base", "api_key", "timeout", "retries", "init_client"})
_VARIABLE = re.compile(r"\$\{([^}]+)\}")


class Config(Section):
    """`config.llm.models`, `config.evaluator.timeout`, ...: every key of keys.py as an attribute, at its default.

    `warnings` names the keys without an effect here and their alternatives, each key with its line in `file`.
    """

    file: str
    warnings: list[str]

    def __init__(self) -> None:
        super().__init__(file="", warnings=[], **{name: Section() for name in SECTIONS})
        for key in KEYS:
            self.put(key.path, copy.deepcopy(key.default))

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> Config:
        """Reads a file. Raises Error: `not_found`, `bad_input`."""
        file = Path(path)
        given, lines = parsed(text_of(file, "the configuration"), str(file))
        return cls._from(given, lines, str(file))

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Config:
        """The same from a dict with the file's contents."""
        return cls._from(given, {}, "")

    @classmethod
    def from_object(cls, given: Any) -> Config:
        """The same from a Config of OpenEvolve."""
        values = dataclasses.asdict(given)
        if values["llm"]["models"]:  # this list includes the named models already
            values["llm"] |= {"primary_model": None, "secondary_model": None}
        for models in (values["llm"]["models"], values["llm"]["evaluator_models"]):
            for model in models:
                model.pop("_manual_queue_dir", None)
        values["llm"].pop("_manual_queue_dir", None)
        values["llm"]["evaluator_models"] = []
        return cls.from_dict(values)

    @classmethod
    def _from(cls, given: Any, lines: dict[str, int], file: str) -> Config:
        config = cls()
        config.file = file
        if given is None:
            return config
        Reader(config, lines, file).read("", given)
        resolve_paths(config)
        check(config, file)
        return config

    def to_dict(self) -> dict[str, Any]:
        """The settings that determine a search, as plain values. Models are without their servers."""
        values = {key.path: self.get(key.path) for key in KEYS if key.path != "llm.api_key"}
        for path in MODELS:
            values[path] = [{name: value for name, value in vars(model).items() if name not in _SERVER}
                            for model in values[path]]
        return values


def models_of(config: Config) -> list[LLMModelConfig]:
    """The ensemble, with the common settings of the section `llm`. Raises Error if there is none."""
    llm = config.llm
    models = list(llm.models)
    if llm.primary_model:
        weight = 1.0 if llm.primary_model_weight is None else llm.primary_model_weight
        models.append(LLMModelConfig(name=llm.primary_model, weight=weight))
    if llm.secondary_model and llm.secondary_model_weight != 0:
        weight = 0.2 if llm.secondary_model_weight is None else llm.secondary_model_weight
        models.append(LLMModelConfig(name=llm.secondary_model, weight=weight))
    if not models:
        raise Error("no model is configured", "invalid_argument", config.file or "config.llm",
                    "set llm.primary_model or llm.models, or pass --primary-model NAME")
    return [_completed(model, llm) for model in models]


def _completed(model: LLMModelConfig, llm: Section) -> LLMModelConfig:
    values = vars(model)
    whole = {name: getattr(llm, name) if value is None and hasattr(llm, name) else value
             for name, value in values.items()}
    whole["api_key"] = expanded(whole["api_key"])
    if whole["provider"] not in (None, "openai"):
        raise Error(f"there is no provider '{whole['provider']}'", "invalid_argument", f"the model {whole['name']}",
                    PROVIDERS)
    weight = whole["weight"]
    if not (isinstance(weight, (int, float)) and 0 <= weight < float("inf")):
        raise Error(f"a weight is a finite number from 0, not {weight!r}", "invalid_argument", f"the model {whole['name']}")
    return LLMModelConfig(**whole)


def expanded(key: str | None) -> str:
    """An API key. A key of the form `${NAME}` is read from that environment variable. Raises Error if it is
    not set."""
    match = _VARIABLE.fullmatch(key or "")
    if not match:
        return key or ""
    value = os.environ.get(match.group(1))
    if value is None:
        raise Error(f"the variable {match.group(1)} is not set", "not_found", "llm.api_key",
                    f"export {match.group(1)}=...")
    return value


def load_config(path: str | os.PathLike[str] | None = None) -> Config:
    """A file's configuration, or the defaults with the environment's OPENAI_API_BASE and OPENAI_API_KEY."""
    if path is not None:
        return Config.from_yaml(path)
    config = Config()
    config.llm.api_base = os.environ.get("OPENAI_API_BASE", config.llm.api_base)
    return config
