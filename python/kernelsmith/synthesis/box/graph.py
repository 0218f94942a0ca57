"""What a plan computes: its operators in order, which of them read which, and whether outputs depend on inputs."""

from __future__ import annotations

from typing import Any

MOST_OPERATORS = 2_000


def graph(plan: dict[str, Any]) -> dict[str, Any]:
    """`operators`: [name, places of the operators that it reads]; `outputs`: for each whether it depends on an input, and
    `shapes` of all outputs."""
    alternative = plan["alternatives"][0]
    maker: dict[int, int] = {}
    live = {one["id"] for one in plan["inputs"]}
    operators = []
    for entry in alternative["ops"]:
        if "aten" not in entry:
            continue
        read = _ids([entry["args"], list(entry["kwargs"].values())])
        made = _ids(entry["out"])
        operators.append([entry["aten"].removeprefix("aten::"), sorted({maker[one] for one in read if one in maker})])
        if any(one in live for one in read):
            live.update(made)
            # An operator in place changes what it was given.
            live.update(one for one in read[:1] if entry["aten"].endswith("_"))
        for one in made:
            maker[one] = len(operators) - 1
    outputs = alternative.get("outputs", plan.get("outputs", []))
    return {"operators": operators, "depends": [one["id"] in live for one in outputs],
            "same": [one["id"] not in maker for one in outputs],
            "outputs": [[one["dtype"], one["shape"]] for one in outputs]}


def _ids(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [value["t"]] if "t" in value else []
    return [one for part in value for one in _ids(part)] if isinstance(value, list) else []
