#!/usr/bin/python3 -B
# Made with images.py and headers @STAND_IN_PARTS@: caches of builds know a compiler by its file.
"""HIP's own compiler, whose code objects get what the stand-in of the driver needs to carry their kernels out.

    hipcc -x hip --offload-arch=gfx90a [FLAGS] -c -o OUT.o IN.cu

OUT.o is hipcc's, with its host code and its code object, to which the source as the processor carries it out is added as a
section.
"""

import os
import subprocess
import sys
import tempfile

import images

HIPCC = "@KERNELSMITH_HIPCC@"
TARGET = "hipv4-amdgcn-amd-amdhsa--"
FOLDERS = ("ROCM_PATH", "HIP_PATH")  # this script's, not HIPCC's


def add_library(out, arch, library, folder):
    whole, bundle = folder + "/whole", folder + "/bundle"
    images.run(["objcopy", "--dump-section", ".hip_fatbin=" + bundle, out, whole])
    rows = [(target, images.with_library(image, library) if target == TARGET + arch else image)
            for target, image in images.rows_of(images.read(bundle))]
    images.write(bundle, images.bundle_of(rows))
    images.run(["objcopy", "--update-section", ".hip_fatbin=" + bundle, out])


def main(words):
    environment = {name: value for name, value in os.environ.items() if name not in FOLDERS}
    if "-c" not in words:
        sys.exit(subprocess.run([HIPCC, *words], env=environment).returncode)
    include = os.path.dirname(os.path.dirname(os.path.realpath(__file__))) + "/device"
    arguments = images.Arguments(words, "hip", include, "hip/hip_runtime.h")
    with subprocess.Popen([HIPCC, *words], env=environment) as real, tempfile.TemporaryDirectory() as folder:
        images.compile_for_processor(arguments, folder + "/unit.cpp", folder + "/device.o")
        library = images.link([folder + "/device.o"], folder + "/device.so")
        if real.wait() != 0:
            sys.exit(real.returncode)
        add_library(arguments.out, arguments.arch, library, folder)


main(sys.argv[1:])
