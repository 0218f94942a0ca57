"""The arms: keys of run.yaml over the command's defaults for a model. All else is equal, the number of calls first of all."""

from __future__ import annotations

import re
import sys

# Every call is a first program: it gets the same prompt, and shows and repairs nothing.
_FIRST_PROGRAMS = ["sampler.opening=1000000", "sampler.failures=0", "limits.repairs=0", "operators=[{operator: rewrite}]"]

ARMS = {
    "best-of-N": [*_FIRST_PROGRAMS, "limits.tunings=0"],
    "best-of-N-tuned": _FIRST_PROGRAMS,  # with the tuner, whose evaluations cost no calls
    "evolution": [],
    "evolution-untuned": ["limits.tunings=0"],
    "mixture": ["sampler.kind=mixture"],
    "four-islands": ["islands.count=4"],
}


def arm_of(text: str) -> tuple[str, list[str]]:
    """The arm "NAME KEY=VALUE ..."."""
    name, *keys = text.split() or [""]
    if name in ARMS:
        sys.exit(f"error: there is an arm {name} already; give yours another name")
    if not re.fullmatch(r"[\w.-]+", name) or not all("=" in key for key in keys):
        sys.exit(f"error: an arm is a name and keys of run.yaml, such as 'four islands.count=4'; found '{text}'")
    return name, keys
