"""The device of a worker: its facts, its settings, and helpers for its clock. CPU and CUDA have the same few
functions; the CPU is for tests. Not thread-safe.
"""

from __future__ import annotations

import contextlib
import ctypes
import platform
import resource
import secrets
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from . import judge
from .layout import Arrangement
from .memory import CONTEXT

# A test's plan may request any amount of memory; that must fail in this process, not on the machine.
_CPU_MEMORY = 4 << 30
# The memory that a CPU reports, so that tasks have the same layout on it as on a GPU.
_CPU_TELLS = 80 << 30
# The last cache of a CPU that does not report one.
_CPU_CACHE = 32 << 20
# Alignment of storages: kernels may assume any alignment up to this (Triton assumes 16 bytes).
_ALIGNMENT = 256
LARGEST_GAP = 1 << 20
"""The limit of the random gaps between inputs. They keep a kernel from knowing where another call's inputs
are."""
SMALL_GAP = 1 << 12
"""The same limit for the gaps between parameters. A model may have hundreds of them, and every call reads the same
ones."""
PRECISIONS = ("fp32", "tf32", "bf16", "fp16")

CHUNK = 1 << 22
"""The number of elements that are processed together. It bounds the extra memory of comparisons and hashes (some 200
MB)."""


def pieces(count: int, row: int = 1) -> Iterator[slice]:
    """Ranges of at most CHUNK elements up to `count`, of whole rows."""
    step = CHUNK // row * row
    for start in range(0, count, step):
        yield slice(start, min(start + step, count))


class Device:
    """A CUDA device, or the CPU if `index` is None."""

    def __init__(self, index: int | None) -> None:
        self.is_cuda = index is not None
        self.outside = 0
        """Bytes of the device that this process holds outside of PyTorch's allocator."""
        self.cpu_memory = _CPU_TELLS
        """The memory that the CPU reports; tests make it small."""
        self.torch = torch.device("cuda", index) if self.is_cuda else torch.device("cpu")
        if not self.is_cuda:
            resource.setrlimit(resource.RLIMIT_AS, (_CPU_MEMORY, _CPU_MEMORY))
            torch.set_num_threads(1)
            return
        if torch.version.cuda is None:
            others = " (it is ROCm's, and modules run on NVIDIA's GPUs only)" if torch.version.hip else ""
            raise RuntimeError(f"PyTorch {torch.__version__} is built without CUDA{others}")
        torch.cuda.set_device(self.torch)
        name = torch.cuda.get_device_name(self.torch)
        if name.startswith("MetaX"):  # MetaX's PyTorch keeps CUDA's names
            raise RuntimeError(f"modules run on NVIDIA's GPUs only, and this is a {name}")
        torch.zeros(1, device=self.torch)  # makes the context

    def facts(self) -> dict[str, Any]:
        """The fields of the reply to hello."""
        if not self.is_cuda:
            return {"device": platform.processor() or platform.machine(), "bus_id": "", "capability": [0, 0],
                    "l2_bytes": _CPU_CACHE, "memory_bytes": self.memory()[0]}
        properties = torch.cuda.get_device_properties(self.torch)
        return {"device": properties.name, "bus_id": _bus_id(properties), "capability": [properties.major, properties.minor],
                "l2_bytes": properties.L2_cache_size, "memory_bytes": self.memory()[0]}

    def memory(self) -> tuple[int, int, int]:
        """The device's total bytes, free bytes, and bytes that this process holds."""
        if not self.is_cuda:
            return self.cpu_memory, self.cpu_memory, 0
        free, total = torch.cuda.mem_get_info(self.torch)
        return total, free, torch.cuda.memory_reserved(self.torch) + self.outside + CONTEXT

    @contextmanager
    def peak(self) -> Iterator[list[int]]:
        """On exit the list holds the peak of the memory that was allocated meanwhile, beyond the amount
        before; 0 on the CPU."""
        found: list[int] = []
        if self.is_cuda:
            torch.cuda.reset_peak_memory_stats(self.torch)
        before = torch.cuda.memory_allocated(self.torch) if self.is_cuda else 0
        yield found
        found.append(torch.cuda.max_memory_allocated(self.torch) - before if self.is_cuda else 0)

    def limit(self, size: int) -> None:
        """Limits PyTorch's allocator from now on."""
        if self.is_cuda:
            total = self.memory()[0]
            torch.cuda.set_per_process_memory_fraction(min(max(size, 0) / total, 1.0), self.torch)

    def give_back(self) -> None:
        """Frees the caches of PyTorch's allocator. Ignores a lost device, which is reported elsewhere."""
        if self.is_cuda:
            with contextlib.suppress(RuntimeError):
                torch.cuda.empty_cache()

    def drop_workspaces(self) -> bool:
        """Frees PyTorch's workspaces for cuBLAS, and returns whether there were any. No recorded call may use them."""
        if not self.is_cuda:
            return False
        before = torch.cuda.memory_allocated(self.torch)
        torch._C._cuda_clearCublasWorkspaces()
        return torch.cuda.memory_allocated(self.torch) < before

    def finish(self) -> None:
        """Waits for all work of the device; raises its error."""
        if self.is_cuda:
            torch.cuda.synchronize(self.torch)

    def stream(self) -> int:
        """The driver's handle of a CUDA device's current stream."""
        return torch.cuda.current_stream(self.torch).cuda_stream

    def mark(self) -> Any:
        """An event after all work of the current stream; on the CPU it is already complete."""
        if not self.is_cuda:
            return _Come()
        event = torch.cuda.Event()
        event.record(torch.cuda.current_stream(self.torch))
        return event


