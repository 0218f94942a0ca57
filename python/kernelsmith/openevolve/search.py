"""A search that works like OpenEvolve's controller, on this engine."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._run import Run
from .._search import evaluate, run_task
from .artifacts import Artifacts
from .axes import axes_for, needs_seed
from .checkpoint import Checkpoint, read_checkpoint
from .config import Config, models_of
from .folder import Folder
from .history import History, restore
from .host import fitness_of
from .models import Ensemble
from .output import Output, log_into
from .programs import Note, Population, Program
from .prompts import Prompts
from .proposer import ModelProposer
from .recovery import Stored, commits_of
from .settings import evaluator_section, settings_for
from .stopping import Stopping
from .task import Inputs, fingerprints, write_task
from .terms import in_users_terms
from .trace import failures_of, rows_of, write_trace


@dataclass(frozen=True)
class Found:
    """The result of a search. `best` is None if nothing was accepted."""

    best: Program | None
    fitness: float
    reason: str
    iterations: int
    checkpoint: Path | None


class _Ended(Exception):
    """The progress function raises it to end the search in order."""


def search(inputs: Inputs, config: Config, out: Path, *, target: float | None = None,
           checkpoint: str | None = None, logger: logging.Logger | None = None) -> Found:
    """Begins the search, or continues the same one in `out`, and writes OpenEvolve's files there. Raises Error."""
    logger = logger or logging.getLogger("kernelsmith.openevolve")
    for warning in config.warnings:
        logger.warning(warning)
    models = models_of(config)
    handler = log_into(Path(config.log_dir) if config.log_dir else out / "logs", logger, config.log_level)
    try:
        begun = _Search(inputs, config, out, models, target, checkpoint, logger)
        try:
            return begun.run(config.max_iterations)
        finally:
            begun.close()
    except Error as error:
        raise in_users_terms(error, inputs.evaluator) from None
    finally:
        logger.removeHandler(handler)
        handler.close()


