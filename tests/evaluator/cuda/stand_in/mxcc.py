#!/usr/bin/python3 -B
# Made with images.py and headers @STAND_IN_PARTS@: caches of builds know a compiler by its file.
"""A stand-in of MetaX's mxcc, for tests without the SDK: the host's compiler makes both halves of a MACA source.

    mxcc -x maca --maca-path=FOLDER --offload-arch=xcore1000 [FLAGS] -c -o OUT.o IN.cu

OUT.o is an object as mxcc makes it: host code that registers its kernels, and in its section .mc_fatbin a bundle with an ELF
file of machine 253 whose note describes the kernels.
"""

import struct
import sys
import tempfile

import images

# Where the bundle is put into the object.
PLACE = """
__attribute__((section(".mc_fatbin"), used, aligned(4096))) static const char stand_in_bundle[] = {0};
"""


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
    kernels = []
    for entry in images.kernels_of(library):
        args = [{".arg_offset_bytes": entry.offsets[i], ".arg_size_bytes": entry.sizes[i], ".arg_param_pass": "by_value"}
                for i in range(entry.count)]
        end = args[-1][".arg_offset_bytes"] + args[-1][".arg_size_bytes"] if args else 0
        args.append({".arg_offset_bytes": (end + 7) // 8 * 8, ".arg_size_bytes": 8, ".arg_param_pass": "hidden_global_offset_x"})
        kernels.append({".name": entry.name.decode(), ".args": args, ".mtreg_count": 24, ".streg_count": 20,
                        ".private_memory_size": 0, ".share_memory_size": 0, ".max_block_size": 1024})
    data = packed({"macahca.kernels": kernels, "macahca.version": [1, 0]})
    return struct.pack("<III", 6, len(data), 0x30) + b"MetaX\0\0\0" + data + bytes(-len(data) % 4)


def main(words):
    if words == ["--version"]:
        print("mxcc version 1.0.0 (a stand-in)")
        return
    root = next(word.split("=")[1] for word in words if word.startswith("--maca-path="))
    arguments = images.Arguments(words, "maca", root + "/include", "mcr/mc_runtime.h", own=("--maca-path=",))
    with tempfile.TemporaryDirectory() as folder:
        unit, library, bundle = (folder + "/" + name for name in ("unit.cpp", "device.so", "bundle"))
        images.compile_for_processor(arguments, unit, arguments.out, PLACE)
        code = images.link([arguments.out], library)
        image = images.with_section(images.empty_elf(253), ".note", 7, note_of(library))
        images.write(bundle, images.bundle_of([("host-x86_64-unknown-linux-gnu", b""),
                                               ("maca-mxc-metax-macahca--" + arguments.arch, images.with_library(image, code))]))
        images.run(["objcopy", "--update-section", ".mc_fatbin=" + bundle, arguments.out])


main(sys.argv[1:])
