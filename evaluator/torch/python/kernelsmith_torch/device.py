"""The device that a candidate believes to have: its figures by compute capability."""

from __future__ import annotations

import types
from dataclasses import dataclass

# Compute capability: a device of it, multiprocessors, bytes of shared memory that a block may have, of memory, of L2.
# An honest candidate chooses grids by them; a plan for another device of the capability runs all the same.
_FIGURES = {
    75: ("Tesla T4", 40, 65536, 16 << 30, 4 << 20),
    80: ("NVIDIA A100-SXM4-80GB", 108, 166912, 80 << 30, 40 << 20),
    86: ("NVIDIA A10", 72, 101376, 24 << 30, 6 << 20),
    89: ("NVIDIA L40S", 142, 101376, 48 << 30, 96 << 20),
    90: ("NVIDIA H100 80GB HBM3", 132, 232448, 80 << 30, 50 << 20),
    100: ("NVIDIA B200", 148, 232448, 180 << 30, 126 << 20),
    103: ("NVIDIA B300", 148, 232448, 270 << 30, 126 << 20),
    120: ("NVIDIA GeForce RTX 5090", 170, 101376, 32 << 30, 96 << 20),
}


@dataclass(frozen=True)
class Device:
    arch: int
    name: str
    multiprocessors: int
    shared: int
    memory: int
    l2: int

    @staticmethod
    def of(arch: int) -> Device:
        """ValueError if the capability is unknown."""
        if arch not in _FIGURES:
            raise ValueError(f"no figures for compute capability {arch}: one of {', '.join(map(str, _FIGURES))}")
        return Device(arch, *_FIGURES[arch])

    def for_triton(self) -> dict[str, int]:
        return {"max_shared_mem": self.shared, "max_num_regs": 65536, "multiprocessor_count": self.multiprocessors,
                "warpSize": 32, "sm_clock_rate": 1_980_000, "mem_clock_rate": 2_619_000, "mem_bus_width": 5120}

    def for_torch(self) -> types.SimpleNamespace:
        major, minor = divmod(self.arch, 10)
        return types.SimpleNamespace(
            name=self.name, major=major, minor=minor, total_memory=self.memory, L2_cache_size=self.l2,
            multi_processor_count=self.multiprocessors, warp_size=32, max_threads_per_block=1024,
            max_threads_per_multi_processor=1024 if self.arch == 75 else 1536 if self.arch in (86, 89, 120) else 2048,
            regs_per_multiprocessor=65536, shared_memory_per_block=49152, shared_memory_per_block_optin=self.shared,
            shared_memory_per_multiprocessor=self.shared + 1024, is_integrated=False, gcnArchName="")
