"""The compute capability of the device on which a kernel was measured, by the device's name in the run."""

from __future__ import annotations

import re

from .._errors import Error

# Words in device names, and the devices' compute capability.
_KNOWN = {"V100": (7, 0), "T4": (7, 5), "A100": (8, 0), "A30": (8, 0), "A10": (8, 6), "A40": (8, 6), "L4": (8, 9),
          "L40": (8, 9), "L40S": (8, 9), "4090": (8, 9), "H20": (9, 0), "H100": (9, 0), "H200": (9, 0), "GH200": (9, 0),
          "B200": (10, 0), "GB200": (10, 0), "B300": (10, 3), "GB300": (10, 3), "5090": (12, 0)}


def capability_of(hardware: str, said: str | None) -> tuple[int, int]:
    """`said` is the user's text, such as "9.0". Raises Error if it is missing and the device is unknown."""
    if said is not None:
        if not re.fullmatch(r"\d+\.\d+", said):
            raise Error("a compute capability is two numbers", "invalid_argument", f"--capability {said}", "such as 9.0")
        major, minor = said.split(".")
        return int(major), int(minor)
    for word in re.split(r"[\s-]+", hardware):
        if word in _KNOWN:
            return _KNOWN[word]
    raise Error(f"the compute capability of {hardware!r} is unknown", "bad_input", "hardware", "give it: --capability 9.0")
