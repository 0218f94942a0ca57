"""Figures of kernelsmith synthesize: a synthesis that has ended, and how well planted duplicates are found.

    python benchmarks/synthesis.py --figures DIR
    python benchmarks/synthesis.py --pairs DIR [--count 100]
    python benchmarks/synthesis.py --draw DIR [--count 50] [--to FOLDER]

`--pairs` takes modules of DIR (a folder of KernelBench's references, or the tasks of a synthesis). It plants a copy of each
with other names, other constants and its methods in another order, then the same with a line more, plans all of them in the
sandbox, and counts how many copies are found, and how many pairs of different modules are merged. `--draw` draws modules by
a hash, and prints them to be read by hand; with `--to` it writes them as files for torch_replay.py.
"""

import argparse
import ast
import collections
import hashlib
import itertools
import json
import os
import pathlib
import random

from kernelsmith.synthesis.duplicates import Seen
from kernelsmith.synthesis.sandbox import sandboxes


class _Changed(ast.NodeTransformer):
    """Other names for what the module itself binds, other numbers, methods in another order, a line more."""

    def __init__(self, drawn: random.Random, names: set[str], more: bool) -> None:
        self._more = more
        self._drawn, self._names = drawn, {name: f"name{at}" for at, name in enumerate(sorted(names))}

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._names.get(node.id, node.id), node.ctx), node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.arg = self._names.get(node.arg, node.arg)
        return node

    def visit_keyword(self, node: ast.keyword) -> ast.AST:
        self.generic_visit(node)
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        number = type(node.value) in (int, float)
        return ast.copy_location(ast.Constant(node.value + 1 if number else node.value), node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            node.attr = f"own_{node.attr}" if node.attr not in ("training",) else node.attr
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        self.generic_visit(node)
        self._drawn.shuffle(node.body)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        if node.name == "__init__" and self._more:
            node.body.append(ast.parse("self.extra = 1").body[0])
        return node


def changed(code: str, drawn: random.Random, more: bool) -> str:
    tree = ast.parse(code)
    bound = {inner.arg for inner in ast.walk(tree) if isinstance(inner, ast.arg)} - {"self"}
    called = {inner.arg for inner in ast.walk(tree) if isinstance(inner, ast.keyword)}
    bound |= {inner.id for node in tree.body if isinstance(node, ast.ClassDef) for inner in ast.walk(node)
              if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Store)}
    return ast.unparse(ast.fix_missing_locations(_Changed(drawn, bound - called, more).visit(tree)))


def planned(codes: list[str]) -> list[list]:
    """Each one's operators; none if it has no plan."""
    records = ({"reference": code, "only_plan": True} for code in codes)
    batches = iter(lambda: list(itertools.islice(records, 24)), [])
    with sandboxes("", os.cpu_count() or 1) as boxes:
        return [answer.get("operators", []) for _, answer in boxes.each(batches, lambda one: one)]


def pairs(folder: pathlib.Path, count: int) -> None:
    texts = {}
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(errors="replace")
        if "class Model" in text:
            texts[path.relative_to(folder).as_posix()] = text
    names = sorted(texts, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:count]
    own = dict(zip(names, planned([texts[name] for name in names]), strict=True))
    print(f"{sum(map(bool, own.values()))} of {len(names)} have plans")
    for more in (False, True):
        copies = [changed(texts[name], random.Random(name), more) for name in names]
        found = collections.Counter()
        for name, copy, plan in zip(names, copies, planned(copies), strict=True):
            seen = Seen(0.8)
            seen.add(name, texts[name], own[name])
            match = seen.match(copy, plan)
            found[match.by if match else "missed, " + ("both planned" if plan and own[name] else "not planned")] += 1
        print(f"planted {len(names)}{' with a line more' if more else ''}: {dict(found)}")
    merged, drawn = [], list(zip(names, names[1:] + names[:1], strict=True))
    for one, other in drawn:
        seen = Seen(0.8)
        seen.add(one, texts[one], own[one])
        if seen.match(texts[other], own[other]):
            merged.append((one, other))
    print(f"{len(merged)} of {len(drawn)} pairs of different files are merged")
    for one, other in merged:
        print(f"  {one} and {other}")


def records(folder: pathlib.Path, name: str) -> list[dict]:
    lines = map(json.loads, (folder / f"{name}.jsonl").read_text().splitlines()[1:])
    return [one for line in lines for one in line.get("out", ())]


def figures(folder: pathlib.Path) -> None:
    seconds = json.loads((folder / "seconds.json").read_text()) if (folder / "seconds.json").exists() else {}
    sources = records(folder, "1-sources")
    print(f"{len({one['repository'] for one in sources if 'refused' not in one})} repositories with modules")
    for path in sorted(folder.glob("[1-8]-*.jsonl")):
        made = records(folder, path.stem)
        refused = collections.Counter(one["refused"] for one in made if "refused" in one)
        print(f"{path.stem}: {sum('refused' not in one for one in made)} of {len(made)}, {seconds.get(path.stem, '?')} s; "
              + ", ".join(f"{code} {count}" for code, count in refused.most_common()))
    last = records(folder, "8-families")
    print("families:", dict(collections.Counter(one["family"] for one in last).most_common()))
    times = sorted(one["roofline_us"] for one in last)
    if times:
        print(f"roofline: least {times[0]} us, median {times[len(times) // 2]}, most {times[-1]}")
        origins = collections.Counter(one["origin"] for one in last)
        print("arguments by:", dict(origins))
    tried = records(folder, "4-sandbox")
    minutes = (seconds.get("2-extraction", 0) + seconds.get("4-sandbox", 0)) / 60
    if minutes and tried:
        print(f"{len(tried) / minutes:.1f} modules a minute from extraction on")


def draw(folder: pathlib.Path, count: int, to: pathlib.Path | None) -> None:
    for one in sorted(records(folder, "8-families"), key=lambda one: hashlib.sha256(one["id"].encode()).hexdigest())[:count]:
        if to is None:
            print("=" * 100)
            print(f"{one['repository']}: {one['path']} {one['name']} ({one['family']}, level {one['level']}, by {one['origin']}, "
                  f"{one['roofline_us']} us)\n{one['reference']}")
        else:
            to.mkdir(parents=True, exist_ok=True)
            (to / f"{one['name']}_{one['id'][:8]}.py").write_text(f"# roofline_us: {one['roofline_us']}\n{one['reference']}")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--figures", type=pathlib.Path)
    arguments.add_argument("--pairs", type=pathlib.Path)
    arguments.add_argument("--draw", type=pathlib.Path)
    arguments.add_argument("--to", type=pathlib.Path)
    arguments.add_argument("--count", type=int, default=100)
    given = arguments.parse_args()
    if given.pairs:
        pairs(given.pairs, given.count)
    if given.figures:
        figures(given.figures)
    if given.draw:
        draw(given.draw, given.count, given.to)


if __name__ == "__main__":
    main()
