"""Fails if what is written once for all makers of GPUs names one of them.

    check_vendors.py SOURCE_DIR

Looks at the code and texts (not at comments) of the judge, and of the parts of the GPU backend that every vendor shares. A name
of a vendor's is printed as file:line and makes the exit status 1; so does a vendor's folder that is too large.
"""

import re
import sys
from pathlib import Path

SHARED = ("evaluator/judge", "evaluator/timing", "evaluator/truth", "evaluator/cuda/device", "evaluator/cuda/planner", "evaluator/cuda/runner",
          "evaluator/cuda/call_buffers.*", "evaluator/cuda/call_differences.*", "evaluator/cuda/comparer.*", "evaluator/cuda/cuda_host.*",
          "evaluator/cuda/cuda_oracle.*", "evaluator/cuda/cuda_session.*", "evaluator/cuda/gpu.*", "evaluator/cuda/plan_cache.*",
          "evaluator/cuda/rates.*", "evaluator/cuda/set_cache.*", "evaluator/cuda/toolchain/build_script.*",
          "evaluator/cuda/toolchain/cuda_compiler.*", "evaluator/cuda/toolchain/trusted_builds.cpp")
SUFFIXES = (".cpp", ".hpp", ".cu", ".def")
VENDORS = "evaluator/cuda/vendors"
MOST_LINES = 1500  # of a vendor's folder: more is not what only this vendor has
NAMED = re.compile(r"\b(?:cuda|cu|mc|hip)[A-Z]\w*"  # functions of a runtime or a driver
                   r"|\b(?:CUDA|NVIDIA|NVML|PTX|MACA|MetaX|HIP|ROCm|AMD)\b"
                   r"|\b(?:nvcc|mxcc|hipcc|ptxas|cubin|nvidia|maca)\b"
                   r"|lib(?:cuda|nvidia|mcruntime|amdhip)")


def without_comments(text):
    """The text with comments as blanks; lines stay lines."""
    part = re.compile(r'"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.S)
    return part.sub(lambda m: m[0] if m[0].startswith('"') else "\n" * m[0].count("\n"), text)


def files_of(root):
    for place in SHARED:
        found = root.glob(place) if "*" in place else (root / place).rglob("*") if (root / place).is_dir() else [root / place]
        yield from sorted(path for path in found if path.suffix in SUFFIXES)


def check(root):
    """The lines that name a vendor, one text each."""
    wrong = []
    for path in files_of(root):
        for number, line in enumerate(without_comments(path.read_text(encoding="utf-8")).splitlines(), 1):
            wrong += [f"{path.relative_to(root)}:{number}: names {match[0]}, which belongs into evaluator/cuda/vendors"
                      for match in NAMED.finditer(line)]
    for folder in sorted(path for path in (root / VENDORS).iterdir() if path.is_dir()):
        lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.iterdir())
        if lines > MOST_LINES:
            wrong.append(f"{folder.relative_to(root)}: {lines} lines, {MOST_LINES} are allowed")
    return wrong


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found))
    sys.exit(bool(found))
