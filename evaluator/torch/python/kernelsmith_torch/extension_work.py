"""Device work of an extension: entries of the tape, and cuBLAS's products as PyTorch's."""

from __future__ import annotations

import base64
import ctypes
import struct
import threading
from collections.abc import Callable
from typing import Any

import torch

from . import extension_abi as abi
from .module_check import MOST_UPLOADED
from .recording import Refused, Tape

_WORD = struct.Struct("<Q")
FAILED = -1
"""Tells the library that there was an error, whose text it already has."""


class Work:
    """Functions for the C interface. They raise no exceptions; `refused` keeps the first refusal."""

    def __init__(self, tape: Tape, readable: Callable[[bytes], str]) -> None:
        self.names: dict[str, str] = {}  # source names of launched kernels, by mangled names
        self.refused: BaseException | None = None
        self._tape, self._readable = tape, readable
        self._host: dict[int, int] = {}  # sizes of tensors with values, by address
        self._workspaces: dict[int, torch.Tensor] = {}  # by address
        self._sent = {False: 0, True: 0}  # bytes copied from the host by the setup and by a call
        self._thread = threading.get_ident()

    def note_thread(self) -> None:
        """Keeps a refusal if the extension runs in a thread of its own."""
        if threading.get_ident() != self._thread:
            self.refused = self.refused or Refused(
                "not_allowed", "device work is requested in another thread (std::thread, OpenMP): a plan is one sequence",
                "request it in the function itself; streams let kernels overlap")

    def has_values(self, address: int, size: int) -> None:
        """Notes a CPU tensor with values at the address."""
        self._host[address] = size

    def on_device(self, address: int) -> int:
        return int(self._tape.addresses.find(address) is not None)

    def allocate(self, size: int) -> int:
        return self._noting(lambda: self._workspace(size), 0)

    def _workspace(self, size: int) -> int:
        tensor = torch.empty(size, dtype=torch.uint8, device="cuda")
        address = self._tape.tell_address(tensor)
        self._workspaces[address] = tensor
        return address

    def release(self, address: int) -> int:
        return int(self._workspaces.pop(address, None) is not None)

    def act(self, operation: Any) -> int:
        return self._noting(lambda: _ACTS[operation.contents.kind](self, operation.contents), FAILED)

    def _noting(self, act: Callable[[], int | None], failed: int) -> int:
        self.note_thread()
        try:
            return act() or 0
        except BaseException as error:  # noqa: BLE001 - raised when the call ends
            self.refused = self.refused or error
            return failed

    def _launch(self, operation: abi.Operation) -> None:
        name = operation.name.decode()
        readable = self.names.setdefault(name, self._readable(operation.name))
        data = bytearray(_bytes(operation))
        pointers: list[list[Any]] = []
        for i in range(operation.parameter_count):
            offset, size = operation.parameters[2 * i], operation.parameters[2 * i + 1]
            pointers += self._relocations(data, range(offset, offset + size - 7, 8), f"kernel {readable}")
        body: dict[str, Any] = {
            "run": operation.module, "kernel": name, "grid": list(operation.grid), "block": list(operation.block),
            "shared": operation.shared}
        optional = {"cluster": list(operation.cluster) if any(operation.cluster) else None,
                    "cooperative": bool(operation.cooperative), "max_shared": operation.max_shared}
        body.update((key, v) for key, v in optional.items() if v)
        body["params"] = base64.b64encode(data).decode()
        self._tape.work(body, pointers, [number for _, number, _ in pointers])

    def _memset(self, operation: abi.Operation) -> None:
        to, at = self._place(operation.to, operation.bytes, "cudaMemset")
        body = {"memset": {"t": to}, "at": at, "bytes": operation.bytes, "value": operation.value}
        self._tape.work(body if operation.width == 1 else {**body, "width": operation.width}, None, [to])

    def _copy(self, operation: abi.Operation) -> None:
        (to, at), (source, source_at) = (self._place(each, operation.bytes, "cudaMemcpy")
                                         for each in (operation.to, operation.source))
        self._tape.work({"copy": {"t": to}, "at": at, "from": {"t": source}, "from_at": source_at,
                         "bytes": operation.bytes}, None, [to])

    def _upload(self, operation: abi.Operation) -> None:
        to, at = self._place(operation.to, operation.bytes, "cudaMemcpy")
        data, pointers = self._uploaded(operation, "cudaMemcpy")
        self._tape.work({"upload": {"t": to}, "at": at, "data": data}, pointers, [to])

    def _symbol_upload(self, operation: abi.Operation) -> None:
        data, pointers = self._uploaded(operation, "cudaMemcpyToSymbol")
        self._tape.work({"symbol": operation.module, "name": operation.name.decode(), "at": operation.to, "data": data},
                        pointers, [])

    def _symbol_copy(self, operation: abi.Operation) -> None:
        source, source_at = self._place(operation.source, operation.bytes, "cudaMemcpyToSymbol")
        self._tape.work({"symbol": operation.module, "name": operation.name.decode(), "at": operation.to,
                         "from": {"t": source}, "from_at": source_at, "bytes": operation.bytes}, None, [])

    def _uploaded(self, operation: abi.Operation, what: str) -> tuple[str, list[list[Any]]]:
        data, in_call = bytearray(_bytes(operation)), self._tape.steps is self._tape.call
        self._sent[in_call] += len(data)
        if self._sent[in_call] > MOST_UPLOADED:
            raise Refused("plan_too_large", f"more than {MOST_UPLOADED} bytes are copied from the host in "
                          + ("a call" if in_call else "the constructor"), "compute tables in a kernel", self._tape.line())
        pointers = self._relocations(data, range(0, len(data) - 7, 8), what)
        return base64.b64encode(data).decode(), pointers

    def _relocations(self, data: bytearray, offsets: range, what: str) -> list[list[Any]]:
        """[offset, number, offset in the storage] of each word that is an address. Sets these words to zero."""
        found = []
        for at in offsets:
            (word,) = _WORD.unpack_from(data, at)
            if any(0 <= word - begin < size for begin, size in self._host.items()):
                self._refuse_host(what)
            place = self._tape.find(word)
            if place is not None:
                self._check_place(place[0], what)
                found.append([at, *place])
                _WORD.pack_into(data, at, 0)
        return found

    def _place(self, address: int, size: int, what: str) -> tuple[int, int]:
        place = self._tape.find(address)
        if place is None:
            raise Refused("plan_failed", f"{what} is given an address outside all tensors", "", self._tape.line())
        self._check_place(place[0], what)
        there = self._tape.tensors[place[0]].untyped_storage().nbytes() - place[1]
        if size > there:
            raise Refused("plan_failed", f"{what} of {size} bytes goes past the end of a tensor, which has {there} there",
                          "", self._tape.line())
        return place

    def _check_place(self, number: int, what: str) -> None:
        if self._tape.places.on_cpu(self._tape.tensors[number]):
            self._refuse_host(what)

    def _refuse_host(self, what: str) -> None:
        raise Refused("cpu_tensor", f"{what} is given a tensor that lies on the CPU",
                      "make it with the options of a tensor on the GPU (x.options()), or device=...", self._tape.line())

    def multiply(self, turned_a: bool, turned_b: bool, sizes: list[int], alpha: float, beta: float, a: int, b: int, c: int,
                  *dtypes: torch.dtype | None) -> None:
        """cuBLAS's matrices are column-major: the rows of PyTorch's matrices are their columns."""
        m, n, k, *leading = sizes[:6]
        steps, count = sizes[6:9], sizes[9]
        shapes = ((m, k) if turned_a else (k, m), (k, n) if turned_b else (n, k), (n, m))
        told = zip((a, b, c), dtypes, shapes, steps, leading)
        left, right, out = (self._matrices(address, dtype, (count, *shape), (step, ld, 1))
                            for address, dtype, shape, step, ld in told)
        left, right = left.to(out.dtype), right.to(out.dtype)
        out.baddbmm_(right.transpose(1, 2) if turned_b else right, left.transpose(1, 2) if turned_a else left,
                     beta=beta, alpha=alpha)

    def _matrices(self, address: int, dtype: torch.dtype | None, shape: tuple, strides: tuple) -> torch.Tensor:
        found = self._tape.find(address)
        if found is None or dtype is None:
            what = "an address outside all tensors" if found is None else "elements of an unusual type"
            raise Refused("not_allowed", f"cuBLAS is given {what}", "", self._tape.line())
        tensor = self._tape.tensors[found[0]]
        if tensor.dtype != dtype:
            tensor = tensor.view(dtype)
        return torch.as_strided(tensor, shape, strides, found[1] // dtype.itemsize)


_ACTS = {abi.LAUNCH: Work._launch, abi.MEMSET: Work._memset, abi.COPY: Work._copy,
         abi.UPLOAD: Work._upload, abi.SYMBOL_UPLOAD: Work._symbol_upload,
         abi.SYMBOL_COPY: Work._symbol_copy}


def _bytes(operation: abi.Operation) -> bytes:
    return ctypes.string_at(operation.data, operation.bytes)
