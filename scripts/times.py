#!/usr/bin/env python3
"""Where the time of scripts/test.sh goes: writes build/times.txt, and names the stages that grew.

usage: scripts/times.py STAGES     a file of lines "STAGE SECONDS", which scripts/test.sh writes

The table of CONTRIBUTING.md holds what each stage takes from a cold start on two cores. A stage that takes a quarter more is
named; the first ten seconds of growth are noise.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 20
GROWTH, NOISE_S = 1.25, 10


def read_stages(file):
    return [(name, float(seconds)) for name, seconds in (line.split() for line in file.read_text().splitlines())]


def expected_seconds():
    """The table whose head is "| stage | … | cold, s |": a stage's name in the first column, its time in the last."""
    expected, inside = {}, False
    for line in (ROOT / "CONTRIBUTING.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] == "stage":
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and cells[-1].isdigit():
            expected[cells[0].strip("`")] = float(cells[-1])
    return expected


def slowest_objects():
    """(seconds, build, object) of each object's newest compilation, from Ninja's logs."""
    found = {}
    for log in ROOT.glob("build/*/.ninja_log"):
        for line in log.read_text(errors="replace").splitlines()[1:]:
            start, end, _, output, *_ = line.split("\t")
            if output.endswith((".o", ".gch")):
                found[log.parent.name, output] = (int(end) - int(start)) / 1000
    return sorted(((seconds, *key) for key, seconds in found.items()), reverse=True)[:SHOWN]


def slowest_tests():
    """(seconds, build, test), from CTest's last logs."""
    found = []
    for log in ROOT.glob("build/*-tests.log"):
        for name, seconds in re.findall(r"Test +#\d+: (\S+) \.*.*?([0-9.]+) sec", log.read_text(errors="replace")):
            found.append((float(seconds), log.name.removesuffix("-tests.log"), name))
    return sorted(found, reverse=True)[:SHOWN]


def table(title, rows):
    return [title, *(f"{seconds:9.1f} s  {where:10}  {what}" for seconds, where, what in rows), ""]


def grown(stages, expected):
    return [f"{name} took {seconds:.0f} s; CONTRIBUTING.md says {expected[name]:.0f} s"
            for name, seconds in stages
            if name in expected and seconds > max(GROWTH * expected[name], expected[name] + NOISE_S)]


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    stages = read_stages(Path(sys.argv[1]))
    lines = table("stages", [(seconds, "", name) for name, seconds in stages])
    lines += table("slowest tests", slowest_tests())
    lines += table("slowest objects", slowest_objects())
    (ROOT / "build/times.txt").write_text("\n".join(lines))
    for line in grown(stages, expected_seconds()):
        print(line)


if __name__ == "__main__":
    main()
