"""Finds hot spots: the modules that would gain most as one kernel, with the gain of the whole model
(Amdahl)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .devices import Device
from .graph import Graph, Operator


@dataclass(frozen=True)
class HotSpot:
    """Modules that do the same work on the same shapes. Times are sums over the modules. `bound_us` is their
    time at the roofline, if each product is one kernel with all work around it, and a module without a
    product is one kernel."""

    paths: list[str]
    kind: str
    operators: int
    kernels: int
    time_us: float
    bound_us: float
    bound: str
    share: float

    @property
    def calls(self) -> int:
        return len(self.paths)

    @property
    def headroom(self) -> float:
        return self.time_us / self.bound_us

    @property
    def whole(self) -> float:
        """The whole model's speedup if these modules took only their bound_us."""
        return amdahl(self.share, self.headroom)


def amdahl(share: float, speedup: float) -> float:
    return 1 / (1 - share + share / speedup)


def hot_spots(graph: Graph, device: Device, measured_us: Mapping[str, float] | None = None) -> list[HotSpot]:
    """The hot spots, ranked by the gain of the whole model. `measured_us` has times by module path; without
    it times are estimated by operator."""
    total = _time(graph.operators, device) if measured_us is None else measured_us[""]
    groups: dict[tuple[str, ...], list[str]] = {}
    within: dict[str, list[Operator]] = {}
    for operator in graph.operators:
        for path in operator.modules:
            within.setdefault(path, []).append(operator)
    for path, operators in within.items():
        groups.setdefault((graph.classes.get(path, ""), *(each.key for each in operators)), []).append(path)
    found = [_hot_spot(graph, device, paths, within, total, measured_us) for paths in groups.values()]
    worked = [each for each in found if each.kernels > 0 and each.time_us > 0]
    return sorted(worked, key=lambda each: (-each.whole, each.paths[0]))


def _hot_spot(graph: Graph, device: Device, paths: list[str], within: dict[str, list[Operator]], total: float,
              measured_us: Mapping[str, float] | None) -> HotSpot:
    operators = within[paths[0]]
    bound_us, bound = _bound(graph, device, operators)
    kernels = sum(each.kernels for each in operators)
    if measured_us is None:
        time = len(paths) * _time(operators, device)
    else:
        time = sum(measured_us.get(path, 0.0) for path in paths)
    kind = graph.classes.get(paths[0], "").rpartition(".")[2]
    return HotSpot(paths, kind, len(operators), kernels, time, min(len(paths) * bound_us, time), bound, time / total)


def _time(operators: list[Operator], device: Device) -> float:
    """The operators' time at the roofline, if each operator is a kernel that reads and writes memory."""
    return sum(device.bound_us(each.flops, each.moved, each.kernels)[0] for each in operators if each.kernels)


def _bound(graph: Graph, device: Device, operators: list[Operator]) -> tuple[float, str]:
    as_one = device.bound_us({}, _moved_as_one(graph, operators))
    products = [device.bound_us(each.flops, each.moved) for each in operators if each.flops]
    if sum(time for time, _ in products) > as_one[0]:
        return sum(time for time, _ in products), max(products)[1]
    return as_one


def _moved_as_one(graph: Graph, operators: list[Operator]) -> float:
    """The bytes that the operators move as one kernel: inputs from outside, and outputs that are used
    outside."""
    inside = {each.gives for each in operators}
    taken = {name for each in operators for name in each.takes} - inside
    given = {name for name in inside if graph.users[name] - inside}
    return sum(graph.sizes[name] for name in taken | given)


_LEAST_GAIN = 1.005  # of the whole model: below that a task is not worth its search


def chosen(spots: list[HotSpot], most: int, most_kernels: int) -> list[HotSpot]:
    """The best hot spots for tasks: they are small enough, the whole model gains, and none lies within
    another."""
    picked: list[HotSpot] = []
    for spot in spots:
        fits = spot.kernels <= most_kernels and spot.whole >= _LEAST_GAIN
        if len(picked) < most and fits and not any(_overlap(spot, other) for other in picked):
            picked.append(spot)
    return picked


def _overlap(one: HotSpot, other: HotSpot) -> bool:
    return any(a == b or a.startswith(b + ".") or b.startswith(a + ".") for a in one.paths for b in other.paths)
