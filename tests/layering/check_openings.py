"""Fails on a C++ or Python file of which neither its own first lines nor those of its header say what it is, and on Python modules
that import each other in a circle.

    check_openings.py SOURCE_DIR

The header of a .cpp is the one that it includes and is named after; a test is named after the header of what it tests. Programs that
are data (examples, cases of the red team, regressions) are not looked at.
"""

import ast
import re
import sys
from collections import defaultdict
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

FOLDERS = ("archive", "benchmarks", "evaluator", "include", "internal", "islands", "prompts", "python", "scripts", "service", "src", "tests")
DATA = ("evaluator/command/template", "evaluator/cpu/template", "evaluator/cuda/template", "evaluator/python/template", "tests/consumer",
        "tests/redteam/cpu", "tests/redteam/cuda", "tests/redteam/torch", "tests/regressions")
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
OPENING = {".cpp": ("//",), ".hpp": ("//",), ".py": ('"""', "#")}


def opens(text, kind):
    return text.removeprefix("\ufeff").lstrip().startswith(OPENING[kind]) or not text.strip()


def silent(root):
    """Paths, relative to the root."""
    texts = {}
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*.*")):
            if path.suffix in OPENING and not (name := str(path.relative_to(root))).startswith(DATA):
                texts[name] = path.read_text(encoding="utf-8")
    headers = defaultdict(list)
    for name in texts:
        headers[Path(name).name].append(name)

    def by_header(name):
        stem = Path(name).stem
        own = [one for one in INCLUDE.findall(texts[name]) if Path(one).stem in (stem, stem.removesuffix("_test"))]
        return any(opens(texts[header], ".hpp") for one in own for header in headers[Path(one).name] if header.endswith(one))

    return [name for name, text in texts.items() if not opens(text, Path(name).suffix) and not (name.endswith(".cpp") and by_header(name))]


def imported(module, path):
    """The modules that it may import, by their whole names; within functions, too."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            base = ".".join(package.split(".")[: 1 - node.level or None] if node.level else [])
            base = ".".join(part for part in (base, node.module) if part)
            yield from (f"{base}.{one.name}" for one in node.names)
            yield base


def circle(root):
    """The modules of one circle of imports, or an empty result. Imports in a package's `__init__.py` do not count."""
    modules = {".".join(path.relative_to(root / "python").with_suffix("").parts): path
               for path in (root / "python/kernelsmith").rglob("*.py") if path.name != "__init__.py"}
    try:
        TopologicalSorter({name: modules.keys() & imported(name, path) for name, path in modules.items()}).prepare()
    except CycleError as found:
        return found.args[1]
    return []


def main():
    root = Path(sys.argv[1])
    found = [f"{name}: begin it with one to three lines that say what it is and who may use it" for name in silent(root)]
    if modules := circle(root):
        found.append(f"these modules import each other: {' -> '.join(modules)}")
    for line in found:
        print(line)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
