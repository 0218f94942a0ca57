"""Files of rows: JSON lines without any package, Parquet through pyarrow."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ..._errors import Error
from .columns import Type

Batches = Iterator[list[dict[str, Any]]]


def require_pyarrow() -> Any:
    """The package, imported when it is needed. Raises Error if it is missing."""
    try:
        import pyarrow  # type: ignore[import-not-found,import-untyped,unused-ignore]
        import pyarrow.parquet  # type: ignore[import-not-found,import-untyped,unused-ignore]
    except ImportError:
        raise Error("writing Parquet needs pyarrow", "not_found", "pyarrow",
                    "pip install '.[learning]' in a clone of kernelsmith, or pass --format jsonl") from None
    return pyarrow


def write_shard(path: Path, batches: Batches, columns: dict[str, Type]) -> None:
    """Writes the file atomically, so a file with this name is complete."""
    part = path.with_name(f".{path.name}.part")
    (_write_parquet if path.suffix == ".parquet" else _write_lines)(part, batches, columns)
    with part.open("rb") as file:
        os.fsync(file.fileno())
    part.replace(path)


def _write_lines(part: Path, batches: Batches, _: dict[str, Type]) -> None:
    with part.open("w", encoding="utf-8", newline="\n") as file:
        for rows in batches:
            file.writelines(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)


def _write_parquet(part: Path, batches: Batches, columns: dict[str, Type]) -> None:
    pyarrow = require_pyarrow()
    schema = pyarrow.schema([(name, _arrow(pyarrow, type_)) for name, type_ in columns.items()])
    with pyarrow.parquet.ParquetWriter(part, schema, compression="zstd") as writer:
        for rows in batches:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema=schema))


def _arrow(pyarrow: Any, type_: Type) -> Any:
    if isinstance(type_, list):
        return pyarrow.list_(_arrow(pyarrow, type_[0]))
    if isinstance(type_, dict):
        return pyarrow.struct([(name, _arrow(pyarrow, inner)) for name, inner in type_.items()])
    return {str: pyarrow.string, int: pyarrow.int64, float: pyarrow.float64, bool: pyarrow.bool_}[type_]()


def shard_names(split: str, rows: int, shard_rows: int, suffix: str) -> Sequence[str]:
    """The files' names, in Hugging Face's form."""
    count = -(-rows // shard_rows)
    return [f"{split}-{at:05}-of-{count:05}.{suffix}" for at in range(count)]
