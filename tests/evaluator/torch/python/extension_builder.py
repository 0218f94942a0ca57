"""Builds extensions as the backend does, with this machine's compilers and without a sandbox: for tests of the planner."""

import os
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), *[".."] * 4)
INCLUDE = os.path.join(ROOT, "evaluator", "torch", "extension", "include")
CUDA = os.environ.get("CUDA_HOME", "/usr/local/cuda")
ZEROS = ["-ftrivial-auto-var-init=zero", "-fno-elide-constructors"]


def library() -> str:
    """The planner's library, from the environment or the newest build; empty if there is none."""
    named = os.environ.get("KERNELSMITH_EXTENSION_LIBRARY", "")
    if named:
        return named
    builds = os.path.join(ROOT, "build")
    found = [path for each in (os.listdir(builds) if os.path.isdir(builds) else [])
             if os.path.isfile(path := os.path.join(builds, each, "evaluator", "torch", "extension",
                                                    "libkernelsmith_extension.so"))]
    return os.path.abspath(max(found, key=os.path.getmtime)) if found else ""


def available() -> bool:
    return bool(library()) and os.path.exists(f"{CUDA}/bin/nvcc")


class NotBuilt(Exception):
    pass


class Builder:
    """What was built, as the request's `builds` and blob. Each job once."""

    def __init__(self) -> None:
        self.builds: dict = {}
        self.blob = b""

    def add(self, job: dict) -> None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                host, cubins = _build(job, folder)
                device = [self._put(each) for each in cubins]
                self.builds[job["key"]] = {"host": self._put(host), "device": device, "log": ""}
            except NotBuilt as error:
                self.builds[job["key"]] = {"error": str(error)}

    def _put(self, data: bytes) -> list:
        self.blob += data
        return [len(self.blob) - len(data), len(data)]


def _build(job: dict, folder: str) -> tuple[bytes, list[bytes]]:
    flags = job["flags"]
    common = [f"-std={flags['std']}", *(f"-D{each}" for each in flags["defines"]), f"-I{folder}", f"-I{INCLUDE}",
              *(f"-I{each}" for each in flags["include"])]
    for unit in job["units"]:
        path = os.path.join(folder, unit["name"])
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(unit["text"])
    objects, cubins, commands = [], [], []
    for unit in job["units"]:
        path = os.path.join(folder, unit["name"])
        if unit["name"].endswith(".cu"):
            cubins.append(path)
            commands.append([f"{CUDA}/bin/nvcc", "-gencode", "arch=compute_90a,code=sm_90a", "--expt-relaxed-constexpr",
                             *common, *flags["nvcc"], *["--use_fast_math"] * flags["fast_math"], "-w", "-Xcompiler",
                             ",".join(["-fPIC,-O0,-w", *ZEROS]), "--keep", "--keep-dir", folder, "-c", path, "-o",
                             f"{path}.o"])
        elif unit["name"].endswith(".cpp"):
            commands.append(["g++", *common, f"-I{CUDA}/include", "-O0", "-w", "-fPIC", *ZEROS, "-c", path, "-o",
                             f"{path}.o"])
        else:
            continue
        objects.append(f"{path}.o")
    processes = [subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                 for command in commands]
    words = "".join(process.communicate()[0] for process in processes)
    if any(process.returncode for process in processes):
        raise NotBuilt(words)
    _run(["g++", "-shared", "-o", "host.so", *objects, library(), "-Wl,-Bsymbolic-functions", "-Wl,-z,defs"], folder)
    return _read(f"{folder}/host.so"), [_read(f"{path[:-3]}.cubin") for path in cubins]


def _run(command: list[str], folder: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise NotBuilt(done.stdout + done.stderr)


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
