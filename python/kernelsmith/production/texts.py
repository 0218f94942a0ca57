"""Writes the report and the text for a change request."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any

from .._words import counted
from .own_tests import Tested
from .winners import Winner

RUNTIME = Path(__file__).parent / "runtime"


def texts(facts: dict[str, Any], winner: Winner, kind: str, more: Mapping[str, str]) -> dict[str, str]:
    words = {**more, **_words(facts, winner, kind)}
    names = ("REPORT.md", "CHANGE_REQUEST.md", *(("CARD.md",) if kind == "hf-kernel" else ()))
    return {name: template(name, words) for name in names}


def template(name: str, words: Mapping[str, Any] | None = None) -> str:
    """A file of runtime/. If words are given, they are filled in."""
    text = (RUNTIME / f"{name}.in").read_text()
    return text if words is None else Template(text).substitute(words)


def _words(facts: dict[str, Any], winner: Winner, kind: str) -> dict[str, Any]:
    buckets = facts["buckets"]
    major, minor = facts["capabilities"][0]
    return {**facts, "task": winner.task, "description": winner.description.strip(), "kind": kind,
            "capability_text": f"{major}.{minor}", "rows": "\n".join(map(_row, buckets)),
            "shapes_served": "sizes between those measured" if facts["between"] else "exactly the sizes measured",
            "baseline": _baseline(winner), "held_out": "; ".join(facts["held_out"]) or "The task names none.",
            "kernel_count": counted(len({bucket["kernel"] for bucket in buckets}), "kernel"), "gain": _gain(facts),
            "buckets_in_words": "; ".join(in_words(bucket) for bucket in buckets),
            "tiers": ", ".join(sorted({bucket["tier"] for bucket in buckets})), "limits": _limits(winner),
            "forced": _forced(facts["overridden"], facts["refused"]), "tests": _tests(Tested(**facts["tests"])),
            "replaces": facts.get("replaces", "The function that it replaces compares itself with it first: `apply` and the "
                                  "layer for `kernelize` do that, with inputs of other scales, too."),
            "constants": _constants(facts["constants"])}


def _forced(overridden: list[str], refused: bool) -> str:
    """The notice at the top of the report; empty if nothing was overridden."""
    if not overridden:
        return ""
    return "\n".join(["> **Not published:**" if refused else "> **Published with `--force`, although:**", ">", *(f"> - {each}" for each in overridden), "", ""])


def _tests(tested: Tested) -> str:
    listed = [f"{what}: {'; '.join(each)}" for what, each in (("Failures", tested.failures), ("Skipped", tested.skipped)) if each]
    return ". ".join([tested.words, *listed]) + "."


def _constants(constants: dict[str, Any]) -> str:
    said = [f"`{name}` is {' or '.join(map(repr, values))}, an argument: a call with another value takes the plain path"
            for name, values in constants["arguments"].items()]
    said += [f"`{path}` is {value!r}, and the kernels fix it: a module with another value is not served"
             for path, value in constants["fixed"].items()]
    if constants["literals"]:
        said.append(f"the module's code has {', '.join(constants['literals'])}")
    return "; ".join(said) + "." if said else "None is known."


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
    tf32 = " Products are TF32: set torch.backends.cuda.matmul.allow_tf32 to get the same."
    return (f"The reference {how}, in a CUDA graph: neither time includes launches from Python. Called from Python, short "
            f"kernels may gain more or less than that.{tf32 if winner.precision == 'tf32' else ''} "
            f"Toolchain: {winner.figures['toolchain']}.")


def _gain(facts: dict[str, Any]) -> str:
    each = "; ".join(f"{ratio(bucket['speedup'])} at {in_words(bucket)}" for bucket in facts["buckets"])
    return f"On {facts['hardware']} a call is faster than the reference in PyTorch, both in a CUDA graph: {each}."


def _limits(winner: Winner) -> str:
    if "cpp_extension" in winner.text:
        return "The kernel is compiled by PyTorch when it is first called, which needs nvcc."
    return "Nothing was measured on other devices."
