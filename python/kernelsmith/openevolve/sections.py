"""Sections of a configuration, with keys as attributes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .keys import MODEL_KEYS


class Section(SimpleNamespace):
    """A section's keys as attributes, and sections within it."""

    def put(self, path: str, value: Any) -> None:
        """Sets a key, such as "llm.temperature"."""
        section, _, name = path.rpartition(".")
        setattr(getattr(self, section) if section else self, name, value)

    def get(self, path: str) -> Any:
        """The value of a key, such as "llm.temperature"."""
        section, _, name = path.rpartition(".")
        return getattr(getattr(self, section) if section else self, name)


class LLMModelConfig(SimpleNamespace):
    """One model of the ensemble, by the names of OpenEvolve's `llm.models`. Raises TypeError for another name."""

    def __init__(self, **given: Any) -> None:
        known = {key.path: key.default for key in MODEL_KEYS}
        for name in given:
            if name not in known:
                raise TypeError(f"a model has no '{name}'")
        super().__init__(**known | given)