class _Come:
    def query(self) -> bool:
        return True


def _bus_id(properties: Any) -> str:
    """The GPU's name for every process of the machine: "0000:65:00.0", as the driver writes it."""
    try:
        return f"{properties.pci_domain_id:04x}:{properties.pci_bus_id:02x}:{properties.pci_device_id:02x}.0"
    except AttributeError:  # an older PyTorch
        return str(properties.uuid)


def use_precision(precision: str) -> None:
    """Enables TF32 for every library if the task declares less than fp32, else for none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # since 2.9 these settings have new names; old and new must not be mixed
        torch.backends.cuda.matmul.allow_tf32 = precision != "fp32"
        torch.backends.cudnn.allow_tf32 = precision != "fp32"
    torch.backends.cudnn.benchmark = False


@contextmanager
def full_precision(precision: str) -> Iterator[None]:
    """Disables TF32 within; restores `precision` afterwards."""
    use_precision("fp32")
    try:
        yield
    finally:
        use_precision(precision)


class _Memory:
    """A part of a slab with CUDA's array interface; a tensor made from it has a storage of its own."""

    def __init__(self, address: int, size: int) -> None:
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (address, False), "version": 3}


def wrap(address: int, size: int, device: torch.device) -> torch.Tensor:
    """Memory at an address as a tensor of bytes, which does not own it: no operator can resize its storage."""
    if size == 0:
        return torch.empty(0, dtype=torch.uint8, device=device)
    if device.type == "cpu":
        return torch.frombuffer((ctypes.c_uint8 * size).from_address(address), dtype=torch.uint8)
    return torch.as_tensor(_Memory(address, size), device=device)


def place(arrangement: Arrangement, device: Device, largest_gap: int = LARGEST_GAP) -> tuple[list[torch.Tensor], Any]:
    """Uninitialised tensors with this layout, in storages at irregular addresses, and the owner of their memory."""
    offsets, end = [], 0
    sizes = arrangement.sizes()
    for size in sizes:
        end += _ALIGNMENT * secrets.randbelow(largest_gap // _ALIGNMENT)
        offsets.append(end)
        end = (end + size + _ALIGNMENT - 1) // _ALIGNMENT * _ALIGNMENT
    slab = torch.empty(end, dtype=torch.uint8, device=device.torch)
    return arrangement.over([wrap(slab.data_ptr() + offset, size, device.torch) for offset, size in zip(offsets, sizes)]), slab


def as_words(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's elements as flat bytes or 32-bit words, in the order of its indices."""
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    if flat.is_complex():
        flat = torch.view_as_real(flat).reshape(-1)
    data = flat.view(torch.uint8)
    return data.view(torch.int32) if data.numel() % 4 == 0 and data.storage_offset() % 4 == 0 else data


PUBLIC_KEY = (1 << 62) + 1
"""The key for digests whose knowledge would not help a candidate's kernel."""


def secret_key() -> int:
    """A key for hash_of(), which stays on the host."""
    return secrets.randbits(64)


def hash_of(tensor: torch.Tensor, key: int = PUBLIC_KEY) -> torch.Tensor:
    """A hash of a tensor's elements, one int64 on its device: the sum of its words, each times a weight of its place.

    Weights are drawn from the key. A change of words by d goes unnoticed if the sum of d[i] * weight[i] is 0 modulo 2^64.
    No d[i] has the factor 2^32, so without knowledge of the key the probability is 1 / 2^33.
    """
    words = as_words(tensor)
    parts = judge.parts_of(words.numel())
    sums = torch.empty(judge.waves(words.device, parts), dtype=torch.int64, device=words.device)
    judge.run("hash", str(words.element_size()), words.device, parts, words, words.numel(), key, sums)
    return sums.sum()


def hashes_of(tensors: list[torch.Tensor], key: int = PUBLIC_KEY) -> list[int]:
    """The tensors' hashes, on the host."""
    hashes = [hash_of(tensor, key) for tensor in tensors]
    return torch.stack([value.to(hashes[0].device) for value in hashes]).tolist() if hashes else []


class Seal:
    """Detects changes of tensors since the seal was closed. Key and hashes stay on the host, where no kernel can read
    them; on the device a key is only an argument of our own kernels. The caller wipes what these leave in free
    memory."""

    def __init__(self, tensors: list[torch.Tensor]) -> None:
        self._tensors = tensors
        self.close()

    def close(self) -> None:
        """Starts again with a new key."""
        self._key = secret_key()
        self._hashes = hashes_of(self._tensors, self._key)

    def intact(self) -> bool:
        return hashes_of(self._tensors, self._key) == self._hashes
