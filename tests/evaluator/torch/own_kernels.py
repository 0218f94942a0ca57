"""The key `kernels` of a worker's request to prepare, for programs that speak to workers without the C++ that sends it: read
from the headers that have its texts and numbers.
"""

import pathlib
import re

HEADERS = pathlib.Path(__file__).resolve().parents[3] / "internal" / "kernelsmith" / "evaluator" / "cuda"
CONSTANT = re.compile(r"inline constexpr [\w:]+(?: char\*)? k(\w+) = (?:R\"\((.*?)\)\"|([\d']+));", re.DOTALL)


def own_kernels() -> dict[str, object]:
    text = (HEADERS / "ptx_kernels.hpp").read_text() + (HEADERS / "launch_rules.hpp").read_text()
    return {re.sub("(?<!^)([A-Z])", r"_\1", name).lower(): ptx or int(number.replace("'", ""))
            for name, ptx, number in CONSTANT.findall(text)}
