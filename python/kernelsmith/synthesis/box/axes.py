"""Finds the ranks of a plan's tensors, as far as its operators determine them, and reductions over other than
the last axes."""

from __future__ import annotations

from typing import Any

# The position of the axes among an operator's arguments.
_REDUCED = {"mean": 1, "sum": 1, "var": 1, "std": 1, "var_mean": 1, "amax": 1, "amin": 1, "max": 1, "min": 1, "argmax": 1,
            "argmin": 1, "prod": 1, "logsumexp": 1, "norm": 2, "linalg_vector_norm": 2}
_ALONG = {"_softmax": 1, "_log_softmax": 1, "softmax": 1, "cumsum": 1, "cumprod": 1}
_BY_LIST = frozenset({"view", "_unsafe_view", "reshape", "expand", "permute"})  # makes an axis for each item
_MORE = {"unsqueeze": 1, "squeeze": -1, "select": -1}


class Ranks:
    """Follows a plan, operator by operator."""

    def __init__(self, inputs: list[dict[str, Any]]) -> None:
        self._of = {one["id"]: len(one["shape"]) for one in inputs}

    def is_outer(self, name: str, entry: dict[str, Any], read: list[int], made: list[int]) -> bool:
        """Whether the operator works along axes other than the last ones, which is a different task."""
        given = entry["args"]
        rank = max((self._of.get(one, 0) for one in read), default=0)
        place = _REDUCED.get(name, _ALONG.get(name))
        axes = given[place] if place is not None and len(given) > place else []
        axes = [one for one in (axes if isinstance(axes, list) else [axes]) if isinstance(one, int)]
        self._of.update(dict.fromkeys(made, _rank_of(name, entry, rank, len(axes) or rank)))
        reduced = {one % rank for one in axes} if rank else set()
        return reduced != set(range(rank - len(reduced), rank))


def _rank_of(name: str, entry: dict[str, Any], rank: int, axes: int) -> int:
    given = entry["args"]
    if name == "convolution":
        return len(given[3]) + 2
    if name in _BY_LIST and len(given) > 1 and isinstance(given[1], list):
        return len(given[1])
    if name in _REDUCED and True not in given[_REDUCED[name] + 1:] and not entry["kwargs"].get("keepdim"):
        return rank - axes
    return rank + _MORE.get(name, 0)
