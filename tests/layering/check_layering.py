"""Fails on any include or link between components that allowed.txt does not allow.

    check_layering.py SOURCE_DIR

Reads the #include lines of every component's sources and public headers and the kernelsmith:: targets that its
CMakeLists.txt files name. A wrong edge is printed as file:line and makes the exit status 1.
"""

import fnmatch
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ALLOWED = Path(__file__).with_name("allowed.txt")
PUBLIC = Path("include/kernelsmith")
SHARED = Path("internal/kernelsmith")  # headers for other components that are not installed
AT_THE_ROOT = ("archive", "islands", "prompts", "evaluator", "service")
TOY = Path("tests/toy_backend")  # a backend outside of the house, which keeps the rules of one
NAMES = {TOY: "evaluator_toy"}
HIDDEN_LIBRARIES = ("boost/asio", "boost/graph", "boost/process", "nlohmann/", "yaml-cpp/", "sqlite3", "nats/")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
TARGET = re.compile(r"\bkernelsmith::(\w+)")


@dataclass(frozen=True)
class Component:
    name: str
    folder: Path  # of its sources and private headers (or of its public ones alone), relative to the source directory


def name_of(parts):
    """The component of a folder below evaluator/ or include/kernelsmith/: evaluator/cpu holds evaluator_cpu."""
    return "_".join(parts[:2] if parts[0] == "evaluator" else parts[:1])


def public_folder(name, base=PUBLIC):
    """The folder of the component's public headers, relative to the source directory; SHARED: of those for others."""
    return base / re.sub("^evaluator_", "evaluator/", name)


def read_allowed(text):
    """{pattern: set of names}, in the file's order; ValueError if a rule names what does not stand above it."""
    allowed = {}
    for number, line in enumerate(text.splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        pattern, _, uses = line.partition(":")
        uses = set(uses.split())
        if not uses <= set(allowed):
            raise ValueError(f"{ALLOWED.name}:{number}: {pattern} names {sorted(uses - set(allowed))}, not above it")
        allowed[pattern.strip()] = uses
    return allowed


def rule_for(allowed, name):
    return next((pattern for pattern in allowed if fnmatch.fnmatchcase(name, pattern)), None)


def find_components(root):
    folders = [*(root / "src").glob("*/"), *(root / name for name in AT_THE_ROOT), *(root / "evaluator").glob("*/"), root / TOY]
    components = []
    for folder in sorted(path for path in folders if (path / "CMakeLists.txt").is_file()):
        relative = folder.relative_to(root)
        name = name_of(relative.parts) if relative.parts[0] == "evaluator" else NAMES.get(relative, folder.name)
        components.append(Component(name, relative))
    built = {component.name for component in components}
    public = {name_of(path.parent.relative_to(root / PUBLIC).parts) for path in (root / PUBLIC).rglob("*.hpp")}
    return components + [Component(name, public_folder(name)) for name in sorted(public - built)]


def owner_of(components, path):
    """The component with the deepest folder that holds `path` (relative), or None."""
    owners = [component for component in components if path.is_relative_to(component.folder)]
    return max(owners, key=lambda component: len(component.folder.parts), default=None)


def sources_of(root, components, component):
    for path in sorted((root / component.folder).rglob("*.[ch]pp")):
        if owner_of(components, path.relative_to(root)) == component:
            yield path.relative_to(root)
    for base in (PUBLIC, SHARED):
        folder = public_folder(component.name, base)
        if component.folder != folder:
            yield from (path.relative_to(root) for path in sorted((root / folder).glob("*.hpp")))


def lines_of(path):
    return enumerate(path.read_text(encoding="utf-8").splitlines(), 1)


def private_owner(root, components, component, including, name):
    """Whose private header a quoted include is, if it is another component's; None if it is fine."""
    found = (root / including.parent / name).resolve()
    if found.is_file():
        relative = found.relative_to(root) if found.is_relative_to(root) else None
        owner = owner_of(components, relative) if relative else None
        return None if owner == component else (owner.name if owner else "nobody")
    if (root / component.folder / name).is_file():
        return None
    return next((other.name for other in components if (root / other.folder / name).is_file()), None)


def used_by_includes(root, components, component):
    """Yields (place, used component) and (place, message) for what is wrong whatever the table says."""
    for path in sources_of(root, components, component):
        for number, line in lines_of(root / path):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, name = match.groups()
            place = f"{path}:{number}"
            if name.startswith("kernelsmith/"):
                yield place, name_of(name.split("/")[1:-1]), None
                if path.is_relative_to(PUBLIC) and (root / SHARED.parent / name).is_file():
                    yield place, None, f"a public header includes <{name}>, which is not installed"
            elif path.is_relative_to(PUBLIC) and name.startswith(HIDDEN_LIBRARIES):
                yield place, None, f"a public header includes <{name}>"
            elif quote == '"':
                owner = private_owner(root, components, component, path, name)
                if owner:
                    yield place, None, f"includes \"{name}\", a private header of {owner}"


def used_by_links(root, components, component):
    for path in sorted((root / component.folder).rglob("CMakeLists.txt")):
        if owner_of(components, path.relative_to(root)) != component:
            continue
        for number, line in lines_of(path):
            for target in TARGET.findall(line.split("#")[0]):
                yield f"{path.relative_to(root)}:{number}", target, None


def check(root, allowed):
    """The wrong edges, one line each."""
    root = root.resolve()
    components = find_components(root)
    wrong = []
    for component in components:
        rule = rule_for(allowed, component.name)
        if rule is None:
            wrong.append(f"{component.folder}: {component.name} has no line in {ALLOWED.name}")
            continue
        uses = [*used_by_includes(root, components, component), *used_by_links(root, components, component)]
        for place, used, message in uses:
            if message:
                wrong.append(f"{place}: {message}")
            elif used != component.name and rule_for(allowed, used) not in allowed[rule]:
                wrong.append(f"{place}: {component.name} must not use {used}")
    return sorted(wrong)


def main():
    root = Path(sys.argv[1])
    components = find_components(root)
    if not components:
        sys.exit(f"{root}: no components found")
    wrong = check(root, read_allowed(ALLOWED.read_text(encoding="utf-8")))
    print("\n".join(wrong) or f"{len(components)} components, every edge allowed")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
