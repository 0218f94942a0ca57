"""Cubins without code, for tests: what an ELF file of nvcc's says of kernels and variables."""

from __future__ import annotations

import struct

_HEADER = 64


def cubin(kernels: dict[str, list[int]], variables: dict[str, int] | None = None, registers: int = 32,
          shared: int = 0, machine: int = 190) -> bytes:
    """`kernels`: the bytes of each parameter, which lie at multiples of 8."""
    names = [*kernels, *(variables or {})]
    sections = [("", 0, b"", 0, 0)]  # name, type, content, link, size
    texts, symbols, starts = b"\0", [b"\0" * 24], {}
    for name in names:
        starts[name] = len(texts)
        texts += name.encode() + b"\0"
    sections.append((".strtab", 3, texts, 0, len(texts)))
    sections.append((".nv.global", 8, b"", 0, sum((variables or {}).values())))
    for name in names:
        is_kernel = name in kernels
        symbols.append(struct.pack("<IBBHQQ", starts[name], 2 if is_kernel else 1, 0x10 if is_kernel else 0,
                                   0 if is_kernel else 2, 0, (variables or {}).get(name, 0)))
    sections.append((".symtab", 2, b"".join(symbols), 1, 24 * len(symbols)))
    info = b"".join(struct.pack("<BBHII", 4, 0x2F, 8, 1 + i, registers) for i in range(len(kernels)))
    sections.append((".nv.info", 1, info, 0, len(info)))
    for name, sizes in kernels.items():
        offsets = [sum(-(-size // 8) * 8 for size in sizes[:i]) for i in range(len(sizes))]
        content = b"".join(struct.pack("<BBHIHHI", 4, 0x17, 12, 0, i, offset, size << 18)
                           for i, (offset, size) in enumerate(zip(offsets, sizes)))
        sections.append((f".nv.info.{name}", 1, content, 0, len(content)))
        sections.append((f".nv.shared.{name}", 8, b"", 0, 1024 + shared))
    return elf(sections, machine)


def elf(sections: list[tuple[str, int, bytes, int, int]], machine: int = 190) -> bytes:
    """A file of sections: name, type, content, link and size."""
    titles, at, body, heads = b"", [], b"", []
    for name, *_ in [*sections, (".shstrtab",)]:
        at.append(len(titles))
        titles += name.encode() + b"\0"
    for start, (name, kind, content, link, size) in zip(at, [*sections, (".shstrtab", 3, titles, 0, len(titles))]):
        flags = 2 if name.startswith(".nv.global") else 0
        heads.append(struct.pack("<IIQQQQIIQQ", start, kind, flags, 0, _HEADER + len(body), size, link, 0, 8, 0))
        body += content
    head = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0x41, 8, 2, machine, 1, 0, 0,
                       _HEADER + len(body), 0, _HEADER, 0, 0, 64, len(heads), len(heads) - 1)
    return head + body + b"".join(heads)
