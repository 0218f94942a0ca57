"""EvaluationResult, which evaluate() may return instead of a dict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class EvaluationResult:
    """Numbers by name, and texts by name that the next prompt shows. Evaluators may also import it from
    openevolve.evaluation_result, whether OpenEvolve is installed or not."""

    metrics: dict[str, Any]
    artifacts: dict[str, str | bytes] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, metrics: dict[str, Any]) -> EvaluationResult:
        """A result with only metrics."""
        return cls(metrics)

    def to_dict(self) -> dict[str, Any]:
        """The metrics."""
        return self.metrics

    def has_artifacts(self) -> bool:
        """Whether there are artifacts."""
        return bool(self.artifacts)

    def get_artifact_keys(self) -> list[str]:
        """The artifacts' names."""
        return list(self.artifacts)

    def get_artifact_size(self, key: str) -> int:
        """An artifact's size in bytes; 0 if missing."""
        value = self.artifacts.get(key, "")
        return len(value if isinstance(value, bytes) else str(value).encode())

    def get_total_artifact_size(self) -> int:
        """The size of all artifacts, in bytes."""
        return sum(map(self.get_artifact_size, self.artifacts))
