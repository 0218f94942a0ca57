"""Fails if a public name of the given modules has no docstring. scripts/docs.sh runs it."""

import importlib
import inspect
import sys


def bare_names(module):
    for name in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
        thing = getattr(module, name)
        if not getattr(thing, "__module__", "").startswith("kernelsmith"):
            continue
        if not inspect.getdoc(thing):
            yield name
        if inspect.isclass(thing):
            members = ((n, m) for n, m in vars(thing).items() if not n.startswith("_"))
            yield from (f"{name}.{n}" for n, m in members
                        if (callable(m) or isinstance(m, (property, classmethod, staticmethod))) and not inspect.getdoc(m))


def main():
    bare = [f"{module}.{name}" for module in sys.argv[1:] for name in bare_names(importlib.import_module(module))]
    if bare:
        sys.exit("these have no docstring:\n  " + "\n  ".join(bare))


if __name__ == "__main__":
    main()
