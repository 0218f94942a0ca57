"""What the stand-ins of vendors' compilers have in common: device code becomes a shared library for the processor, which lies in
the section .stand_in of a device image, where the stand-in of the driver finds it.
"""

import ctypes
import os
import re
import struct
import subprocess
import sys

LAUNCH = re.compile(r"(\b[A-Za-z_][\w:]*(?:<[^;{}()]*>)?)\s*<<<(.*?)>>>", re.S)
BOUNDS = re.compile(r"__launch_bounds__\s*\([^()]*\)")
DYNAMIC = re.compile(r"extern\s+static\s+(?:alignas\(\d+\)\s*)?([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;")
C_KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(\w+)')

# Behind every source: what the stand-in of the driver asks a library for.
END = """
extern "C" stand_in::KernelEntry* stand_in_kernels() { return stand_in::first_kernel; }
extern "C" void stand_in_serve(const stand_in::Services* given) { stand_in::services = *given; }
"""


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


class Arguments:
    """What a compiler is called with: `-c -o OUT IN`, an architecture, and flags that are the host compiler's too."""

    def __init__(self, words, language, include, runtime, own=()):
        self.arch = next(word.split("=")[1] for word in words if word.startswith("--offload-arch="))
        self.out = words[words.index("-o") + 1]
        self.source = words[-1]
        self.runtime = runtime
        drop = {"-x", language, "-c", "-o", self.out, self.source}
        self.flags = [word for word in words if word not in drop and not word.startswith(("--offload-arch=", *own))]
        self.flags += ["-O1", "-I" + include, "-Wno-unknown-pragmas", "-Wno-attributes"]


def compile_for_processor(arguments, unit, out, end=""):
    """The object `out` of the source as the processor carries it out; `unit` is a file for the text between."""
    text = run(["g++", *arguments.flags, "-x", "c++", "-E", "-include", arguments.runtime, arguments.source])
    text = BOUNDS.sub("", text)
    text = DYNAMIC.sub(r"\1* const \2 = static_cast<\1*>(::stand_in::services.place->dynamic_shared);", text)
    text = LAUNCH.sub(r"::stand_in::Launch<\1>(\2)", text)
    kernels = C_KERNEL.findall(text)
    text = re.sub(r"\b__global__\b", "", text)
    text += "".join(f"\ntemplate struct stand_in::Kernel_<{name}>;" for name in kernels) + "\n"
    with open(unit, "w") as file:
        file.write(text + END + end)
    run(["g++", *arguments.flags, "-fno-gnu-unique", "-c", "-o", out, unit])


def link(objects, library):
    """The bytes of the library."""
    run(["g++", "-Wl,-Bsymbolic", "-shared", "-o", library, *objects])
    return read(library)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


class Entry(ctypes.Structure):
    """stand_in::KernelEntry"""


Entry._fields_ = [("name", ctypes.c_char_p), ("host", ctypes.c_void_p), ("run", ctypes.c_void_p), ("count", ctypes.c_uint),
                  ("offsets", ctypes.POINTER(ctypes.c_uint)), ("sizes", ctypes.POINTER(ctypes.c_uint)),
                  ("next", ctypes.POINTER(Entry))]


def kernels_of(library):
    loaded = ctypes.CDLL(library, mode=os.RTLD_LAZY)
    loaded.stand_in_kernels.restype = ctypes.POINTER(Entry)
    at = loaded.stand_in_kernels()
    while at:
        yield at.contents
        at = at.contents.next


def empty_elf(machine):
    """A shared object of that machine, with a table of sections that holds their names alone."""
    names = b"\0.shstrtab\0"
    at = 64 + len(names) + -len(names) % 16
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, machine, 1, 0, 0, at, 0, 64, 0, 0, 64, 2, 1)
    return header + names + bytes(-len(names) % 16) + bytes(64) + struct.pack("<IIQQQQIIQQ", 1, 3, 0, 0, 64, len(names), 0, 0, 16, 0)


def with_section(elf, name, kind, body):
    """The ELF file with one section more; the tables that grow are written anew behind everything."""
    table, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    headers = [bytearray(elf[table + size * i : table + size * (i + 1)]) for i in range(count)]
    at, length = struct.unpack_from("<QQ", headers[names], 24)
    texts = elf[at : at + length]
    out = bytearray(elf)

    def append(data):
        out.extend(bytes(-len(out) % 16))
        begin = len(out)
        out.extend(data)
        return begin

    headers.append(bytearray(struct.pack("<IIQQQQIIQQ", len(texts), kind, 0, 0, append(body), len(body), 0, 0, 16, 0)))
    texts += name.encode() + b"\0"
    struct.pack_into("<QQ", headers[names], 24, append(texts), len(texts))
    struct.pack_into("<Q", out, 40, append(b"".join(headers)))
    struct.pack_into("<H", out, 60, len(headers))
    return bytes(out)


def with_library(image, library):
    return with_section(image, ".stand_in", 1, library)


BUNDLE = b"__CLANG_OFFLOAD_BUNDLE__"


def bundle_of(rows):
    """A bundle of images: rows of (target, image)."""
    head = BUNDLE + struct.pack("<Q", len(rows))
    at = len(head) + sum(24 + len(name) for name, _ in rows)
    body = b""
    for name, image in rows:
        body += bytes(-(at + len(body)) % 16)
        head += struct.pack("<QQQ", at + len(body), len(image), len(name)) + name.encode()
        body += image
    return head + body


def rows_of(bundle):
    count, = struct.unpack_from("<Q", bundle, len(BUNDLE))
    at = len(BUNDLE) + 8
    rows = []
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", bundle, at)
        rows.append((bundle[at + 24 : at + 24 + length].decode(), bundle[offset : offset + size]))
        at += 24 + length
    return rows