class _Search:
    def __init__(self, inputs: Inputs, config: Config, out: Path, models: list[Any], target: float | None,
                 checkpoint: str | None, logger: logging.Logger) -> None:
        self._config, self._logger = config, logger
        self._kept = _kept(checkpoint, inputs, config, logger)
        if self._kept:  # the best of the checkpoint replaces the initial program
            inputs = replace(inputs, code=self._kept.programs[0].code)
        self._inputs = inputs
        self._folder = Folder(out.absolute())
        begins_from = Path(checkpoint).absolute() if checkpoint else None
        marks = fingerprints(inputs, config, str(begins_from or ""))
        settings = self._folder.open(marks, begins_from, logger)
        self._goes_on = settings is not None
        self._settings = settings if settings is not None else self._begin(marks)
        seed = int(self._settings["random_seed"])
        self._artifacts = Artifacts(self._folder.run)
        self._population = Population(f"{sorted(marks.items())}:{seed}", inputs.language, config.database.feature_dimensions,
                                      self._artifacts)
        self._lock = threading.Lock()
        self._history = History(self._folder.history)
        self._output = Output(self._folder.path, config, inputs.suffix, self._settings["archive"]["axes"])
        self._stopping = Stopping(config, target)
        self._base = self._kept.last_iteration if self._kept else 0
        self._iteration = self._base
        self._why = ""
        self._failure = ""  # of the initial program
        self._checkpointed = -1
        presets = self._presets()
        self._extra = len(presets) - (0 in presets)
        self._population.notes.update((ticket, Note(restored=program)) for ticket, program in presets.items())
        self._restore()
        workers = int(self._settings["workers"])
        self._proposer = ModelProposer(
            config, Prompts(config, inputs.language), Ensemble(models, seed, workers), self._population, self._lock,
            inputs.name, inputs.language, seed)

    def _presets(self) -> dict[int, Program]:
        """Programs that need no model, by their tickets."""
        if self._kept:
            return dict(enumerate(self._kept.programs))
        texts = [Path(one).read_text(encoding="utf-8-sig") for one in self._config.database.island_initial_programs if one]
        return {at: Program(id=f"island-{at}", code=text, language=self._inputs.language) for at, text in enumerate(texts, 1)}

    def _begin(self, marks: dict[str, str]) -> dict[str, Any]:
        """Fixes the settings of this search, and writes its task."""
        write_task(self._folder.task, self._inputs, self._config, "openevolve")
        features = self._measured() if needs_seed(self._config) else {}
        settings = settings_for(self._config, axes_for(self._config, self._inputs.code, features))
        self._folder.begin(marks, settings)
        return settings

    def _measured(self) -> dict[str, float]:
        """The initial program's metrics, from which the bounds of axes are derived."""
        found = evaluate(self._folder.task, {self._inputs.name: self._inputs.code}, evaluator=evaluator_section(1))
        if not found.accepted:
            raise _refused(f"{found.code}: {found.diagnostics}", self._inputs)
        assert found.fitness is not None
        return {**found.features, "fitness": found.fitness}

    def _restore(self) -> None:
        """Restores the results of earlier sessions. The journal is authoritative: lines that a kill kept out
        of history.jsonl are made from it."""
        if not self._goes_on:
            return
        rows = list(self._history.rows())
        last, seen = restore(iter(rows), self._population)
        self._iteration = max(self._iteration, last)
        for row in rows:
            self._population.notes.pop(row["ticket"], None)
            if row["kind"] != "seed":
                self._why = self._why or self._stopping.seen(row.get("fitness"), row.get("program", {}).get("metrics", {}))
        for commit in commits_of(Run.open(self._folder.run), seen, in_order=bool(self._settings["deterministic"])):
            try:
                self._committed(commit)
            except _Ended as ended:
                self._why = self._why or str(ended)

    def _take(self, seen: _core.Program, made: Program, island: int) -> None:
        features = {**seen.evaluation.features, "fitness": seen.fitness} if seen.fitness is not None else {}
        self._population.add(seen.id, made, island, seen.fitness, features)

    def close(self) -> None:
        self._artifacts.close()

    def run(self, iterations: int) -> Found:
        if self._goes_on:
            self._logger.info("continuing the search in %s", self._folder.run)
        reason = self._why or self._searched(iterations + self._extra)
        best = self._population.best
        if best is None:
            raise Error("nothing was accepted", "refused", str(self._folder.run), "logs/ says why")
        self._finish(best)
        self._logger.info("ended after iteration %d: %s", self._iteration, reason)
        where = self._folder.path / "checkpoints" / f"checkpoint_{self._checkpointed}"
        return Found(self._population[best], self._population.fitness[best], reason, self._iteration - self._base, where)

    def _searched(self, budget: int) -> str:
        settings = {**self._settings, "budgets": {"iterations": budget},
                    "evaluator": evaluator_section(int(self._settings["workers"]))}
        try:
            outcome = run_task(self._folder.task, self._proposer, self._folder.run, self._progress, settings)
        except _Ended as ended:
            return str(ended)
        if outcome.reason in ("errors", "refused"):
            best = self._population.best
            if best is not None:
                self._finish(best)
            if outcome.reason == "refused":
                raise _refused(self._failure or outcome.error or "", self._inputs)
            message, _, hint = (outcome.error or outcome.reason).partition("\nhint: ")
            raise Error(message, "tool_failed", str(self._folder.run),
                        f"{hint}; the same command goes on then" if hint else "correct this, and the same command continues")
        return outcome.reason

    def _progress(self, commit: _core.Commit) -> None:
        with self._lock:
            self._committed(commit)

    def _committed(self, commit: _core.Commit | Stored) -> None:
        if commit.kind == "given_back":
            self._logger.warning("ticket %d was given back: %s", commit.ticket, commit.error)
            return
        if commit.kind == "remeasured":
            return
        note = self._population.notes.get(commit.ticket)
        seen = commit.program if commit.kind == "evaluated" else None
        made = self._population.of(seen) if seen is not None else None
        is_seed = seen is not None and seen.origin == "seed"
        restored = note is not None and note.restored is not None
        counts = not is_seed and not restored
        self._iteration += counts
        if seen is not None and made is not None:
            if not restored:
                made.iteration_found, made.timestamp = self._iteration, time.time()
            self._take(seen, made, commit.island)
        self._write_row(commit, seen, made, note, "seed" if not counts else commit.kind)
        self._population.notes.pop(commit.ticket, None)
        self._tell(commit, seen, made)
        self._write_files(commit, made, counts)
        if counts:
            why = self._stopping.seen(seen.fitness if seen is not None else None, made.metrics if made is not None else {})
            if why:
                raise _Ended(why)

    def _write_row(self, commit: _core.Commit | Stored, seen: _core.Program | None, made: Program | None, note: Note | None,
                   kind: str) -> None:
        """Writes a ticket's line. The prompts are in the program, or in the line if the reply was refused."""
        with_prompts = self._config.database.log_prompts
        row: dict[str, Any] = {"ticket": commit.ticket, "iteration": self._iteration, "kind": kind, "island": commit.island}
        if seen is not None and made is not None:
            values = made.to_dict() | ({} if with_prompts else {"prompts": None})
            row |= {"program": values, "fitness": seen.fitness, "features": self._population.cells.get(seen.id, {})}
        if commit.refusal is not None:
            row["refusal"] = f"{commit.refusal.code}: {commit.refusal.detail}"
            if with_prompts and note is not None:
                row |= {"prompt": note.prompt, "response": note.response}
        self._history.append(row)

    def _tell(self, commit: _core.Commit | Stored, seen: _core.Program | None, made: Program | None) -> None:
        if seen is None or made is None:
            why = f"{commit.refusal.code}, {commit.refusal.detail}" if commit.refusal is not None else "known already"
            self._logger.info("Iteration %d: %s (%s)", self._iteration, commit.kind, why)
        elif not seen.accepted:
            why = (seen.evaluation.diagnostics or "").strip()
            if seen.origin == "seed":
                self._failure = why
            last = why if seen.origin == "seed" else why.rpartition("\n")[2]
            self._logger.info("Iteration %d: program %s was rejected (%s): %s", self._iteration, made.id,
                              seen.evaluation.code, last)
        else:
            metrics = ", ".join(f"{name}={value:.4f}" if isinstance(value, float) else f"{name}={value}"
                                for name, value in made.metrics.items())
            self._logger.info("Iteration %d: program %s (parent %s): %s%s", self._iteration, made.id, made.parent_id,
                              metrics, "; the best so far" if commit.new_best else "")

    def _write_files(self, commit: _core.Commit | Stored, made: Program | None, counts: bool) -> None:
        if commit.new_best and made is not None:
            self._output.best(made)
        due = counts and self._iteration % self._config.checkpoint_interval == 0
        if due or (commit.new_best and counts and self._config.checkpoint_on_improvement):
            self._checkpoint()

    def _checkpoint(self) -> None:
        self._output.checkpoint(self._iteration, self._population)
        self._checkpointed = self._iteration

    def _finish(self, best: int) -> None:
        self._output.best(self._population[best])
        if self._checkpointed != self._iteration:
            self._checkpoint()
        trace = self._config.evolution_trace
        if trace.enabled:
            file = Path(trace.output_path or self._folder.path / f"evolution_trace.{trace.format}")
            rows = list(self._history.rows())
            write_trace(file, rows_of(rows, code=trace.include_code, prompts=trace.include_prompts), trace.format,
                        compress=trace.compress)
            if trace.include_failures:
                write_trace(file.with_name(f"{file.stem}_failures.jsonl"),
                            failures_of(rows, prompts=trace.include_prompts), compress=trace.compress)


def _refused(why: str, inputs: Inputs) -> Error:
    last = why.strip().rpartition("\n")[2]
    return Error(f"the initial program was rejected: {last}", "refused", str(inputs.program),
                 "correct it, or the evaluator; OUT/logs has the whole text")


def _kept(checkpoint: str | None, inputs: Inputs, config: Config, logger: logging.Logger) -> Checkpoint | None:
    if checkpoint is None:
        return None
    return read_checkpoint(checkpoint, inputs.code, lambda one: fitness_of(one.metrics, config.database.feature_dimensions),
                           logger)
