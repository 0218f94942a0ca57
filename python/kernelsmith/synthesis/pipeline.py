"""Runs the stages one after another. Each stage reads the output of the stage before."""

from __future__ import annotations

import gc
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from ..learning.dataset.folder import locked
from . import extract, filters, gpu, licences, sources
from .calls import Calls
from .duplicates import Seen
from .families import difficulty, family
from .model_inputs import Asker
from .normal_form import fingerprint
from .out import good, split_of, write_out
from .repository import Repository
from .sandbox import Sandboxes, sandboxes
from .settings import Settings
from .stages import Record, Stage, digest_of, refused

GPU_STAGE = "9-gpu"
STAGES = ("1-sources", "2-extraction", "3-repeats", "4-sandbox", "5-model", "6-references", "7-duplicates", "8-families")
# Refusals for which a model may still find inputs.
LEFT = frozenset({"no_inputs", "not_constructed", "no_size"})


@dataclass(frozen=True, slots=True)
class Made:
    """The result of a synthesis."""

    folder: Path
    tasks: int
    refused: dict[str, int]  # by code


def synthesize(repositories: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str],
               settings: Settings = Settings(), *, each: Sequence[str | os.PathLike[str]] = ()) -> Made:
    """Fills a folder with tasks made from repositories' modules. A repeated call continues the earlier one.
    Raises Error."""
    places = sources.found(repositories, each)
    with locked(Path(out)), sandboxes(settings.python, settings.workers) as boxes:
        _check(Path(out), places)
        pipeline = Pipeline(places, Path(out), settings, boxes)
        pipeline.run()
        stages = list(pipeline.stages.values())
        counts = Counter(one["refused"] for stage in stages for one in stage.records() if "refused" in one)
        tasks = write_out(Path(out), stages, settings, pipeline.seconds)
        return Made(Path(out), tasks, dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))))


def _check(out: Path, places: list[Path]) -> None:
    """Raises Error if the folder holds anything but a synthesis, or is inside a repository."""
    inside = any(out.resolve().is_relative_to(place.resolve()) for place in places)
    if inside or not (out / f"{STAGES[0]}.jsonl").exists() and any(out.iterdir()):
        raise Error("the folder is inside a repository" if inside else "the folder is not empty, and holds no synthesis",
                    "invalid_argument", str(out), "name a new folder")


