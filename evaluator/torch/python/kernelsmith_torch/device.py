"""The device that a candidate sees: its properties by compute capability, or by the compiler's name for
it."""

from __future__ import annotations

import types
from dataclasses import dataclass

# By compute capability: a device's name, multiprocessors, and bytes of shared memory for a block, of memory
# and of L2. An honest candidate chooses grids by these figures, and a plan also runs on another device of the
# capability.
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


# GPUs of other vendors, by the compiler's name for them: Triton's backend, lanes of a wave, and the same
# properties in PyTorch's units. Their plans are made but not run.
_OTHERS = {
    "gfx90a": ("hip", 64, (9, 0), "AMD Instinct MI250X", 110, 65536, 64 << 30, 8 << 20),
    "gfx942": ("hip", 64, (9, 4), "AMD Instinct MI300X", 304, 65536, 192 << 30, 4 << 20),
    "gfx950": ("hip", 64, (9, 5), "AMD Instinct MI355X", 256, 163840, 288 << 30, 4 << 20),
    "gfx1100": ("hip", 32, (11, 0), "AMD Radeon RX 7900 XTX", 48, 65536, 24 << 30, 6 << 20),
    "xcore1000": ("maca", 64, (10, 0), "MetaX C550", 104, 65536, 64 << 30, 8 << 20),
}


@dataclass(frozen=True)
class Maker:
    """Names in PyTorch and Triton that differ between vendors."""

    binary: str
    """What Triton compiles kernels to."""
    registers: int
    """Registers of a multiprocessor."""
    gems: str
    """The maker's name in FlagGems."""


_MAKERS = {"cuda": Maker("cubin", 65536, "nvidia"), "hip": Maker("hsaco", 131072, "amd"),
           "maca": Maker("mcfatbin", 131072, "metax")}


@dataclass(frozen=True)
class Device:
    arch: int | str
    """Ten times major plus minor, or another maker's name: "gfx942"."""
    kind: str
    """What Triton calls such targets: cuda, hip or maca."""
    lanes: int
    capability: tuple[int, int]
    name: str
    multiprocessors: int
    shared: int
    memory: int
    l2: int

    @staticmethod
    def of(arch: int | str) -> Device:
        """Raises ValueError for an unknown device."""
        if isinstance(arch, str):
            if arch not in _OTHERS:
                raise ValueError(f"no figures for {arch!r}: one of {', '.join(_OTHERS)}")
            return Device(arch, *_OTHERS[arch])
        if arch not in _FIGURES:
            raise ValueError(f"no figures for compute capability {arch}: one of {', '.join(map(str, _FIGURES))}")
        return Device(arch, "cuda", 32, divmod(arch, 10), *_FIGURES[arch])

    @property
    def maker(self) -> Maker:
        return _MAKERS[self.kind]

    @property
    def compiler_name(self) -> str:
        return self.arch if isinstance(self.arch, str) else f"sm_{self.arch}"

    def for_triton(self) -> dict[str, int]:
        return {"max_shared_mem": self.shared, "max_num_regs": self.maker.registers,
                "multiprocessor_count": self.multiprocessors, "warpSize": self.lanes,
                "sm_clock_rate": 1_980_000, "mem_clock_rate": 2_619_000, "mem_bus_width": 5120}

    def for_torch(self) -> types.SimpleNamespace:
        major, minor = self.capability
        amd = self.kind == "hip"
        return types.SimpleNamespace(
            name=self.name, major=major, minor=minor, total_memory=self.memory, L2_cache_size=self.l2,
            multi_processor_count=self.multiprocessors, warp_size=self.lanes, max_threads_per_block=1024,
            max_threads_per_multi_processor=1024 if self.arch == 75 else 1536 if self.arch in (86, 89, 120) else 2048,
            regs_per_multiprocessor=self.maker.registers,
            shared_memory_per_block=49152 if self.kind == "cuda" else self.shared,
            shared_memory_per_block_optin=self.shared,
            shared_memory_per_multiprocessor=self.shared + (1024 if self.kind == "cuda" else 0), is_integrated=False,
            gcnArchName=f"{self.arch}:sramecc+:xnack-" if amd else "")
