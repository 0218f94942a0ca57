"""The proposer: OpenEvolve's prompt for the chosen parent, a model's reply, and the child in it."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable

from .. import _core
from .config import Config
from .models import Ensemble
from .programs import Note, Population
from .prompts import Prompts
from .replies import child_of


class ModelProposer:
    """The engine calls it on its event loop. A ticket that restores a checkpoint's program or starts an
    island needs no model."""

    def __init__(self, config: Config, prompts: Prompts, ensemble: Ensemble, population: Population, lock: threading.Lock,
                 name: str, language: str, seed: int) -> None:
        self._config, self._prompts, self._ensemble = config, prompts, ensemble
        self._population, self._lock = population, lock
        self._name, self._language, self._seed = name, language, seed
        self.on_refusal: Callable[[int, _core.Refusal], None] | None = None

    async def propose(self, request: _core.Request) -> _core.Source | _core.Refusal:
        note = self._population.notes.setdefault(request.ticket, Note())
        note.started = time.time()
        if note.restored is not None:
            return _core.Source({self._name: note.restored.code})
        parent = request.parent
        assert parent is not None
        diff = self._is_diff(request.ticket)
        note.template = "diff_user" if diff else "full_rewrite_user"
        with self._lock:
            note.prompt = self._prompt(request, parent, diff)
        reply = await self._ensemble.ask(request.ticket, note.prompt["system"], note.prompt["user"])
        note.response, note.model, note.usage = reply.text, reply.model, reply.usage
        if reply.refusal is not None:
            return _core.Refusal(reply.refusal[1], reply.refusal[0])
        child = child_of(reply.text, parent.source.text, diff=diff, pattern=self._config.diff_pattern,
                         language=self._language, most=self._config.max_code_length,
                         line=self._config.prompt.diff_summary_max_line_len,
                         lines=self._config.prompt.diff_summary_max_lines)
        if isinstance(child, _core.Refusal):
            return child
        note.changes = child.changes
        return _core.Source({self._name: child.code})

    def _is_diff(self, ticket: int) -> bool:
        share: float = self._config.full_rewrite_probability
        if not self._config.diff_based_evolution:
            return False
        return share <= 0 or random.Random(f"{self._seed}:{ticket}:form").random() >= share

    def _prompt(self, request: _core.Request, parent: _core.Program, diff: bool) -> dict[str, str]:
        population = self._population
        known = population.of(parent)
        by_fitness = sorted({one.id: one for one in [parent, *request.top]}.values(),
                            key=lambda one: (-(one.fitness or 0.0), one.id))
        top = [(population.of(one), population.score(population.of(one))) for one in by_fitness]
        others = [(population.of(one), population.score(population.of(one))) for one in request.inspirations]
        return self._prompts.build(known, population.score(known), top, others, diff=diff,
                                   island=int(known.metadata.get("island", 0)), draws=request.rng)
