"""The compiler's input for an extension: units of source text and the relevant flags."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from typing import Any

VERSION = 1
"""The version of the stand-in of PyTorch's headers: an extension that was built for another version is built again."""

# The lines before a source: as many as PyTorch writes, so that line numbers agree. PyTorch's second line for
# CUDA is <cuda.h>, which only names of the driver need.
_CPP_HEAD = "#include <torch/extension.h>\n"
_CUDA_HEAD = "#include <torch/types.h>\n\n#include <cuda_runtime.h>\n"

# PyTorch's header includes all of these, which takes seconds. Here (stand_in/wanted.hpp) they are included
# only if the source uses a name from them. The keys are the ends of the macros' names.
_WANTED = {
    "DRIVER": r"\bcu[A-Z]\w*\s*\(|\bCU[_a-z]\w*",
    "HALF": r"[hH]alf|HALF|[bB][fF]loat16|BFLOAT16|fp16|bf16",
    "DEVICE_PROPERTIES": r"cudaDeviceProp|DeviceProperties",
    "CASSERT": r"\bassert\s*\(",
    **{header.upper(): rf"\bstd::({names})\b|using namespace std\b" for header, names in {
        "string": r"\w*string\w*|to_string|sto[idlf]\w*|getline", "array": "array",
        "memory": "unique_ptr|shared_ptr|make_unique|make_shared|align",
        "algorithm": r"\w*sort|\w*_element|clamp|transform|reverse|all_of|any_of|none_of|find\w*|count\w*|lower_bound"
        "|upper_bound|unique|minmax|generate|for_each|replace", "stdexcept": r"\w+_error|invalid_argument|out_of_range",
        "iostream": "cout|cerr|endl|clog", "sstream": r"\w*stringstream", "fstream": "[io]?fstream", "iomanip": r"set\w+",
        "functional": "function|plus|multiplies|bind|hash|less|greater|ref", "map": "map", "unordered_map": "unordered_map",
        "set": "set", "unordered_set": "unordered_set", "mutex": "mutex|call_once|once_flag|lock_guard|unique_lock",
        "atomic": r"atomic\w*", "numeric": "accumulate|iota|inner_product|gcd|partial_sum", "deque": "deque|queue|stack",
        "chrono": "chrono", "thread": "thread", "string_view": "string_view", "random": "mt19937"}.items()},
}

# PyTorch's own definitions (COMMON_NVCC_FLAGS).
_DEFINES = ["__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF_CONVERSIONS__", "__CUDA_NO_BFLOAT16_CONVERSIONS__",
            "__CUDA_NO_HALF2_OPERATORS__"]
# nvcc's options that change what a kernel computes or whether it compiles. The planner chooses architectures,
# debugging, threads and libraries, so these are left out.
_KEPT = re.compile(r"-{1,2}(maxrregcount|fmad|ftz|prec-div|prec-sqrt|extended-lambda|expt-extended-lambda|use_fast_math"
                   r"|extra-device-vectorization|restrict|default-stream|Xptxas|ptxas-options)(=|$)")
_WITH_VALUE = frozenset(
    "-gencode --generate-code -arch --gpu-architecture -code --gpu-code -std --std -Xcompiler --compiler-options -ccbin "
    "--compiler-bindir --threads -t -I -isystem -L -l -D -U -Xptxas --ptxas-options -maxrregcount --maxrregcount -Xlinker "
    "-Xcudafe -diag-suppress --diag-suppress -Xfatbin -rdc --relocatable-device-code -include".split())


class Job:
    """One extension to be built."""

    def __init__(self, name: str, arch: int, units: list[dict[str, str]], flags: dict[str, Any]) -> None:
        self.name = name
        self.told: dict[str, Any] = {"name": name, "arch": arch, "units": units, "flags": flags}
        text = json.dumps([VERSION, self.told], sort_keys=True)
        self.key = hashlib.sha256(text.encode()).hexdigest()
        self.told["key"] = self.key


def inline_units(cpp: list[str], cuda: list[str], functions: dict[str, str] | None) -> list[dict[str, str]]:
    """Units of load_inline. C++ that only declares what the CUDA source defines is put into the same unit, because
    two units take longer."""
    bindings = "" if functions is None else _bindings(functions)
    declarations, source = "\n".join(cpp), "\n".join(cuda)
    if cuda and functions is not None and _only_declares(declarations, functions):
        return [_unit("cuda.cu", _CUDA_HEAD, source, declarations, bindings)]
    units = [_unit("main.cpp", _CPP_HEAD, declarations, bindings)] if declarations.strip() or bindings or not cuda else []
    return units + ([_unit("cuda.cu", _CUDA_HEAD, source)] if cuda else [])


