#!/usr/bin/env python3
"""A stand-in of MetaX's mxcc, for tests without the SDK: the host's compiler makes both halves of a MACA source.

    mxcc -x maca --maca-path=FOLDER --offload-arch=xcore1000 [FLAGS] -c -o OUT.o IN.cu

OUT.o is an object as mxcc makes it: host code that registers its kernels, and in its section .mc_fatbin a bundle with an ELF
file of machine 253 whose note describes the kernels. What stands for device code in that file is a shared library for the
processor, which the stand-in of the driver loads.
"""

import ctypes
import os
import re
import struct
import subprocess
import sys
import tempfile

LAUNCH = re.compile(r"(\b[A-Za-z_][\w:]*(?:<[^;{}()]*>)?)\s*<<<(.*?)>>>", re.S)
BOUNDS = re.compile(r"__launch_bounds__\s*\([^()]*\)")
DYNAMIC = re.compile(r"extern\s+static\s+(?:alignas\(\d+\)\s*)?([\w:<> ]+?)\s+(\w+)\s*\[\s*\]\s*;")
C_KERNEL = re.compile(r'extern\s+"C"\s+__global__\s+void\s+(\w+)')

# Behind every source: what the driver's stand-in asks the image for, and where the image is put into the object.
END = """
extern "C" stand_in::KernelEntry* stand_in_kernels() { return stand_in::first_kernel; }
extern "C" void stand_in_serve(const stand_in::Services* given) { stand_in::services = *given; }
__attribute__((section(".mc_fatbin"), used, aligned(4096))) static const char stand_in_bundle[] = {0};
"""


def rewritten(text):
    text = BOUNDS.sub("", text)
    text = DYNAMIC.sub(r"\1* const \2 = static_cast<\1*>(::stand_in::services.place->dynamic_shared);", text)
    text = LAUNCH.sub(r"::stand_in::Launch<\1>(\2)", text)
    kernels = C_KERNEL.findall(text)
    text = re.sub(r"\b__global__\b", "", text)
    return text + "".join(f"\ntemplate struct stand_in::Kernel_<{name}>;" for name in kernels) + "\n"


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    sys.stderr.write(done.stderr)
    if done.returncode != 0:
        sys.exit(done.returncode)
    return done.stdout


class Entry(ctypes.Structure):
    pass


Entry._fields_ = [("name", ctypes.c_char_p), ("host", ctypes.c_void_p), ("run", ctypes.c_void_p), ("count", ctypes.c_uint),
                  ("offsets", ctypes.POINTER(ctypes.c_uint)), ("sizes", ctypes.POINTER(ctypes.c_uint)),
                  ("next", ctypes.POINTER(Entry))]


def packed(value):
    """MessagePack of the few kinds that a note has."""
    if isinstance(value, int):
        return b"\xce" + struct.pack(">I", value)
    if isinstance(value, str):
        text = value.encode()
        return b"\xda" + struct.pack(">H", len(text)) + text
    if isinstance(value, list):
        return b"\xdc" + struct.pack(">H", len(value)) + b"".join(map(packed, value))
    return b"\xde" + struct.pack(">H", len(value)) + b"".join(packed(k) + packed(v) for k, v in value.items())


def note_of(library):
    loaded = ctypes.CDLL(library, mode=os.RTLD_LAZY)
    loaded.stand_in_kernels.restype = ctypes.POINTER(Entry)
    at = loaded.stand_in_kernels()
    kernels = []
    while at:
        entry = at.contents
        args = [{".arg_offset_bytes": entry.offsets[i], ".arg_size_bytes": entry.sizes[i], ".arg_param_pass": "by_value"}
                for i in range(entry.count)]
        end = args[-1][".arg_offset_bytes"] + args[-1][".arg_size_bytes"] if args else 0
        args.append({".arg_offset_bytes": (end + 7) // 8 * 8, ".arg_size_bytes": 8, ".arg_param_pass": "hidden_global_offset_x"})
        kernels.append({".name": entry.name.decode(), ".args": args, ".mtreg_count": 24, ".streg_count": 20,
                        ".private_memory_size": 0, ".share_memory_size": 0, ".max_block_size": 1024})
        at = entry.next
    data = packed({"macahca.kernels": kernels, "macahca.version": [1, 0]})
    return struct.pack("<III", 6, len(data), 0x30) + b"MetaX\0\0\0" + data + bytes(-len(data) % 4)


def elf_of(sections):
    """An ELF file of machine 253 with these sections: (name, type, bytes)."""
    names, bodies, headers = b"\0", b"", [bytes(64)]
    all_sections = [*sections, (".shstrtab", 3, None)]
    offsets = []
    for name, _, _ in all_sections:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    for (_, kind, body), name_at in zip(all_sections, offsets):
        body = names if body is None else body
        bodies += bytes(-(64 + len(bodies)) % 16)
        headers.append(struct.pack("<IIQQQQIIQQ", name_at, kind, 0, 0, 64 + len(bodies), len(body), 0, 0, 16, 0))
        bodies += body
    bodies += bytes(-(64 + len(bodies)) % 16)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, 253, 1, 0, 0, 64 + len(bodies), 0, 64, 0, 0, 64, len(headers), len(headers) - 1)
    return header + bodies + b"".join(headers)


def bundle_of(arch, image):
    rows = [("host-x86_64-unknown-linux-gnu", b""), ("maca-mxc-metax-macahca--" + arch, image)]
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(rows))
    at = len(head) + sum(24 + len(name) for name, _ in rows)
    body = b""
    for name, payload in rows:
        head += struct.pack("<QQQ", at + len(body), len(payload), len(name)) + name.encode()
        body += payload
    return head + body


def main(arguments):
    if arguments == ["--version"]:
        print("mxcc version 1.0.0 (a stand-in)")
        return
    arch = next(a.split("=")[1] for a in arguments if a.startswith("--offload-arch="))
    root = next(a.split("=")[1] for a in arguments if a.startswith("--maca-path="))
    out = arguments[arguments.index("-o") + 1]
    source = arguments[-1]
    drop = {"-x", "maca", "-c", "-o", out, source}
    flags = [a for a in arguments if a not in drop and not a.startswith(("--offload-arch=", "--maca-path="))]
    flags += ["-O1", "-I" + root + "/include", "-Wno-unknown-pragmas", "-Wno-attributes"]
    with tempfile.TemporaryDirectory() as folder:
        unit, library, bundle = (folder + "/" + name for name in ("unit.cpp", "device.so", "bundle"))
        text = rewritten(run(["g++", *flags, "-x", "c++", "-E", "-include", "mcr/mc_runtime.h", source]))
        with open(unit, "w") as file:
            file.write(text + END)
        run(["g++", *flags, "-fno-gnu-unique", "-c", "-o", out, unit])
        run(["g++", "-Wl,-Bsymbolic", "-shared", "-o", library, out])
        with open(library, "rb") as file:
            image = elf_of([(".note", 7, note_of(library)), (".stand_in", 1, file.read())])
        with open(bundle, "wb") as file:
            file.write(bundle_of(arch, image))
        run(["objcopy", "--update-section", ".mc_fatbin=" + bundle, out])


main(sys.argv[1:])
