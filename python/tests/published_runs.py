"""Run folders of the backend torch that no GPU has seen: a scripted evaluator accepted their candidate."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from pathlib import Path

import kernelsmith as ks

HARDWARE = "NVIDIA H100 80GB HBM3"
# Said in full, so that the run is the same whatever the defaults are.
SETTINGS = {
    "archive": {"axes": [{"feature": "tokens", "scale": "linear", "low": 0, "high": 4096, "bins": 2}]},
    "islands": {"count": 1, "topology": "ring", "rejections": 4, "recent_failures": 4},
    "migration": {"period": 0.1, "kind": "best", "count": 1},
    "sampler": {"kind": "mixture", "explore": 0.2, "exploit": 0.6, "weighted": 0.2, "elite_fraction": 0.1, "top": 1,
                "inspirations": 1, "failures": 1},
    "limits": {"repairs": 0, "duels": 0, "idle_iterations": 8, "errors_in_a_row": 5},
    "pipeline": 1,
}


def _measured(speedup: float) -> dict[str, object]:
    return {"median": speedup, "low": speedup * 0.99, "high": speedup * 1.01, "samples": 20, "unit": "x"}


def report(speedup: float, hardware: str = HARDWARE, tier: str = "full", at: dict[str, float] | None = None) -> str:
    """`at`: speedups at the timed workloads, by name."""
    made = _measured(speedup)
    shapes = [{"shape": name, "timed": True, "correct": True, "error": 0.1, "runtime_us": {**_measured(10), "unit": "us"},
               "speedup": _measured(each)} for name, each in (at or {}).items()]
    return json.dumps({"shapes": shapes, "speedup": made, "over_yardstick": made, "tier": tier, "hardware": hardware,
                       "toolchain": "torch 2.11", "spent_ms": {}, "artifacts": []})


def searched(folder: Path, task: Path, candidate: str, *, speedup: float = 2.0, hardware: str = HARDWARE, tier: str = "full",
             confirm: bool = True, accepted: bool = True, at: dict[str, float] | None = None) -> Path:
    """A run over the folder `task` whose best is the candidate."""

    def score(source: ks.Source) -> ks.Evaluation:
        if not accepted:
            return ks.Evaluation.reject("wrong", "wrong_output", "correctness")
        return ks.Evaluation.accept(ks.Measurement(speedup, speedup * 0.99, speedup * 1.01, 20, "x"), {},
                                    report(speedup, hardware, tier, at))

    settings = {**SETTINGS, "limits": {**SETTINGS["limits"], "confirm": confirm}}  # type: ignore[dict-item]
    ks.run(seed={"seed.py": candidate}, evaluator=score, proposer=lambda request: ks.Refusal(code="finished"), iterations=9,
           out=folder, workers=1, deterministic=True, **settings)
    (folder / "run.yaml").write_text(json.dumps({  # which is YAML
        "version": 1, **settings, "deterministic": True, "budgets": {"iterations": 9}, "proposer": {"kind": "python"},
        "operators": [{"operator": "rewrite", "weight": 1}], "evaluator": {"kind": "torch"}}))
    copied = folder / "task"
    copied.mkdir()
    for file in task.iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    (copied / "seed.py").write_text(candidate)
    _begin_with(folder, ks.Task(copied).digest)
    return folder


def _begin_with(folder: Path, task: str) -> None:
    """Lets the journal's first event name this task (docs/formats.md, "run.db")."""
    with sqlite3.connect(folder / "run.db") as store:
        [text] = store.execute("SELECT body FROM events WHERE position = 1").fetchone()
        body = json.loads(text)
        body["settings"]["task"] = task
        new = json.dumps(body, separators=(",", ":")).encode()
        counted = b"".join(number.to_bytes(8, "little") for number in (1, 0, len(new)))
        store.execute("UPDATE events SET body = ?, checksum = ? WHERE position = 1",
                      (new.decode(), hashlib.sha256(counted + new).digest()[:8]))
