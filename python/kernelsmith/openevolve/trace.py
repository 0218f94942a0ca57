"""The evolution trace: each parent with its child, in OpenEvolve's fields."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .._errors import Error
from .._run import Run
from .._files import write
from .artifacts import Artifacts
from .history import History
from .programs import Program, metrics_of, shown_artifacts


def rows_of(history: Iterable[Mapping[str, Any]], *, code: bool = False, prompts: bool = True) -> list[dict[str, Any]]:
    """A row for each child, accepted or not, in the history of an OpenEvolve search."""
    known: dict[str, Program] = {}
    rows = []
    for line in history:
        if "program" not in line:
            continue
        child = Program.from_dict(line["program"])
        known[child.id] = child
        parent = known.get(child.parent_id or "")
        if parent is not None:
            rows.append(_row(line["iteration"], line["island"], parent, child, code, prompts))
    return rows


def failures_of(history: Iterable[Mapping[str, Any]], *, prompts: bool = True) -> list[dict[str, Any]]:
    """A row for each iteration without a child."""
    return [{"iteration": line["iteration"], "error": line["refusal"], "island_id": line["island"],
             **({"prompt": line.get("prompt"), "llm_response": line.get("response")} if prompts else {})}
            for line in history if "refusal" in line]


def rows_of_run(run: Run, *, code: bool = False) -> list[dict[str, Any]]:
    """The same for any run folder, without prompts."""
    known: dict[int, Program] = {}
    artifacts = Artifacts(Path(run.folder))
    rows = []
    for at, line in enumerate(run.programs()):
        seen = run.program(line["id"])
        parent = next((known[one] for one in seen.parents if one in known), None)
        left = artifacts.of(seen.id)
        shown = shown_artifacts(seen.evaluation, left)
        known[seen.id] = Program(
            id=str(seen.id), code=seen.source.text, parent_id=parent.id if parent else None,
            generation=parent.generation + 1 if parent else 0, metrics=metrics_of(seen.evaluation, left),
            artifacts_json=json.dumps(shown) if shown else None)
        if parent is not None:
            rows.append(_row(at, None, parent, known[seen.id], code, False))
    artifacts.close()
    return rows


def _row(iteration: int, island: int | None, parent: Program, child: Program, code: bool, prompts: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "iteration": iteration, "timestamp": child.timestamp, "parent_id": parent.id, "child_id": child.id,
        "parent_metrics": parent.metrics, "child_metrics": child.metrics,
        "improvement_delta": _differences(parent.metrics, child.metrics), "island_id": island,
        "generation": child.generation, "artifacts": child.artifacts or None,
        "metadata": {"changes": child.metadata.get("changes", "")}}
    if code:
        row |= {"parent_code": parent.code, "child_code": child.code}
    if prompts and child.prompts:
        whole = next(iter(child.prompts.values()))
        row |= {"prompt": {name: whole.get(name) for name in ("system", "user")},
                "llm_response": next(iter(whole.get("responses") or []), None)}
    return {name: value for name, value in row.items() if value is not None}


def _differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, float]:
    return {name: value - before[name] for name, value in after.items()
            if isinstance(value, (int, float)) and isinstance(before.get(name), (int, float))}


def write_trace(file: Path, rows: list[dict[str, Any]], form: str = "jsonl", *, compress: bool = False) -> Path:
    """Writes lines, or one object with `metadata` and `traces`. Returns the file. Raises Error."""
    if form == "json":
        about = {"total_traces": len(rows), "exported_at": time.time()}
        text = json.dumps({"metadata": about, "traces": rows}, indent=2, default=str)
    else:
        text = "".join(json.dumps(row, default=str) + "\n" for row in rows)
    data = text.encode("utf-8", "surrogateescape")
    if compress and form == "jsonl":
        file, data = file.with_suffix(".jsonl.gz"), gzip.compress(data)
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, data)
    return file


def trace_of(folder: Path, *, code: bool = True, prompts: bool = True) -> list[dict[str, Any]]:
    """The trace of an output folder of `kernelsmith openevolve`, or of any run folder. Raises Error."""
    if (folder / "history.jsonl").exists():
        return rows_of(History(folder / "history.jsonl").rows(), code=code, prompts=prompts)
    if not (folder / "run.db").exists():
        raise Error("this is neither a run folder nor the output of kernelsmith openevolve", "not_found", str(folder))
    return rows_of_run(Run.open(folder), code=code)
