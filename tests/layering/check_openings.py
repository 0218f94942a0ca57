"""Fails on a C++ file of which neither its own first lines nor those of its header say what it is.

    check_openings.py SOURCE_DIR

A test may leave that to the header of what it tests. Programs that are data (examples, cases of the red team, regressions) are not
looked at.
"""

import sys
from collections import defaultdict
from pathlib import Path

FOLDERS = ("archive", "benchmarks", "evaluator", "include", "internal", "islands", "prompts", "python", "service", "src", "tests")
DATA = ("evaluator/command/template", "evaluator/cpu/template", "evaluator/cuda/template", "evaluator/python/template", "tests/consumer", "tests/redteam/cpu", "tests/redteam/cuda", "tests/regressions")


def files_of(root):
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.[ch]pp")):
            if not str(path.relative_to(root)).startswith(DATA):
                yield path


def opens(path):
    return path.read_text(encoding="utf-8").lstrip().startswith("//")


def silent(root):
    """Paths, relative to the root."""
    files = list(files_of(root))
    says = defaultdict(bool)
    for path in files:
        if path.suffix == ".hpp":
            says[path.stem] |= opens(path)
    return [path.relative_to(root) for path in files if not opens(path) and
            not (path.suffix == ".cpp" and (says[path.stem] or says[path.stem.removesuffix("_test")]))]


def main():
    found = silent(Path(sys.argv[1]))
    for path in found:
        print(f"{path}: begin it with one to three lines that say what it is and who may use it")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
