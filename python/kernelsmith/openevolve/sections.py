"""What a configuration is made of: keys as attributes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from .keys import MODEL_KEYS


class Section(SimpleNamespace):
    """A section's keys as attributes."""


class LLMModelConfig(SimpleNamespace):
    """One model of the ensemble, by the names of OpenEvolve's `llm.models`. Raises TypeError for another name."""

    def __init__(self, **given: Any) -> None:
        known = {key.path: key.default for key in MODEL_KEYS}
        for name in given:
            if name not in known:
                raise TypeError(f"a model has no '{name}'")
        super().__init__(**known | given)