def file_units(paths: Iterable[str], folders: Iterable[str] = ()) -> list[dict[str, str]]:
    """Units of `load`: the files, and the headers beside them that they include. Headers are not compiled."""
    units, headers, names = [], {}, set()
    for path in paths:
        text = _read(path)
        stem, kind = os.path.splitext(os.path.basename(path))
        name = stem + (".cu" if kind == ".cu" else ".cpp")
        while name in names:
            name = "_" + name
        names.add(name)
        units.append({"name": name, "text": text})
        _collect(text, [os.path.dirname(path) or ".", *folders], headers)
    return units + [{"name": name, "text": text} for name, text in headers.items()]


def job_header(name: str, units: Iterable[dict[str, str]]) -> dict[str, str]:
    """The text that differs between extensions, for a header. It is not passed as flags, because the compiler's steps
    are determined once for each set of flags."""
    text = "\n".join(unit["text"] for unit in units)
    wanted = [f"KERNELSMITH_WITH_{name}" for name, names in _WANTED.items() if re.search(names, text)]
    defines = [f"TORCH_EXTENSION_NAME {name}", *wanted]
    return {"name": "kernelsmith_job.hpp", "text": "".join(f"#define {each}\n" for each in defines)}


def flags(cflags: Iterable[str], cuda_cflags: Iterable[str], folders: Iterable[str]) -> dict[str, Any]:
    """The candidate's relevant flags. `nvcc` has additional flags for that compiler."""
    kept: dict[str, Any] = {"fast_math": False, "optimize": "-O3", "std": "c++17", "include": list(folders), "nvcc": [],
                            "defines": [*_DEFINES, "TORCH_API_INCLUDE_EXTENSION_H"]}
    for flag, value in (*_split(cflags), *_split(cuda_cflags)):
        _keep(flag, value, kept)
    return kept


def _keep(flag: str, value: str, kept: dict[str, Any]) -> None:
    if flag in ("-use_fast_math", "--use_fast_math"):
        kept["fast_math"] = True
    elif flag in ("-O0", "-O1", "-O2", "-O3"):
        kept["optimize"] = flag
    elif flag in ("-std", "--std"):
        kept["std"] = value.replace("gnu++", "c++")
    elif flag == "-D":
        kept["defines"].append(value)
    elif flag == "-U":
        kept["defines"] = [each for each in kept["defines"] if each.partition("=")[0] != value]
    elif flag in ("-I", "-isystem"):
        kept["include"].append(value)
    elif _KEPT.match(flag):
        kept["nvcc"].append(f"{flag}={value}" if value else flag)


def _split(words: Iterable[str]) -> list[tuple[str, str]]:
    """Flags and their values: -DX, -D X, -std=c++17, -Xptxas -O3, ..."""
    flat, pairs = [word for given in words for word in str(given).split()], []
    while flat:
        flag, equals, value = flat.pop(0).partition("=")
        if flag[:2] in ("-D", "-U", "-I") and flag not in ("-D", "-U", "-I"):
            flag, value, equals = flag[:2], flag[2:] + equals + value, "="
        elif flag in _WITH_VALUE and not equals and flat:
            value = flat.pop(0)
        pairs.append((flag, value))
    return pairs


def _unit(name: str, head: str, *texts: str) -> dict[str, str]:
    return {"name": name, "text": head + "\n".join(texts)}


def _bindings(functions: dict[str, str]) -> str:
    """The compiler shows the line with its comment if a function is not declared."""
    lines = [f'm.def("{each}", {each}, {json.dumps(told)});  // functions= names it: cpp_sources must declare it'
             for each, told in functions.items()]
    return "\n".join(["PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", *lines, "}\n"])


def _only_declares(text: str, functions: dict[str, str]) -> bool:
    """Whether the text only declares functions. If it contains anything else, one unit could behave
    differently than two."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    text = re.sub(r'#include\s*[<"](torch/(extension|types|torch)|cuda|cuda_runtime|vector|string)(\.h)?[>"]', "", text)
    return not re.search(r"[{}=#]", text) and all(re.search(rf"\b{re.escape(each)}\s*\(", text) for each in functions)


def _collect(text: str, folders: list[str], headers: dict[str, str]) -> None:
    for name in re.findall(r'^\s*#\s*include\s*"([^"]+)"', text, re.M):
        path = next((path for folder in folders if os.path.isfile(path := os.path.join(folder, name))), None)
        if path is not None and name not in headers and not os.path.isabs(name) and ".." not in name:
            headers[name] = _read(path)
            _collect(headers[name], folders, headers)


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()
