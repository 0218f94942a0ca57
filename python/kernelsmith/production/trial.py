"""Makes a kernel's module twice, in another process, to detect data that the constructor prepares from
weights or draws at random. A package cannot contain such data.

Run this file as `python trial.py KERNEL.py STATES`; it prints JSON."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

_PATIENCE_S = 300


def objections(kernel: Path, states: list[str], init: list[Any]) -> str:
    """Why the kernel cannot be in a package; empty if it can."""
    command = [sys.executable, __file__, str(kernel), json.dumps([states, init])]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PATIENCE_S)
    lines = done.stdout.splitlines()
    if done.returncode != 0 or not lines:
        return "it cannot be made here: " + (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
    own = json.loads(lines[-1])
    return f"its constructor makes {', '.join(own)} from weights or by chance" if own else ""


def _own_tensors(made: Any, states: list[str]) -> dict[str, Any]:
    held = {name: value for name, value in (*made.named_parameters(), *made.named_buffers()) if name not in states}
    for path, module in made.named_modules():
        held.update({f"{path}.{name}".lstrip("."): value for name, value in vars(module).items()
                     if type(value).__module__.startswith("torch") and hasattr(value, "storage")})
    return held


def _differing(kernel: str, states: list[str], init: list[Any]) -> list[str]:
    import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]

    specification = importlib.util.spec_from_file_location("kernel", kernel)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    twice = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        with torch.no_grad():
            twice.append(_own_tensors(module.ModelNew(*init), states))
    return [name for name, value in twice[0].items() if not torch.equal(value, twice[1][name])]


if __name__ == "__main__":
    print(json.dumps(_differing(sys.argv[1], *json.loads(sys.argv[2]))))
