"""Different candidates of one seed, for benchmarks of the torch backend."""

import pathlib
import re
from collections.abc import Iterator

EXAMPLES = pathlib.Path(__file__).resolve().parent.parent / "examples" / "torch"

_KNOB = re.compile(r"^(\w+ = )\S+(\s+# @tune (.+))$", re.MULTILINE)
_KERNEL = re.compile(r"@triton\.jit\s*\ndef (\w+)")


def seeds(folder: pathlib.Path) -> list[pathlib.Path]:
    """The seeds of the tasks below the folder that have one with a Triton kernel."""
    return [path for path in sorted(folder.rglob("seed.py"))
            if path.with_name("reference.py").exists() and _KERNEL.search(path.read_text())]


def variant(seed: str, number: int) -> str:
    """The seed with the knobs' values that the number stands for, from the first values on, and another name of its kernel:
    no two of them have the same plan, however few knobs there are."""
    rest = number

    def put(knob: re.Match[str]) -> str:
        nonlocal rest
        values = knob[3].split()
        rest, at = divmod(rest, len(values))
        return knob[1] + values[at] + knob[2]

    kernel = _KERNEL.search(seed)[1]
    frozen, begin, block = _KNOB.sub(put, seed).partition("EVOLVE-BLOCK-START")
    return frozen + begin + re.sub(rf"\b{kernel}\b", f"{kernel}_{number}", block)


def variants(seed: str) -> Iterator[str]:
    """Without end."""
    number = 0
    while True:
        yield variant(seed, number)
        number += 1