class Pipeline:
    """The stages of a synthesis in a folder."""

    def __init__(self, places: list[Path], out: Path, settings: Settings, boxes: Sandboxes) -> None:
        self._places, self._settings, self._boxes = places, settings, boxes
        digest = digest_of(_core.__version__, settings.words(), [str(place.resolve()) for place in places])
        # Another machine, with a GPU, may do the last stage.
        last = (GPU_STAGE,) if settings.gpu or (out / f"{GPU_STAGE}.jsonl").exists() else ()
        self.stages = {name: Stage(out / f"{name}.jsonl", digest) for name in (*STAGES, *last)}
        self.seconds: dict[str, float] = {}
        self._packages: dict[str, Repository | None] = {}
        self._asker = Asker(settings.model, out / "replies.jsonl")

    def run(self) -> None:
        one = self.stages
        self._stage("1-sources", lambda: [{"place": str(place)} for place in self._places], _each(self._sourced))
        self._stage("2-extraction", one["1-sources"].records, self._extracted)
        self._stage("3-repeats", partial(good, one["2-extraction"]), self._without_repeats, whole=True)
        self._stage("4-sandbox", partial(good, one["3-repeats"]), self._probed)
        self._stage("5-model", one["4-sandbox"].records, self._asked)
        self._stage("6-references", self._references, self._planned)
        self._stage("7-duplicates", partial(good, one["5-model"]), self._distinct, whole=True)
        self._stage("8-families", partial(good, one["7-duplicates"]), _each(self._sorted))
        if GPU_STAGE in one:
            if self._settings.gpu:
                gpu.require()
            self._stage(GPU_STAGE, partial(good, one["8-families"]), gpu.prepared)

    def _stage(self, name: str, inputs: Any, work: Any, whole: bool = False) -> None:
        began = time.monotonic()
        self.stages[name].run(name[2:], inputs, work, whole)
        self.seconds[name] = round(time.monotonic() - began, 1)

    def _sourced(self, record: Record) -> list[Record]:
        nothing = {"repository": Path(record["place"]).name}
        try:
            made = [one if licences.allowed(one["licence"], self._settings.licences) else
                    refused(one, "licence", one["licence"]) for one in sources.source(Path(record["place"]))]
        except Error as failed:
            return [refused(nothing, "unreadable", failed.message)]
        return made or [refused(nothing, "no_modules", "no file has classes and torch")]

    def _extracted(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        """Extracts modules. The files of a repository come one after another, so each repository is read
        once."""
        read, calls = None, None
        with _collected_by_hand():
            for record in records:
                if "refused" in record:
                    yield []
                    continue
                if read is None or read.name != record["repository"]:
                    read = calls = None
                    gc.collect()
                    read = Repository(Path(record["place"]), self._package).check(record["digest"])
                    calls = Calls(read)
                assert calls is not None
                yield list(extract.modules(read, record, calls))

    def _package(self, name: str) -> Repository | None:
        """The repository among the sources that has a package of this name at its root, if its licence is
        allowed."""
        if name not in self._packages:
            self._packages[name] = None
            for place in self._places:
                if place.is_dir() and any((place / top / name / "__init__.py").is_file() for top in ("", "src")):
                    if any("refused" not in one for one in self._sourced({"place": str(place)})):
                        self._packages[name] = Repository(place)
                        break
        return self._packages[name]

    def _without_repeats(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        """Refuses repeats and surplus modules. If modules differ only in names, numbers and order, only one
        is executed. At most `per_repository` modules of a repository are executed, drawn by a hash."""
        seen: dict[str, str] = {}
        for _, group in groupby(records, key=lambda one: one["repository"]):
            one_repository = list(group)
            new = {}
            for record in one_repository:
                print_ = fingerprint(record["code"])
                if print_ not in seen:
                    new[record["id"]] = seen[print_] = record["id"]
            share = set(sorted(new)[:self._settings.per_repository or None])
            for record in one_repository:
                code = "" if record["id"] in share else "over_share" if record["id"] in new else "repeated"
                yield [refused(record, code, seen[fingerprint(record["code"])]) if code else record]

    def _probed(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        for record, answer in self._boxes.each(self._batches(records), _task):
            judged = filters.judged(record, answer)
            yield [{**judged, "code": record["code"]} if judged.get("refused") in LEFT else judged]

    def _batches(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        while batch := list(islice(records, self._settings.batch)):
            yield batch

    def _asked(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        for record in records:
            if record.get("refused") not in LEFT:
                yield [record] if "refused" not in record else []
                continue
            answer = self._asker.proposal(record)
            found = self._boxes.answers([answer])[0] if answer else None
            given = {name: value for name, value in record.items() if name not in ("refused", "message")}
            yield [filters.judged(given, found)] if found is not None else []

    def _references(self) -> list[Record]:
        folder = self._settings.against
        return [] if folder is None else [
            {"id": file.relative_to(folder).as_posix(), "code": file.read_text(errors="replace")}
            for file in sorted(folder.rglob("*.py")) if file.is_file()]

    def _planned(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        """The benchmark's references, planned in the same way as the modules."""
        for record, answer in self._boxes.each(self._batches(records), lambda one: {"reference": one["code"], "only_plan": True}):
            yield [{**record, "operators": answer.get("operators", [])}]

    def _distinct(self, records: Iterator[Record]) -> Iterator[list[Record]]:
        benchmark, ours = Seen(self._settings.similar), Seen(self._settings.similar)
        for one in self.stages["6-references"].records():
            benchmark.add(one["id"], one["code"], one["operators"])
        for record in records:
            theirs = benchmark.match(record["code"], record["operators"])
            same = theirs or ours.match(record["code"], record["operators"])
            if same is None:
                ours.add(record["id"], record["code"], record["operators"])
                yield [record]
            else:
                yield [refused(record, "benchmark" if theirs else "duplicate", f"{same.id}: {same.by}, {same.similarity}")]

    def _sorted(self, record: Record) -> list[Record]:
        return [{**record, "family": family(record["operators"]), "level": difficulty(record["operators"]),
                 "split": split_of(record["repository"], self._settings.test_share)}]


@contextmanager
def _collected_by_hand() -> Iterator[None]:
    """Turns automatic garbage collection off: syntax trees are millions of live objects, and collection took
    three quarters of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _each(work: Callable[[Record], list[Record]]) -> Callable[[Iterator[Record]], Iterator[list[Record]]]:
    return lambda records: map(work, records)


def _task(record: Record) -> Record:
    return {name: record[name] for name in ("code", "annotations", "calls")}
