"""The columns of the data sets that Kernel-Smith and Dr. Kernel published."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._errors import Error
from .columns import COLUMNS, MESSAGES, Type
from .settings import Settings
from .tasks import TaskFacts

_Row = dict[str, Any]


def _kernel_smith_rl(row: _Row) -> _Row:
    return {"data_source": "kernel_rl", "message": row["prompt"],
            "reward_model": {"ground_truth": row["reward_model"]["ground_truth"]},
            "extra_info": {"entry_point": row["entry_point"], "parent_code": row["parent_code"]}}


def _drkernel_rounds(row: _Row) -> _Row:
    rounds = row.get("turns", 1)
    return {"messages": row["messages"], "uuid": row["uuid"], "entry_point": row["entry_point"], "repo_name": "",
            "module_name": row["task"], "final_speedup": row["speedup"], "num_rounds": rounds,
            "original_python_code": row["reference_code"], "best_round": rounds, "timestamp": "",
            "conversion_mode": row["operator"], "enable_thinking": False}


def _drkernel_rl(row: _Row) -> _Row:
    text = "\n\n".join(message["content"] for message in row["prompt"])
    extra = {"entry_point": row["entry_point"], "level": row["level"], "module_name": row["task"],
             "ops": row["operators"], "original_prompt": row["prompt"][-1]["content"], "repo_name": "",
             "type": row["family"], "uuid": row["uuid"]}
    return {"data_source": "cuda_llm", "prompt": [{"role": "user", "content": text}], "ability": "kernel_optimization",
            "reward_model": {"ground_truth": row["reference_code"], "style": "rule"}, "extra_info": extra}


_ROUNDS: dict[str, Type] = {"messages": MESSAGES, "uuid": str, "entry_point": str, "repo_name": str, "module_name": str,
                            "final_speedup": float, "num_rounds": int, "original_python_code": str, "best_round": int,
                            "timestamp": str, "conversion_mode": str, "enable_thinking": bool}
_PRESETS: dict[tuple[str, str], tuple[dict[str, Type], Callable[[_Row], _Row]]] = {
    ("kernel-smith", "sft"): ({"_id": str, "messages": MESSAGES}, lambda row: row),
    ("kernel-smith", "rl"): ({"data_source": str, "message": MESSAGES, "reward_model": {"ground_truth": str},
                              "extra_info": {"entry_point": str, "parent_code": str}}, _kernel_smith_rl),
    ("drkernel", "sft"): (_ROUNDS, _drkernel_rounds),
    ("drkernel", "multiturn"): (_ROUNDS, _drkernel_rounds),
    ("drkernel", "rl"): ({"data_source": str, "prompt": MESSAGES, "ability": str,
                          "reward_model": {"ground_truth": str, "style": str},
                          "extra_info": {"entry_point": str, "level": int, "module_name": str, "ops": [str],
                                         "original_prompt": str, "repo_name": str, "type": str, "uuid": str}},
                         _drkernel_rl),
}
# Columns that hold a PyTorch module, as in both papers' tasks.
_NEEDS_TORCH = frozenset({("kernel-smith", "rl"), ("drkernel", "sft"), ("drkernel", "multiturn"), ("drkernel", "rl")})


def columns_of(settings: Settings) -> tuple[dict[str, Type], Callable[[_Row], _Row]]:
    """The columns, and a function that makes a row from all data. Raises Error for a kind that was never published."""
    if settings.preset is None:
        return COLUMNS[settings.kind], lambda row: row
    found = _PRESETS.get((settings.preset, settings.kind))
    if found is None:
        kinds = ", ".join(kind for preset, kind in _PRESETS if preset == settings.preset)
        raise Error(f"{settings.preset} has no columns for {settings.kind}", "invalid_argument", "--preset",
                    f"it has them for {kinds}")
    return found


def check_preset(settings: Settings, task: TaskFacts) -> None:
    """Raises Error if the task lacks data for the preset's columns."""
    if settings.preset and (settings.preset, settings.kind) in _NEEDS_TORCH and not task.is_torch:
        raise Error(f"{settings.preset}'s columns hold a PyTorch module, and the task's backend is {task.backend}",
                    "bad_input", f"task {task.name}", "leave --preset out, or export this task's runs by themselves")
