"""The addresses of tensors while a plan is recorded. They are numbers without memory. Every storage has an address of
its own, far from all others, and no address is reused. So caches keyed by address work, and an address that became a
number in the plan identifies its storage. A second recording uses `mirrored` addresses: every bit above the alignment
is inverted, and the order is reversed. It gives the same plan unless something was computed from an address.
"""

from __future__ import annotations

import bisect
import random

import torch

# The alignment of PyTorch's allocator on a GPU.
ALIGNMENT = 512
# CUDA's addresses have 47 bits. Integers in programs are rarely in this range.
_FIRST, _END = 1 << 40, 1 << 47
_APART = 1 << 24
# The number of places after a gap from which one is drawn, in multiples of the alignment.
_PLACES = 1 << 20


class Addresses:
    """The addresses of one recording. Not thread-safe."""

    def __init__(self, seed: int = 0, mirrored: bool = False) -> None:
        self._random = random.Random(seed)
        self._flipped = _END - ALIGNMENT if mirrored else 0
        self._known: dict[int, int] = {}  # by identity of the storage
        self._storages: dict[int, torch.UntypedStorage] = {}  # by address; keeps storages alive, and so their identities
        self._sorted: list[int] = []
        self._last, self._last_size = _FIRST, 0

    @property
    def told(self) -> bool:
        """Whether any address was handed out. If not, nothing can depend on an address."""
        return bool(self._known)

    def address_of(self, tensor: torch.Tensor) -> int:
        """The tensor's address; 0 if the tensor has no elements, as in PyTorch."""
        if tensor.numel() == 0:
            return 0
        return self.of_storage(tensor.untyped_storage()) + offset_of(tensor)

    def of_storage(self, storage: torch.UntypedStorage) -> int:
        known = self._known.get(storage._cdata)
        return self._place(storage) if known is None else known

    def find(self, address: int) -> tuple[torch.UntypedStorage, int] | None:
        """The storage that contains or ends at this address, and the offset in it."""
        at = bisect.bisect_right(self._sorted, address) - 1
        if at < 0:
            return None
        storage, offset = self._storages[self._sorted[at]], address - self._sorted[at]
        return (storage, offset) if offset <= storage.nbytes() else None

    def _place(self, storage: torch.UntypedStorage) -> int:
        size = storage.nbytes()
        # A mirrored storage lies below the previous one, so the gap must have room for the larger of the two.
        room = -(-max(size, self._last_size) // ALIGNMENT) * ALIGNMENT
        self._last += room + _APART + ALIGNMENT * self._random.randrange(_PLACES)
        self._last_size = size
        if self._last + size >= _END:
            raise MemoryError("more than 2^47 bytes of tensors whose addresses were asked for")
        address = self._last ^ self._flipped
        self._known[storage._cdata], self._storages[address] = address, storage
        bisect.insort(self._sorted, address)
        return address


def offset_of(tensor: torch.Tensor) -> int:
    """The tensor's offset in its storage, in bytes."""
    return tensor.storage_offset() * tensor.element_size()
