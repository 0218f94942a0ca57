"""`kernelsmith profile`: ranks a model's hot spots, and makes tasks from them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .._errors import Error
from .._files import write
from .devices import ASSUMED, device_of
from .gpu_times import measured_us
from .graph import graph_of
from .hotspots import HotSpot, chosen, hot_spots
from .models import Loaded, Wanted, load
from .tasks import Task, write_tasks
from .torch_here import torch_here


@dataclass(frozen=True)
class Profiled:
    """If `is_measured`, times were measured on a GPU; otherwise they are estimated by operator for
    `device`."""

    name: str
    device: str
    is_measured: bool
    total_us: float
    spots: list[HotSpot]
    tasks: list[Task]


def profile(wanted: Wanted, out: Path, *, gpu: str | None = None, tasks: int = 3, most_kernels: int = 12) -> Profiled:
    """Writes profile.md, profile.json and tasks/ into a new folder. Raises Error."""
    if out.exists() and any(out.iterdir()):
        raise Error("the folder is not empty", "invalid_argument", str(out), "name a new folder")
    torch = torch_here()
    has_gpu = torch.cuda.is_available()
    loaded = load(wanted, "cuda" if has_gpu else "cpu")
    device = device_of(gpu or (torch.cuda.get_device_name() if has_gpu else ASSUMED))
    graph = graph_of(loaded)
    times = measured_us(loaded) if has_gpu else None
    spots = hot_spots(graph, device, times)
    out.mkdir(parents=True, exist_ok=True)
    made = write_tasks(loaded, chosen(spots, tasks, most_kernels), out / "tasks")
    total = spots[0].time_us / spots[0].share if spots else 0.0
    profiled = Profiled(loaded.name, device.name, has_gpu, total, spots, made)
    write(out / "profile.md", report(profiled).encode())
    write(out / "profile.json", (json.dumps(_as_json(profiled, loaded), indent=2) + "\n").encode())
    return profiled


def report(profiled: Profiled, most: int = 20) -> str:
    """The table, in Markdown."""
    how = ("GPU time by torch.profiler" if profiled.is_measured else
           "an estimate by operator (no GPU here to time kernels; a kernel counts at least 2 us)")
    lines = [f"# {profiled.name} on {profiled.device}", "", f"A step takes {profiled.total_us:.0f} us: {how}.", "",
             "| module | calls | kernels | us | share | bound | headroom | whole | where | task |",
             "|---|---|---|---|---|---|---|---|---|---|"]
    named = {task.spot.paths[0]: task.name if task.folder else f"none: {task.why_not}" for task in profiled.tasks}
    for spot in profiled.spots[:most]:
        task = named.get(spot.paths[0], "")
        lines.append(f"| {spot.kind} | {spot.calls} | {spot.kernels} | {spot.time_us:.1f} | {100 * spot.share:.1f} % | "
                     f"{spot.bound} | {spot.headroom:.2f}x | {spot.whole:.2f}x | {_where(spot)} | {task} |")
    return "\n".join([*lines, "", "*Kernels*: of one call. *Headroom*: the time over the roofline's, if each product is one kernel with",
                      "all work around it. *Whole*: the model's speedup if these modules took the roofline's time (Amdahl).", ""])


def _where(spot: HotSpot) -> str:
    return spot.paths[0] + (f" and {spot.calls - 1} more" if spot.calls > 1 else "")


def _as_json(profiled: Profiled, loaded: Loaded) -> dict[str, Any]:
    return {"model": profiled.name, "device": profiled.device, "measured": profiled.is_measured,
            "step_us": profiled.total_us, "tokens": loaded.tokens,
            "spots": [{**asdict(spot), "headroom": spot.headroom, "whole": spot.whole} for spot in profiled.spots],
            "tasks": [{"name": task.name, "paths": task.spot.paths, "weight": task.spot.calls, "share": task.spot.share,
                       "why_not": task.why_not} for task in profiled.tasks]}
