"""Makes OpenEvolve's programs from those of the search."""

from __future__ import annotations

import dataclasses
import json
import math
import uuid
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from .artifacts import Artifacts
from .host import fitness_of

_TOLD_BY_HOST = "openevolve.json"


@dataclass
class Program:
    """A program in OpenEvolve's terms and checkpoint format."""

    id: str
    code: str
    changes_description: str = ""
    language: str = "python"
    parent_id: str | None = None
    generation: int = 0
    timestamp: float = 0.0
    iteration_found: int = 0
    metrics: dict[str, Any] = field(default_factory=dict)
    complexity: float = 0.0
    diversity: float = 0.0
    metadata: dict[str, Any] = field(default_factory=dict)
    prompts: dict[str, Any] | None = None
    artifacts_json: str | None = None
    artifact_dir: str | None = None
    embedding: list[float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """All fields in the checkpoint format."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Program:
        """A program from these fields. Unknown fields are left out."""
        known = {one.name for one in dataclasses.fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in known})

    @property
    def artifacts(self) -> dict[str, str]:
        """The kept artifacts' texts by name."""
        kept = json.loads(self.artifacts_json) if self.artifacts_json else {}
        return {str(name): value if isinstance(value, str) else str(value) for name, value in kept.items()}


@dataclass
class Note:
    """The data of a proposal, except its child."""

    prompt: dict[str, str] | None = None
    response: str | None = None
    template: str = ""
    model: str | None = None
    usage: dict[str, Any] | None = None
    changes: str = ""
    started: float = 0.0
    restored: Program | None = None  # from a checkpoint


def metrics_of(evaluation: _core.Evaluation, left: dict[str, str]) -> dict[str, Any]:
    """The unchanged result of evaluate(), or what OpenEvolve would give for a rejection. `left` are the
    evaluation's artifacts."""
    if not evaluation.accepted:
        return {"error": 0.0, **({"timeout": True} if evaluation.code == "timed_out" else {})}
    told = left.get(_TOLD_BY_HOST)
    if told:
        metrics: dict[str, Any] = json.loads(told)["metrics"]
        # The backend's message about a failed stage.
        failed = {name: value for name, value in evaluation.features.items() if name in ("stage2_passed", "stage3_passed")}
        return {**failed, **metrics}
    return {**evaluation.features, "combined_score": evaluation.fitness}


def shown_artifacts(evaluation: _core.Evaluation, left: dict[str, str]) -> dict[str, str]:
    """The user's artifacts, and the reason for a rejection."""
    shown = {name: text for name, text in left.items() if name != _TOLD_BY_HOST and text.strip()}
    if not evaluation.accepted:
        shown["failure"] = f"{evaluation.stage}: {evaluation.code}\n{evaluation.diagnostics}"
    return shown


class Population:
    """The programs of a search, by their numbers in the search. One thread at a time may use it."""

    def __init__(self, namespace: str, language: str, dimensions: list[str], artifacts: Artifacts) -> None:
        self._namespace = uuid.uuid5(uuid.NAMESPACE_URL, namespace)
        self._language = language
        self._dimensions = dimensions
        self._artifacts = artifacts
        self._by_number: dict[int, Program] = {}
        self.notes: dict[int, Note] = {}
        self.order: list[int] = []  # of the accepted programs
        self.islands: dict[int, list[int]] = {}
        self.fitness: dict[int, float] = {}
        self.cells: dict[int, dict[str, float]] = {}

    def __getitem__(self, number: int) -> Program:
        return self._by_number[number]

    def of(self, seen: _core.Program) -> Program:
        """The search's program in OpenEvolve's terms; always the same object."""
        known = self._by_number.get(seen.id)
        if known is not None:
            return known
        note = self.notes.get(seen.id, Note())
        parents = [self._by_number[one] for one in seen.parents if one in self._by_number]
        made = dataclasses.replace(note.restored, artifact_dir=None) if note.restored else self._made(seen.id, parents[:1], note)
        made.code = seen.source.text
        left = self._artifacts.of(seen.id)
        made.metrics = metrics_of(seen.evaluation, left)
        made.complexity = float(len(made.code))
        made.diversity = seen.evaluation.features.get("ks_difference", 0.0) if seen.accepted else 0.0
        shown = shown_artifacts(seen.evaluation, left)
        made.artifacts_json = json.dumps(shown) if shown else None
        self._by_number[seen.id] = made
        return made

    def _made(self, number: int, parents: list[Program], note: Note) -> Program:
        metadata: dict[str, Any] = {}
        if parents:
            metadata = {"changes": note.changes, "parent_metrics": parents[0].metrics, "token_usage": note.usage,
                        "llm_model": note.model}
        prompts = None
        if note.prompt is not None:
            prompts = {note.template: {**note.prompt, "responses": [note.response]}}
        return Program(id=str(uuid.uuid5(self._namespace, str(number))), code="", language=self._language,
                       parent_id=parents[0].id if parents else None,
                       generation=parents[0].generation + 1 if parents else 0, metadata=metadata, prompts=prompts)

    def add(self, number: int, program: Program, island: int, fitness: float | None, features: dict[str, float]) -> None:
        """Records a commit. `fitness` is None for a rejected program, which is never an elite."""
        self._by_number[number] = program
        program.metadata["island"] = island
        if fitness is None or number in self.fitness:
            return
        self.order.append(number)
        self.islands.setdefault(island, []).append(number)
        self.fitness[number] = fitness
        self.cells[number] = features

    def score(self, program: Program) -> float:
        """OpenEvolve's fitness."""
        value = fitness_of(program.metrics, self._dimensions)
        return value if math.isfinite(value) else 0.0

    @property
    def best(self) -> int | None:
        """The number of the fittest program, the earliest of equals."""
        return max(self.order, key=lambda one: (self.fitness[one], -one), default=None)
