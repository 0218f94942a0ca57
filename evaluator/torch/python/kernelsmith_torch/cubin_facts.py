"""Facts about kernels and variables in a cubin of nvcc 12 or 13, parsed as untrusted data (like
evaluator/cuda/vendors/nvidia/cubin.cpp)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from .cubin import REGISTERS, Attributes, sections_of, symbols_of, text_at

_MACHINE = 190
_FUNCTION, _OBJECT = 2, 1
_ENTRY = 0x10  # flag in a symbol's st_other: a __global__ function
_VARIABLES = (".nv.global", ".nv.global.init", ".nv.constant3")
# CUTLASS's largest kernels have names of 5 KB. A plan may have 64 cubins, all of them hostile.
_MOST_NAMES = 2 << 20  # bytes of all names that are kept
_MOST_PARAMETERS = 256
# From sm_90 on, a block's shared memory begins with 1 KB that the system uses, which is not part of the size.
_RESERVED_SHARED = 1024

# Attributes of .nv.info sections.
_PARAMETER, _LARGE_PARAMETER = 0x17, 0x45


@dataclass
class KernelFacts:
    parameters: list[tuple[int, int]]  # offset and bytes
    registers: int
    shared: int  # static

    @property
    def parameter_bytes(self) -> int:
        return sum(self.parameters[-1]) if self.parameters else 0


@dataclass
class CubinFacts:
    kernels: dict[str, KernelFacts] = field(default_factory=dict)
    variables: dict[str, int] = field(default_factory=dict)
    """The bytes of each variable, by its mangled name."""
    variable_bytes: int = 0
    """The bytes of all variables, also of those without names."""

    @property
    def loaded_bytes(self) -> int:
        """The bytes of the cubin's variables. If its two tables differ, the larger number is used."""
        return max(self.variable_bytes, sum(self.variables.values()))


def read(cubin: bytes) -> CubinFacts:
    """Raises ValueError if the bytes are not a cubin."""
    try:
        return _read(cubin)
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"damaged: {error}") from None


def _read(cubin: bytes) -> CubinFacts:
    sections = sections_of(cubin)
    if struct.unpack_from("<H", cubin, 18)[0] != _MACHINE:
        raise ValueError("made for another machine")
    named = {section["name"]: section for section in sections}
    facts = CubinFacts(variable_bytes=sum(named[name]["size"] for name in _VARIABLES if name in named))
    attributes = Attributes(cubin)
    registers = {}
    for attribute, at, size in attributes.of(named.get(".nv.info")):
        if attribute == REGISTERS and size == 8:
            symbol, count = struct.unpack_from("<II", cubin, at)
            registers[symbol] = count
    names = 0
    for index, place, info, other, section, bytes_ in symbols_of(cubin, sections, named.get(".symtab")):
        is_variable = info & 15 == _OBJECT and section < len(sections) and sections[section]["name"] in _VARIABLES
        is_kernel = info & 15 == _FUNCTION and other & _ENTRY
        if not (is_variable or is_kernel):
            continue
        name = text_at(cubin, place)
        names += len(name)
        if names > _MOST_NAMES or name in facts.kernels or name in facts.variables:
            raise ValueError("a duplicate name, or too many names")
        if is_variable:
            facts.variables[name] = bytes_
        else:
            shared = named.get(f".nv.shared.{name}", {"size": 0})["size"]
            facts.kernels[name] = KernelFacts(_parameters(cubin, attributes.of(named.get(f".nv.info.{name}"))),
                                              registers.get(index, 0), max(0, shared - _RESERVED_SHARED))
    return facts


def _parameters(cubin: bytes, attributes: Iterator[tuple[int, int, int]]) -> list[tuple[int, int]]:
    found = {}
    for attribute, at, size in attributes:
        if attribute in (_PARAMETER, _LARGE_PARAMETER) and size >= 12:
            _, ordinal, offset, word = struct.unpack_from("<IHHI", cubin, at)
            found[ordinal] = offset, word & 0xFFFF if attribute == _LARGE_PARAMETER else word >> 18
    end = 0
    for ordinal in range(len(found)):
        offset, size = found.get(ordinal, (0, 0))
        if size == 0 or offset < end or len(found) > _MOST_PARAMETERS:
            raise ValueError("damaged parameters")
        end = offset + size
    return [found[ordinal] for ordinal in range(len(found))]
