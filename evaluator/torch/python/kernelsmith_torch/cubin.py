"""Facts about a compiled kernel from its ELF file: registers of a thread, spilled words, and whether it has variables."""

from __future__ import annotations

import struct
from collections.abc import Iterator

REGISTERS = 0x2F  # attributes of .nv.info sections
_FRAME = 0x11
_SIZED = 4
_SYMBOL_BYTES = 24
_MOST_SYMBOLS = 1 << 14  # CUTLASS's largest kernels have a hundred
_MOST_ATTRIBUTES = 1 << 16

_ALLOCATED = 2
_MOST_NAME = 8192  # a mangled kernel name with its section's prefix
_MOST_NAMES = 8 << 20  # bytes of all sections' names: a kernel has some six sections
_MOST_SECTIONS = 1 << 14
# Code, parameters and the compiler's own constants, and memory that lasts for a launch.
_WITHOUT_VARIABLES = (".text.", ".nv.constant0.", ".nv.constant2", ".nv.constant4", ".nv.shared.", ".nv.local.")


def resources(cubin: bytes, name: str) -> dict[str, int]:
    """`registers` and `spills` (words of 4 bytes that a thread keeps on its stack); empty if the file does not
    contain them."""
    try:
        return _read(cubin, name)
    except (struct.error, IndexError, ValueError, OverflowError):
        return {}


def may_keep_variables(cubin: bytes) -> bool:
    """Whether loading the file creates variables that outlive a launch (`.global` in PTX). True for an unreadable
    file."""
    try:
        sections = sections_of(cubin)
    except (struct.error, IndexError, ValueError, OverflowError):
        return True
    return any(s["size"] and (s["flags"] & _ALLOCATED or s["name"].startswith(".nv.global"))
               and not s["name"].startswith(_WITHOUT_VARIABLES) for s in sections)


def _read(cubin: bytes, name: str) -> dict[str, int]:
    sections = sections_of(cubin)
    named = {section["name"]: section for section in sections}
    if not {".symtab", ".nv.info"} <= named.keys():
        return {}
    index = next((number for number, place, *_ in symbols_of(cubin, sections, named[".symtab"])
                  if text_at(cubin, place) == name), None)
    told = {}
    for attribute, at, size in Attributes(cubin).of(named[".nv.info"]):
        if size == 8 and attribute in (REGISTERS, _FRAME):
            symbol, value = struct.unpack_from("<II", cubin, at)
            if symbol == index:
                told[attribute] = value
    if REGISTERS not in told:
        return {}
    return {"registers": told[REGISTERS], "spills": told.get(_FRAME, 0) // 4}


def sections_of(cubin: bytes) -> list[dict]:
    if cubin[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    (start,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    if count > _MOST_SECTIONS:
        raise ValueError("too many sections")
    found = []
    for i in range(count):
        name, _, flags, _, offset, length, link = struct.unpack_from("<IIQQQQI", cubin, start + i * size)
        found.append({"name": name, "offset": offset, "size": length, "link": link, "flags": flags})
    left = _MOST_NAMES
    for section in found:
        section["name"] = text_at(cubin, found[names]["offset"] + section["name"])
        left -= len(section["name"])
        if left < 0:
            raise ValueError("too many names")
    return found


def text_at(data: bytes, at: int) -> str:
    return data[at:data.index(b"\0", at, at + _MOST_NAME)].decode(errors="replace")


def symbols_of(cubin: bytes, sections: list[dict], table: dict | None) -> Iterator[tuple[int, int, int, int, int, int]]:
    """Number, place of the name, kind, flags, section and bytes of each symbol."""
    if table is None:
        return
    count = table["size"] // _SYMBOL_BYTES
    if count > _MOST_SYMBOLS:
        raise ValueError("too many symbols")
    names = sections[table["link"]]["offset"]
    for index in range(count):
        name, info, other, section, _, size = struct.unpack_from("<IBBHQQ", cubin, table["offset"] + _SYMBOL_BYTES * index)
        yield index, names + name, info, other, section, size


class Attributes:
    """The attributes of a file's sections. Every read counts towards one limit, because sections may
    overlap."""

    def __init__(self, cubin: bytes) -> None:
        self._cubin, self._left = cubin, _MOST_ATTRIBUTES

    def of(self, section: dict | None) -> Iterator[tuple[int, int, int]]:
        """Each sized attribute: its kind, where its value begins, and the value's length."""
        at = section["offset"] if section else 0
        end = at + (section["size"] if section else 0)
        while at < end:
            form, attribute, size = struct.unpack_from("<BBH", self._cubin, at)
            self._left -= 1
            if self._left < 0:
                raise ValueError("too many attributes")
            at += 4
            if form == _SIZED:  # the others hold their value in place of a size
                yield attribute, at, size
                at += size
