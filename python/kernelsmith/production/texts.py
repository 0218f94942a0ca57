"""The report and the text for a change request."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Any

from .._words import counted
from .winners import Winner

_RUNTIME = Path(__file__).parent / "runtime"


def texts(facts: dict[str, Any], winner: Winner, kind: str) -> dict[str, str]:
    words = _words(facts, winner, kind)
    return {name: Template((_RUNTIME / f"{name}.in").read_text()).substitute(words)
            for name in ("REPORT.md", "CHANGE_REQUEST.md")}


def _words(facts: dict[str, Any], winner: Winner, kind: str) -> dict[str, Any]:
    buckets = facts["buckets"]
    major, minor = facts["capabilities"][0]
    return {**facts, "task": winner.task, "description": winner.description.strip(), "kind": kind,
            "capability_text": f"{major}.{minor}", "rows": "\n".join(map(_row, buckets)),
            "shapes_served": "sizes between those measured" if facts["between"] else "exactly the sizes measured",
            "baseline": _baseline(winner), "held_out": "; ".join(facts["held_out"]) or "The task names none.",
            "kernel_count": counted(len({bucket["kernel"] for bucket in buckets}), "kernel"), "gain": _gain(facts),
            "buckets_in_words": "; ".join(in_words(bucket) for bucket in buckets),
            "tiers": ", ".join(sorted({bucket["tier"] for bucket in buckets})), "limits": _limits(winner)}


def _row(bucket: dict[str, Any]) -> str:
    speedup, runtime = bucket["speedup"], bucket["runtime_us"]
    time = "" if runtime is None else f"{runtime:.1f}"
    return (f"| {in_words(bucket)} | `{bucket['kernel']}` | {ratio(speedup)} | {time} | "
            f"{bucket['tier']} | `{bucket['run'][:12]}` | {bucket['program']} |")


def in_words(bucket: dict[str, Any]) -> str:
    return ", ".join(f"{name} {size}" for name, size in bucket["sizes"].items()) or "as in the reference"


def ratio(speedup: dict[str, float]) -> str:
    return f"{speedup['median']:.2f}x [{speedup['low']:.2f}, {speedup['high']:.2f}]"


def _baseline(winner: Winner) -> str:
    how = {"eager": "as it is", "compile": "by torch.compile"}.get(winner.baseline, winner.baseline)
    tf32 = " Products are TF32: set torch.backends.cuda.matmul.allow_tf32 for the same."
    return (f"The reference {how}, in a CUDA graph: launches from Python are in neither time. Called from Python, short "
            f"kernels gain more or less than that.{tf32 if winner.precision == 'tf32' else ''} "
            f"Toolchain: {winner.figures['toolchain']}.")


def _gain(facts: dict[str, Any]) -> str:
    each = "; ".join(f"{ratio(bucket['speedup'])} at {in_words(bucket)}" for bucket in facts["buckets"])
    return f"On {facts['hardware']} a call is faster than the reference in PyTorch, both in a CUDA graph: {each}."


def _limits(winner: Winner) -> str:
    if "cpp_extension" in winner.text:
        return "The kernel is compiled by PyTorch when it is first called, which needs nvcc."
    return "Nothing was measured on other devices."
