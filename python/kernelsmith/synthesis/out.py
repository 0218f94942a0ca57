"""Writes the output: tasks for `kernelsmith suite`, rows, their card, and the report."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .._files import replace
from ..learning.dataset.shards import write_shard
from .settings import Settings
from .stages import Record, Stage

COLUMNS: dict[str, Any] = {
    "uuid": str, "repo_name": str, "commit": str, "path": str, "module_name": str, "licence": str, "sources": [str],
    "reference_code": str, "entry_point": str, "family": str, "level": int, "operators": [str], "roofline_us": float,
    "flops": int, "bytes": int, "inputs_by": str}
SPLITS = ("train", "test")
_GROUP = 256


def split_of(repository: str, test_share: float) -> str:
    """The split, chosen by the repository alone, so that its modules stay together."""
    drawn = int.from_bytes(hashlib.sha256(repository.encode()).digest()[:8], "big") / 2**64
    return "test" if drawn < test_share else "train"


def reference_text(record: Record) -> str:
    """The reference with its origin and licence in the heading."""
    commit = f"@{record['commit']}" if record["commit"] else ""
    about = [f"SPDX-License-Identifier: {record['licence']}",
             f"From {record['repository']}{commit}: {record['path']}, {record['name']}.",
             "Changed by kernelsmith synthesize: it is now one file, cleaned, and has its own inputs."]
    lines = [" ".join(line.split()) for line in about]
    return "".join(f"# {line}\n" for line in lines) + str(record["reference"])


def task_name(record: Record) -> str:
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', record['name'])[:40]}_{record['id'][:8]}"


def row_of(record: Record) -> dict[str, Any]:
    names = ("commit", "path", "licence", "sources", "family", "level", "flops", "bytes")
    return {"uuid": record["id"], "repo_name": record["repository"], "module_name": record["name"],
            "reference_code": reference_text(record), "entry_point": "Model",
            "operators": [name for name, _ in record["operators"]], "roofline_us": float(record["roofline_us"]),
            "inputs_by": record["origin"], **{name: record[name] for name in names}}


def good(stage: Stage) -> Iterator[Record]:
    """The stage's records that are not refused."""
    return (record for record in stage.records() if "refused" not in record)


def write_out(out: Path, stages: list[Stage], settings: Settings, seconds: dict[str, float]) -> int:
    """Writes the output. Returns the number of tasks."""
    last, written = stages[-1], set()
    for record in good(last):
        path = out / "tasks" / f"level{record['level']}" / f"{task_name(record)}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        replace(path, reference_text(record))
        written.add(path)
    for path in set((out / "tasks").rglob("*.py")) - written:  # refused since, on a GPU
        path.unlink()
    kinds = ["jsonl"] + (["parquet"] if find_spec("pyarrow") else [])
    for split in SPLITS:
        for kind in kinds:
            write_shard(out / f"{split}.{kind}", _batches(last, split), COLUMNS)
    replace(out / "README.md", card(stages, settings, kinds[-1]))
    replace(out / "seconds.json", json.dumps(seconds, indent=1) + "\n")
    return sum(1 for _ in good(last))


def _batches(last: Stage, split: str) -> Iterator[list[dict[str, Any]]]:
    rows: list[dict[str, Any]] = []
    for record in good(last):
        if record["split"] == split:
            rows.append(row_of(record))
        if len(rows) == _GROUP:
            yield rows
            rows = []
    if rows:
        yield rows


def card(stages: list[Stage], settings: Settings, kind: str) -> str:
    """The report: the number of modules by stage, refusal, family, level, licence, repository and origin of
    inputs."""
    last = list(good(stages[-1]))
    files = "\n".join(f"  - split: {split}\n    path: {split}.{kind}" for split in SPLITS)
    refusals: Counter[tuple[str, str]] = Counter()
    rows = []
    for stage in stages:
        kept = 0
        for one in stage.records():
            kept += "refused" not in one
            if "refused" in one:
                refusals[stage.path.stem, one["refused"]] += 1
        rows.append((stage.path.stem, kept))
    unlicensed = Counter(one["message"] for one in stages[0].records() if one.get("refused") == "licence")
    parts = [
        f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}\n---\n",
        "# PyTorch modules from public repositories\n\n"
        "Each row is a module in KernelBench's layout, with inputs for it. Its licence is that of its repository, and its text "
        "names the licence.\n",
        _table("Records after each stage", "stage", rows),
        _table("Refusals", "stage, code", [(f"{stage}, {code}", count) for (stage, code), count in refusals.most_common()]),
        _counted("Families", (one["family"] for one in last)),
        _counted("Difficulty", (f"level {one['level']}" for one in last)),
        _counted("Splits, by repository", (one["split"] for one in last)),
        _counted("Licences", (one["licence"] for one in last)),
        _table("Files of other licences", "licence", unlicensed.most_common()),
        _counted("Origin of the constructor's arguments", (one["origin"] for one in last)),
        _counted("Repositories", (one["repository"] for one in last)),
        f"## Made by\n\n```json\n{json.dumps(settings.words(), indent=1, sort_keys=True)}\n```\n"]
    return "\n".join(part for part in parts if part)


def _counted(title: str, values: Iterable[str]) -> str:
    return _table(title, title.lower(), sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _table(title: str, what: str, rows: Iterable[tuple[str, int]]) -> str:
    lines = [f"| {' '.join(str(name).replace('|', ' ').split())} | {count} |" for name, count in rows]
    return "\n".join([f"## {title}", "", f"| {what} | |", "|---|---|", *lines, ""]) if lines else ""
