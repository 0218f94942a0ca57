"""A device's peak rates, for estimates."""

from __future__ import annotations

from dataclasses import dataclass

from .. import _core
from .._errors import Error

ASSUMED = "NVIDIA H100 80GB HBM3"


@dataclass(frozen=True)
class Device:
    """Memory in bytes per us; products in operations per us, by precision. `launch_us` is the shortest time of a kernel."""

    name: str
    memory: float
    products: dict[str, float]
    launch_us: float = 2.0

    def bound_us(self, flops: dict[str, float], bytes_moved: float, kernels: int = 1) -> tuple[float, str]:
        """The shortest possible time of this work, and what limits it."""
        times = {"compute": sum(count / self.products[kind] for kind, count in flops.items()),
                 "memory": bytes_moved / self.memory, "launches": kernels * self.launch_us}
        bound = max(times, key=lambda kind: times[kind])
        return times[bound], bound


def device_of(name: str) -> Device:
    """Raises Error for a device whose peaks are unknown."""
    known = _core.gpu_peaks()
    for key, peaks in known.items():
        if key in name:
            return Device(name, 1e3 * peaks["memory"], {kind: 1e6 * peaks[kind] for kind in ("fp32", "tf32", "half")})
    raise Error(f"the peaks of {name!r} are unknown", "bad_input", "--gpu",
                f"name one of {', '.join(known)}; the ratios are then for that GPU")
