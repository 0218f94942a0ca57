"""The keys of run.yaml for an OpenEvolve configuration."""

from __future__ import annotations

import random
import sys
from typing import Any

from .config import Config


def evaluator_section(parallel: int) -> dict[str, Any]:
    """run.yaml's section `evaluator`. It is set again in each session, because a run folder is not trusted to
    name an interpreter or to disable the sandbox."""
    return {"kind": "python", "python": sys.executable, "sandbox": "none", "parallel": parallel}


def settings_for(config: Config, axes: list[dict[str, Any]]) -> dict[str, Any]:
    """The keys of run.yaml for the configuration, without the budget."""
    database = config.database
    seed = config.random_seed if config.random_seed is not None else database.random_seed
    drawn = seed is None
    workers = int(config.evaluator.parallel_evaluations)
    period = database.migration_interval * database.num_islands / max(1, config.max_iterations)
    weighted = max(0.0, 1.0 - database.exploration_ratio - database.exploitation_ratio)
    return {
        "random_seed": random.SystemRandom().getrandbits(32) if drawn else abs(int(seed)),
        "deterministic": not drawn, "pipeline": workers, "workers": workers, "archive": {"axes": axes},
        "islands": {"count": int(database.num_islands), "topology": "ring"},
        "migration": {"kind": "best", "period": min(1.0, period),
                      "count": max(1, min(1000, round(database.migration_rate * database.migration_interval)))},
        "sampler": {"kind": "mixture", "explore": database.exploration_ratio, "exploit": database.exploitation_ratio,
                    "weighted": weighted, "elite_fraction": min(1.0, max(1e-9, database.elite_selection_ratio)),
                    "top": config.prompt.num_top_programs + config.prompt.num_diverse_programs,
                    "inspirations": config.prompt.num_top_programs, "failures": 0},
        "limits": {"repairs": 0, "duels": 0, "confirm": False, "idle_iterations": 1_000_000_000},
    }
