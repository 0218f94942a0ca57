"""The columns of each kind, with types that both JSON and Parquet have."""

from __future__ import annotations

from typing import Any

# A type is str, int, float or bool, [type] for a list, {name: type} for a struct.
Type = Any
MESSAGES: Type = [{"role": str, "content": str}]


def _three(name: str) -> dict[str, Type]:
    return {name: float, f"{name}_low": float, f"{name}_high": float}


# Keys of a kept reply (docs/formats.md).
ASKED: dict[str, Type] = {"temperature": float, "top_p": float, "max_output_tokens": int, "reasoning_effort": str,
                          "finish_reason": str, "template_digest": str}
_STEP: dict[str, Type] = {"task": str, "family": str, "level": int, "operator": str, "origin": str, "model": str,
                          "hardware": str, "licence": str, "run": str, "ticket": int, **ASKED}
_MEASURED: dict[str, Type] = {**_three("speedup"), **_three("score"), "score_of": str, **_three("gain"), "gain_by": str,
                              "own_share": float}
_PARENT: dict[str, Type] = {"parent_code": str, "parent_speedup": float}

COLUMNS: dict[str, dict[str, Type]] = {
    "sft": {"_id": str, "messages": MESSAGES, "uuid": str, "reasoning": str, "step": str, "form_followed": bool,
            **_STEP, **_MEASURED},
    "rl": {
        "data_source": str, "agent_name": str, "prompt": MESSAGES, "ability": str,
        "reward_model": {"style": str, "ground_truth": str},
        "extra_info": {"entry_point": str, **_PARENT, "parent_binary": str, "uuid": str, "task": str, "index": int, "split": str},
        "reference_code": str, **_PARENT, "parent_binary": str, "entry_point": str, "uuid": str, **_STEP, **_MEASURED},
    "multiturn": {
        "messages": MESSAGES, "uuid": str, "turns": int, "turn_tickets": [int], "turn_correct": [bool],
        "turn_scores": [float], "form_followed": bool, "reference_code": str, **_PARENT, "entry_point": str, **_STEP,
        **_MEASURED},
    "preference": {
        "prompt": MESSAGES, "chosen": MESSAGES, "rejected": MESSAGES, "uuid": str, "same_prompt": bool,
        "rejected_ticket": int, "rejected_correct": bool, "rejected_why": str, **_three("rejected_score"),
        **_three("margin"), **_STEP, **_MEASURED},
}


def taken(row: dict[str, Any], columns: dict[str, Type]) -> dict[str, Any]:
    """The columns of a row, in their order. Raises KeyError if the row lacks one."""
    return {name: row[name] for name in columns}
