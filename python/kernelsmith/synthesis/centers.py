"""Writes centres of clusters as task folders, which experts clean by hand, and takes them back with a name
and a date."""

from __future__ import annotations

import ast
import importlib
import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

from .. import _core
from .._errors import Error
from .._files import replace
from . import allowed
from .normal_form import shape
from .out import reference_text, task_name
from .pipeline import STAGES
from .stages import Record, Stage

_DIMENSIONS = 64
_TASK_HAS = frozenset({"Model", "get_inputs", "get_init_inputs"})


@dataclass(frozen=True, slots=True)
class Clusters:
    """The numbers of modules, of centres, and of modules that are in no cluster."""

    modules: int
    centres: int
    alone: int


def records_of(out: Path) -> list[Record]:
    path = out / f"{STAGES[-1]}.jsonl"
    if not path.is_file():
        raise Error("this folder holds no synthesis that has ended",
                    "not_found", str(out), "run kernelsmith synthesize first")
    if not path.read_bytes().rpartition(b"\n{")[2].startswith(b'"end"'):
        raise Error("the synthesis has not ended", "not_found", str(out), "repeat the command that began it")
    return list(Stage(path, "").records())


def embedded(texts: list[str]) -> numpy.typing.NDArray[numpy.float64]:
    """The texts as rows of length one: TF-IDF of words and pairs of words, then a singular value
    decomposition."""
    vectors = _sklearn("feature_extraction.text").TfidfVectorizer(
        lowercase=False, token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2), sublinear_tf=True, norm=None, max_features=4096)
    left, values, _ = numpy.linalg.svd(vectors.fit_transform(texts).toarray(), full_matrices=False)
    made = left[:, :_DIMENSIONS] * values[:_DIMENSIONS]
    result: numpy.typing.NDArray[numpy.float64] = made / numpy.maximum(numpy.linalg.norm(made, axis=1, keepdims=True), 1e-12)
    return result


def _sklearn(module: str) -> Any:
    try:
        return importlib.import_module(f"sklearn.{module}")
    except ImportError:
        raise Error("finding cluster centres needs scikit-learn", "not_found",
                    "sklearn", "pip install scikit-learn") from None


def _medoids(points: numpy.typing.NDArray[numpy.float64], least: int) -> tuple[list[int], int]:
    """The centres of HDBSCAN's clusters, and the number of points that are in no cluster."""
    labels = _sklearn("cluster").HDBSCAN(min_cluster_size=least, copy=True).fit(points).labels_
    centres = []
    for label in sorted(set(labels) - {-1}):
        members = numpy.flatnonzero(labels == label)
        apart = numpy.linalg.norm(points[members][:, None] - points[members][None], axis=2).sum(axis=1)
        centres.append(int(members[apart.argmin()]))
    return centres, int((labels == -1).sum())


def write(out: Path, to: Path, least: int) -> Clusters:
    """Raises Error."""
    records = records_of(out)
    if least < 2:
        raise Error("a cluster has at least 2 modules", "invalid_argument", "--least")
    if len(records) <= least:
        raise Error(f"{len(records)} modules are too few for clusters of {least}", "bad_input", str(out))
    if to.exists() and any(to.iterdir()):
        raise Error("the folder is not empty", "invalid_argument", str(to), "name a new folder")
    texts = [f"{shape(one['code'])} {' '.join(name for name, _ in one['operators'])}" for one in records]
    centres, alone = _medoids(embedded(texts), least)
    for at in centres:
        record = records[at]
        folder = to / task_name(record)
        folder.mkdir(parents=True)
        replace(folder / "task.yaml", _core.problem_yaml(task_name(record)))
        replace(folder / "reference.py", reference_text(record))
        about = {name: record[name] for name in ("id", "repository", "commit", "path", "name", "licence", "family", "level")}
        replace(folder / "about.json", json.dumps(about, indent=1) + "\n")
    return Clusters(len(records), len(centres), alone)


def take(out: Path, folder: Path, by: str, when: str) -> int:
    """Appends the cleaned centres to centers.jsonl, with `by` and `when`. Returns their number. Raises
    Error."""
    if not by.strip() or not _is_date(when):
        raise Error("who cleaned the centres, and when?", "invalid_argument", "--by, --when", "--by NAME --when 2026-11-27")
    if not folder.is_dir():
        raise Error("there is no such folder of centres", "not_found", str(folder))
    known = {one["id"]: one for one in records_of(out)}
    lines = [_taken(place, known, by.strip(), when) for place in sorted(folder.iterdir()) if (place / "about.json").is_file()]
    if not lines:
        raise Error("the folder holds no centre", "bad_input", str(folder), "kernelsmith synthesize centers --to writes them")
    replace(out / "centers.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    return len(lines)


def _is_date(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _taken(place: Path, known: dict[str, Record], by: str, when: str) -> dict[str, Any]:
    try:
        about = json.loads((place / "about.json").read_text())
        record = known[about["id"]]
        text = (place / "reference.py").read_text()
        tree = ast.parse(text)
        allowed.check(tree)
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, RecursionError, MemoryError) as failed:
        raise Error(f"this is not a centre of the synthesis: {failed}", "bad_input", str(place),
                    "do not change about.json") from None
    except allowed.Refusal as refusal:
        raise Error(f"the reference is not allowed in a task: {refusal.code} {refusal.message}", "bad_input",
                    str(place / "reference.py")) from None
    missing = _TASK_HAS - {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    if missing:
        raise Error(f"the reference has no {', '.join(sorted(missing))}", "bad_input", str(place / "reference.py"))
    return {**about, "by": by, "when": when, "changed": text != reference_text(record), "reference_code": text}
