"""Writes a package. The kinds `module` and `torch-op` need only PyTorch; `hf-kernel` is for Hugging Face's
`kernels`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import write
from .texts import RUNTIME, template, texts
from .trial import objections
from .winners import Winner

_CORE = ("agreement.py", "dispatch.py", "op.py", "sizes.py", "state.py")
_OF_KIND = {"module": {"__init__.py": "init_module.py", "_ops.py": "namespace.py", "module.py": "module.py"},
            "torch-op": {"__init__.py": "init_op.py", "_ops.py": "namespace.py"},
            "hf-kernel": {"__init__.py": "init_hub.py", "layers.py": "layers.py"}}


def write_package(out: Path, kind: str, facts: dict[str, Any], winners: list[Winner], more: Mapping[str, str]) -> Path:
    """Writes the package into a new folder. Returns the Python package within it. Raises Error."""
    if out.exists() and any(out.iterdir()):
        raise Error("the folder is not empty", "invalid_argument", str(out), "name a new folder")
    home = Path("torch-ext" if kind == "hf-kernel" else ".") / str(facts["name"])
    words = {**facts, **more, "home": home.parent.as_posix(), "kind": kind}
    files = {home / name: text for name, text in _package(kind, facts, winners, words).items()}
    files |= {Path(name): text for name, text in _beside(kind, words).items()}
    for path, text in files.items():
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        write(out / path, text.encode("utf-8", "surrogateescape"))
    _try(out / home, facts)
    return out / home


def write_documents(out: Path, package: Path, kind: str, facts: dict[str, Any], winner: Winner, more: Mapping[str, str]) -> None:
    """Writes the report and package.json at the end, with the same facts."""
    for name, text in texts(facts, winner, kind, more).items():
        write(out / name, text.encode("utf-8", "surrogateescape"))
    write(package / "package.json", (json.dumps(facts, indent=2) + "\n").encode())


def _package(kind: str, facts: dict[str, Any], winners: list[Winner], words: Mapping[str, Any]) -> dict[str, str]:
    files = {name: template(name) for name in _CORE}
    files |= {name: template(source, words) for name, source in _OF_KIND[kind].items()}
    files |= {"reference.py": winners[0].reference, "lies.py": (RUNTIME / "lies.py").read_text(),
              "package.json": json.dumps(facts, indent=2) + "\n",
              "kernels/__init__.py": ""}
    texts_of = {(winner.run, winner.program): winner.text for winner in winners}
    for bucket in facts["buckets"]:
        files[f"kernels/{bucket['kernel']}.py"] = texts_of[bucket["run"], bucket["program"]]
    return files


def _beside(kind: str, words: Mapping[str, Any]) -> dict[str, str]:
    files = {f"tests/test_{words['name']}.py": template("test_package.py", words),
             "tests/arms.py": template("arms.py", words), "benchmark.py": template("benchmark.py", words),
             "pairs.py": (RUNTIME / "pairs.py").read_text()}
    if kind == "hf-kernel":
        files |= {"build.toml": template("build.toml", words), "flake.nix": template("flake.nix", words),
                  "benchmarks/benchmark.py": template("hub_benchmark.py", words)}
    else:
        files["pyproject.toml"] = template("pyproject.toml", words)
    return files


def _try(home: Path, facts: dict[str, Any]) -> None:
    """Raises Error if a package cannot repeat the work of the kernel's constructor."""
    for bucket in facts["buckets"]:
        arguments = bucket["arguments"]
        init = [each["value"] for each in arguments[len(arguments) - len(facts["init"]):]]
        kernel = home / "kernels" / f"{bucket['kernel']}.py"
        objection = objections(kernel, facts["states"], init)
        if objection:
            raise Error(f"the kernel cannot be published: {objection}", "bad_input", str(kernel),
                        "a kernel's constructor may make buffers only from constants")
