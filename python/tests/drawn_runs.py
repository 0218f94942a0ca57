"""Small runs that the tests of pictures and reports draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kernelsmith as ks
import support
from scripted_model import scripted

# Everything that a candidate may try on a page: tags, entities, quotes, escapes, marks that turn text, a formula.
HOSTILE = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&lt; \x1b[31m\u202e\u2066\x00 $x^{2$"

# Adds up the knobs, and rejects a 3.
SCORE = """\
sum=0
while read -r name equals value rest; do
  if [ "$value" = 3 ]; then echo "no </script> 3" >&2; exit 7; fi
  sum=$((sum + value))
done < "$1"
echo "{\\"fitness\\": $sum}" > "$2"
"""
SEED = "".join(f"k{i} = 0  # @tune 0 1 2 3 4 5\n" for i in range(3))


def score(source: ks.Source) -> Any:
    """A hill with its top of 10 at (3, -2), measured with an interval; some of the plane is rejected."""
    x, y = map(float, source.text.split()[:2])
    if x < -1:
        raise ValueError(HOSTILE)
    if y > 2:
        return ks.Evaluation.reject("too far up", "crashed")
    fitness = 10 - ((x - 3) ** 2 + (y + 2) ** 2) ** 0.5
    measurement = ks.Measurement(fitness, fitness - 0.4, fitness + 0.3, 7, "x")
    return ks.Evaluation.accept(measurement, {"x": x, "y": y, "z": x * y})


def nudge(request: ks.Request) -> str:
    x, y = map(float, request.parent.source.text.split()[:2])
    return f"{x + request.rng.normal()} {y + request.rng.normal()}\n-- {HOSTILE}\n"


def hill(folder: Path, axes: str = "xy", iterations: int = 120) -> ks.Run:
    """A run of Python functions, with accepted and rejected programs."""
    made = [{"feature": axis, "scale": "linear", "low": -5, "high": 5, "bins": 5} for axis in axes]
    ks.run(seed="0 0\n-- the seed", evaluator=score, proposer=nudge, iterations=iterations, out=folder,
           archive={"axes": made}, deterministic=True)
    return ks.Run.open(folder)


def tuned(folder: Path) -> ks.Run:
    """A run over a task that a shell script scores."""
    task = write_task(folder.with_suffix(".task"))
    ks.run(task, iterations=60, out=folder, workers=1)
    return ks.Run.open(folder)


def begun(folder: Path) -> ks.Run:
    """A run that nothing was done in yet."""
    with ks.Engine(folder, seed="0 0", iterations=5):
        pass
    return ks.Run.open(folder)


def rejected(folder: Path) -> ks.Run:
    """A run whose only program, the seed, is rejected."""
    ks.run(seed="-9 0", evaluator=score, proposer=nudge, iterations=5, out=folder)
    return ks.Run.open(folder)


def one_program(folder: Path) -> ks.Run:
    """A run whose proposer had nothing to propose."""
    ks.run(seed="0 0", evaluator=score, proposer=lambda request: None, iterations=5, out=folder)
    return ks.Run.open(folder)


def write_task(folder: Path) -> Path:
    return support.write_task(folder, SCORE, SEED)


def _child(request: dict[str, Any], number: int) -> dict[str, Any]:
    child = "".join(f"k{i} = {(number - 1 >> i) & 1}  # @tune 0 1 2 3 4 5\n" for i in range(3))
    return {"content": f"```\n{child}```\n" if (number - 1) % 3 else "I would raise them.",
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100}}


def asked(folder: Path, priced: bool = True) -> ks.Run:
    """A run whose children come from two models, served by this process; one is called like a formula."""
    task = write_task(folder.with_suffix(".task"))
    prices = folder.with_suffix(".yaml")
    prices.write_text("version: 1\nprices:\n  - {model: big, input: 1, output: 10}\n"
                      "  - {model: 'm$x^{$', input: 2, output: 20}\n")
    with scripted(_child) as server:
        proposer = ks.Chat(["big", "m$x^{$"], base_url=server.url, **({"price_file": str(prices)} if priced else {}))
        operators = [{"operator": "rewrite", "model": model, "weight": 1} for model in ("big", "m$x^{$")]
        ks.run(task, proposer=proposer, operators=operators, iterations=12, out=folder, workers=1)
    return ks.Run.open(folder)
