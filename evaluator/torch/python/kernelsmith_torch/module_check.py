"""Entries of a plan that need no operator: launches of device code of C++ extensions, and work on memory.

They are untrusted: sizes, names and places are bounded here. module_replay.py checks that a place is within its
tensor's storage, because that needs the tensor.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from . import cubin_facts
from .checks import Ref, integer_of, list_of, name_of, object_of, refuse, tensor_of, text_of
from .cubin_facts import CubinFacts
from .plan_format import MOST_VARIABLES

MOST_PARAMETERS = 32_764  # CUDA 12.1's own limit
MOST_UPLOAD = 64 << 10
MOST_POINTERS = MOST_UPLOAD // 8
MOST_UPLOADED = 1 << 20  # in the setup, or in a call: a plan holds no weights
MOST_BYTES = 1 << 48  # no device has more
_ADDRESS_BYTES = 8

MOST_SHARED = 232_448  # an H100's, and no device has more
PLAIN_SHARED = 48 << 10  # a kernel needs an opt-in for more
_MOST_REGISTERS = 65_536  # of a block
_MOST_THREADS = 1024
_BLOCK = (1024, 1024, 64)
_GRID = (2**31 - 1, 65_535, 65_535)
_MOST_CTAS = 16


@dataclass
class Module:
    cubin: bytes
    facts: CubinFacts


@dataclass(frozen=True)
class Place:
    """A byte of a tensor's storage."""

    to: Ref
    at: int


@dataclass(frozen=True)
class Pointer:
    """Eight bytes of parameters or data with the address of a place."""

    offset: int
    to: Ref
    at: int


@dataclass
class DeviceOp:
    line: str = field(default="", kw_only=True)
    frees: list[int] = field(default_factory=list, kw_only=True)

    @property
    def title(self) -> str:
        """The entry's description for people."""
        return type(self).__name__.lower()

    def refs(self) -> Iterator[Ref]:
        """The tensors that the entry names."""
        for value in vars(self).values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, (Place, Pointer)):
                    yield each.to


@dataclass
class Run(DeviceOp):
    """A launch of a kernel of a module."""

    module: int
    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    max_shared: int
    cluster: tuple[int, int, int] | None
    cooperative: bool
    params: bytes
    pointers: tuple[Pointer, ...]

    @property
    def title(self) -> str:
        return self.kernel


@dataclass
class Memset(DeviceOp):
    to: Place
    bytes: int
    value: int
    width: int


@dataclass
class Copy(DeviceOp):
    to: Place
    source: Place
    bytes: int


@dataclass
class Upload(DeviceOp):
    to: Place
    data: bytes
    pointers: tuple[Pointer, ...]


@dataclass
class Symbol(DeviceOp):
    """A copy to a variable of a module, of `data` or of bytes of a tensor."""

    module: int
    name: str
    at: int
    bytes: int
    data: bytes
    pointers: tuple[Pointer, ...]
    source: Place | None


def check_module(told: Any, cubin: bytes) -> Module:
    object_of(told, "a module", {"offset", "size"}, {"registers", "spills", "shared"})
    try:
        return Module(cubin, cubin_facts.read(cubin))
    except ValueError as error:
        refuse(f"a module is not a cubin: {error}")


