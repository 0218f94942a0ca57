"""The graph of a plan: its operators in order, their dependencies, and whether outputs depend on inputs."""

from __future__ import annotations

from typing import Any

from .axes import Ranks

MOST_OPERATORS = 2_000
_OF_TWO = frozenset({"add", "sub", "mul", "div"})


def graph(plan: dict[str, Any]) -> dict[str, Any]:
    """The plan's graph. `operators`: the name of each operator, and the places of the operators that it
    reads. For each output, `depends` says whether it depends on an input, `same` whether no operator made it,
    and `outputs` has its type and shape."""
    alternative = plan["alternatives"][0]
    maker: dict[int, int] = {}
    live = {one["id"] for one in plan["inputs"]}
    ranks = Ranks(plan["inputs"])
    operators = []
    for entry in alternative["ops"]:
        if "aten" not in entry:
            continue
        read = _ids([entry["args"], list(entry["kwargs"].values())])
        made = _ids(entry["out"])
        outer = "_outer" if ranks.is_outer(entry["aten"].removeprefix("aten::"), entry, read, made) else ""
        operators.append([_name(entry) + outer, sorted({maker[one] for one in read if one in maker})])
        if any(one in live for one in read):
            live.update(made)
            # An in-place operator changes its argument.
            live.update(one for one in read[:1] if entry["aten"].endswith("_"))
        for one in made:
            maker[one] = len(operators) - 1
    outputs = alternative.get("outputs", plan.get("outputs", []))
    return {"operators": operators, "depends": [one["id"] in live for one in outputs],
            "same": [one["id"] not in maker for one in outputs],
            "outputs": [[one["dtype"], one["shape"]] for one in outputs]}


def _name(entry: dict[str, Any]) -> str:
    """The operator's name, with details that change its meaning: a convolution's kind, and a number instead of a second
    tensor."""
    name = entry["aten"].removeprefix("aten::")
    given = entry["args"]
    if name == "convolution":
        stride, transposed, groups = given[3], given[6], given[8]
        return f"conv{'_transpose' if transposed else ''}{len(stride)}d{'_grouped' if groups > 1 else ''}"
    if name.rstrip("_") in _OF_TWO and len(given) > 1 and isinstance(given[1], (int, float)):
        return f"{name.rstrip('_')}_scalar"
    return str(name)


def _ids(value: Any) -> list[int]:
    if isinstance(value, dict):
        return [value["t"]] if "t" in value else []
    return [one for part in value for one in _ids(part)] if isinstance(value, list) else []
