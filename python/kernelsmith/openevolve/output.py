"""OpenEvolve's output files: best/, checkpoints/ and logs/. Everything is replaced atomically."""

from __future__ import annotations

import json
import logging
import os
import shutil
import time
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import replace
from .axes import cell_of
from .config import Config
from .programs import Population, Program


class Output:
    """Writes into one folder. One thread at a time may use it. Raises Error if it cannot write to the
    disk."""

    def __init__(self, folder: Path, config: Config, suffix: str, axes: list[dict[str, Any]]) -> None:
        self._folder, self._config, self._suffix, self._axes = folder, config, suffix, axes
        self._written: dict[str, Path] = {}  # the file of each program, in the last checkpoint

    def best(self, program: Program) -> None:
        """Writes best/best_program.* and best/best_program_info.json."""
        folder = self._folder / "best"
        _in_order(lambda: self._write_best(folder, program, {"parent_id": program.parent_id}), folder)

    def checkpoint(self, iteration: int, population: Population) -> Path:
        """Writes checkpoints/checkpoint_N and returns its path."""
        folder = self._folder / "checkpoints" / f"checkpoint_{iteration}"
        _in_order(lambda: self._write_checkpoint(folder, iteration, population), folder)
        return folder

    def _write_best(self, folder: Path, program: Program, more: dict[str, Any]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        replace(folder / f"best_program{self._suffix}", program.code)
        info = {"id": program.id, "generation": program.generation, "iteration": program.iteration_found, **more,
                "metrics": program.metrics, "language": program.language, "timestamp": program.timestamp,
                "saved_at": time.time()}
        replace(folder / "best_program_info.json", json.dumps(info, indent=2, default=str))

    def _write_checkpoint(self, folder: Path, iteration: int, population: Population) -> None:
        part = folder.with_name(f".{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        (part / "programs").mkdir(parents=True)
        kept = self._kept(population)
        written = {population[number].id: self._write_program(part, folder, population[number]) for number in kept}
        replace(part / "metadata.json", json.dumps(self._metadata(iteration, population, set(kept))))
        if population.best is not None:
            self._write_best(part, population[population.best], {"current_iteration": iteration})
        old = folder.with_name(f".{folder.name}.old")
        shutil.rmtree(old, ignore_errors=True)
        if folder.exists():
            folder.rename(old)
        part.rename(folder)
        shutil.rmtree(old, ignore_errors=True)
        self._written = {id: folder / path.relative_to(part) for id, path in written.items()}

    def _kept(self, population: Population) -> list[int]:
        """The fittest population_size programs, in their original order."""
        most = self._config.database.population_size
        if len(population.order) <= most:
            return list(population.order)
        best = sorted(population.order, key=lambda one: (-population.fitness[one], one))[:most]
        return sorted(best)

    def _write_program(self, part: Path, folder: Path, program: Program) -> Path:
        """Writes a program's file. Programs do not change, so it is a hard link to the last checkpoint's
        file, if any."""
        file = part / "programs" / f"{program.id}.json"
        large = self._large(program)
        before = self._written.get(program.id)
        if before is not None and not large:
            try:
                os.link(before, file)
                return file
            except OSError:
                pass
        values = program.to_dict()
        if not self._config.database.log_prompts:
            values["prompts"] = None
        if large:
            beside = part / "artifacts" / program.id
            beside.mkdir(parents=True)
            for name, text in large.items():
                safe = "".join(one for one in name if one.isalnum() or one in "._-") or "artifact"
                replace(beside / safe, text)
            small = {name: text for name, text in program.artifacts.items() if name not in large}
            values |= {"artifacts_json": json.dumps(small) if small else None,
                       "artifact_dir": str((folder / "artifacts" / program.id).absolute())}
        replace(file, json.dumps(values, default=str))
        return file

    def _large(self, program: Program) -> dict[str, str]:
        most = self._config.database.artifact_size_threshold
        return {name: text for name, text in program.artifacts.items() if len(text.encode()) > most}

    def _metadata(self, iteration: int, population: Population, kept: set[int]) -> dict[str, Any]:
        count = self._config.database.num_islands
        islands = [[one for one in population.islands.get(island, []) if one in kept] for island in range(count)]
        maps: list[dict[str, int]] = []
        for numbers in islands:
            cells: dict[str, int] = {}
            for number in numbers:
                cell = cell_of(self._axes, population.cells[number])
                if cell not in cells or population.fitness[number] > population.fitness[cells[cell]]:
                    cells[cell] = number
            maps.append(cells)
        elites = sorted({one for cells in maps for one in cells.values()}, key=lambda one: (-population.fitness[one], one))

        def name(number: int | None) -> str | None:
            return None if number is None else population[number].id

        return {
            "island_feature_maps": [{cell: name(one) for cell, one in cells.items()} for cells in maps],
            "islands": [[name(one) for one in numbers] for numbers in islands],
            "archive": [name(one) for one in elites[:self._config.database.archive_size]],
            "best_program_id": name(population.best),
            "island_best_programs": [name(max(numbers, key=lambda one: population.fitness[one], default=None))
                                     for numbers in islands],
            "last_iteration": iteration,
            "current_island": 0,
            "island_generations": [max((population[one].generation for one in numbers), default=0) for numbers in islands],
            "last_migration_generation": 0,
            "feature_stats": {},
        }


def log_into(folder: Path, logger: logging.Logger, level: str) -> logging.Handler:
    """The handler for this session's own file, openevolve_DATE_TIME.log. The caller removes and closes the
    handler."""
    _in_order(lambda: folder.mkdir(parents=True, exist_ok=True), folder)
    handler = logging.FileHandler(folder / time.strftime("openevolve_%Y%m%d_%H%M%S.log"), encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s - %(name)s - %(levelname)s - %(message)s"))
    handler.setLevel(level)
    logger.addHandler(handler)
    return handler


def _in_order(act: Any, where: Path) -> None:
    try:
        act()
    except OSError as failed:
        raise Error(f"it cannot be written: {failed.strerror or failed}", "io", str(failed.filename or where)) from None