class Modules:
    """Checks entries for modules. `entry` returns None for other entries."""

    def __init__(self, modules: list[Module]) -> None:
        self.modules = modules
        self._uploaded = 0
        self._checks = {"run": self._run, "memset": self._memset, "copy": self._copy, "upload": self._upload,
                        "symbol": self._symbol}
        if sum(m.facts.loaded_bytes for m in modules) > MOST_VARIABLES:
            refuse(f"its modules have more than {MOST_VARIABLES} bytes of variables")

    def end_of_block(self) -> None:
        """Ends the setup or an alternative: the next one has its own uploads."""
        self._uploaded = 0

    def entry(self, op: dict[str, Any], known: set[int]) -> DeviceOp | None:
        for kind, check in self._checks.items():
            if kind in op:
                made = check(op, known)
                made.line = text_of(op.get("line", ""), "a line")
                return made
        return None

    def _run(self, op: dict[str, Any], known: set[int]) -> Run:
        object_of(op, "a launch", {"run", "kernel", "grid", "block", "shared", "params", "pointers"},
                  {"cluster", "cooperative", "max_shared", "line"})
        number, name = self._module(op["run"]), name_of(op["kernel"], "a kernel's name")
        facts = self.modules[number].facts.kernels.get(name)
        if facts is None:
            refuse(f"module {number} has no kernel {name}")
        params = _data(op["params"], MOST_PARAMETERS, "parameters")
        if len(params) != facts.parameter_bytes:
            refuse(f"kernel {name} takes {facts.parameter_bytes} bytes of parameters, and is given {len(params)}")
        shared = integer_of(op["shared"], 0, MOST_SHARED, "shared memory")
        most = integer_of(op.get("max_shared", PLAIN_SHARED), 0, MOST_SHARED, "max_shared")
        if shared > most or shared + facts.shared > MOST_SHARED:
            refuse(f"kernel {name} is given more shared memory than it may have")
        grid, block = _three(op["grid"], _GRID, "a grid"), _three(op["block"], _BLOCK, "a block")
        threads = block[0] * block[1] * block[2]
        if threads > _MOST_THREADS or threads * facts.registers > _MOST_REGISTERS:
            refuse(f"a block of kernel {name} has too many threads or registers")
        cluster = _three(op["cluster"], (_MOST_CTAS,) * 3, "a cluster") if "cluster" in op else None
        if cluster and (cluster[0] * cluster[1] * cluster[2] > _MOST_CTAS or any(g % c for g, c in zip(grid, cluster))):
            refuse(f"a cluster of kernel {name} is too large, or does not divide the grid")
        cooperative = op.get("cooperative", False)
        if not isinstance(cooperative, bool):
            refuse("cooperative is not true or false")
        return Run(number, name, grid, block, shared, most, cluster, cooperative, params,
                   _pointers(op["pointers"], len(params), known))

    def _memset(self, op: dict[str, Any], known: set[int]) -> Memset:
        object_of(op, "a memset", {"memset", "at", "bytes", "value"}, {"width", "line"})
        width = op.get("width", 1)
        if width not in (1, 2, 4) or isinstance(width, bool):
            refuse("a memset's width is not 1, 2 or 4")
        to, bytes_ = _place(op["memset"], op["at"], known), _size(op["bytes"])
        if to.at % width or bytes_ % width:
            refuse("a memset is not of whole elements")
        return Memset(to, bytes_, integer_of(op["value"], 0, 2**(8 * width) - 1, "a memset's value"), width)

    def _copy(self, op: dict[str, Any], known: set[int]) -> Copy:
        object_of(op, "a copy", {"copy", "at", "from", "from_at", "bytes"}, {"line"})
        return Copy(_place(op["copy"], op["at"], known), _place(op["from"], op["from_at"], known), _size(op["bytes"]))

    def _upload(self, op: dict[str, Any], known: set[int]) -> Upload:
        object_of(op, "an upload", {"upload", "at", "data", "pointers"}, {"line"})
        data = self._uploads(op["data"])
        return Upload(_place(op["upload"], op["at"], known), data, _pointers(op["pointers"], len(data), known))

    def _symbol(self, op: dict[str, Any], known: set[int]) -> Symbol:
        given = {"data", "pointers"} if "data" in op else {"from", "from_at", "bytes"}
        object_of(op, "a copy to a variable", {"symbol", "name", "at"} | given, {"line"})
        number, name = self._module(op["symbol"]), name_of(op["name"], "a variable's name")
        if name not in self.modules[number].facts.variables:
            refuse(f"module {number} has no variable {name}")
        data = self._uploads(op["data"]) if "data" in op else b""
        bytes_ = len(data) if "data" in op else _size(op["bytes"])
        at = integer_of(op["at"], 0, self.modules[number].facts.variables[name], "a place in a variable")
        if at + bytes_ > self.modules[number].facts.variables[name]:
            refuse(f"a copy goes past the end of variable {name}")
        source = _place(op["from"], op["from_at"], known) if "from" in op else None
        return Symbol(number, name, at, bytes_, data, _pointers(op.get("pointers", []), len(data), known), source)

    def _module(self, number: Any) -> int:
        return integer_of(number, 0, len(self.modules) - 1, "a module's number")

    def _uploads(self, data: Any) -> bytes:
        given = _data(data, MOST_UPLOAD, "an upload's bytes")
        self._uploaded += len(given)
        if self._uploaded > MOST_UPLOADED:
            refuse(f"more than {MOST_UPLOADED} bytes are uploaded")
        return given


def _three(value: Any, most: tuple[int, ...], what: str) -> tuple[int, int, int]:
    if len(list_of(value, 3, what)) != 3:
        refuse(f"{what} does not have three dimensions")
    x, y, z = (integer_of(n, 1, limit, f"a dimension of {what}") for n, limit in zip(value, most))
    return x, y, z


def _size(bytes_: Any) -> int:
    return integer_of(bytes_, 0, MOST_BYTES, "a number of bytes")


def _place(tensor: Any, at: Any, known: set[int]) -> Place:
    return Place(tensor_of(tensor, known), integer_of(at, 0, MOST_BYTES, "a place in a tensor"))


def _data(text: Any, most: int, what: str) -> bytes:
    # Base64 has four characters for three bytes.
    if not isinstance(text, str) or len(text) > (most + 2) // 3 * 4:
        refuse(f"{what} are not a text of at most {most} bytes in base64")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        refuse(f"{what} are not base64")
    if len(data) > most:
        refuse(f"{what} are more than {most} bytes")
    return data


def _pointers(value: Any, size: int, known: set[int]) -> tuple[Pointer, ...]:
    """Checks that the pointers are within `size` bytes, without overlap."""
    found = []
    for told in list_of(value, MOST_POINTERS, "pointers"):
        if len(list_of(told, 3, "a pointer")) != 3:
            refuse("a pointer is not an offset, a tensor and a byte")
        offset = integer_of(told[0], 0, size - _ADDRESS_BYTES, "a pointer's offset")
        if offset % _ADDRESS_BYTES:
            refuse("a pointer's offset is not a multiple of 8")
        place = _place(told[1], told[2], known)
        found.append(Pointer(offset, place.to, place.at))
    if len({pointer.offset for pointer in found}) != len(found):
        refuse("two pointers have the same offset")
    return tuple(found)
