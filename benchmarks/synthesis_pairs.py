"""How well duplicates are found, on pairs of modules that a person has read and labelled.

    KERNELSMITH_SYNTHESIS_REPOSITORIES=FOLDER python benchmarks/synthesis_pairs.py PLANS --against KernelBench

benchmarks/synthesis_pairs.jsonl names the pairs (repository@commit:path:Class, or a path of KernelBench's), with label and
reason; docs/synthesis.md says by which rule they are labelled. FOLDER holds the repositories, checked out at these commits.
PLANS is a file of this command's: modules that it has planned already are not planned again. Thresholds were chosen on the half
`development`; the other half is what counts.
"""

import argparse
import hashlib
import json
import os
import pathlib
from collections import defaultdict

from kernelsmith.synthesis import filters
from kernelsmith.synthesis.calls import Calls
from kernelsmith.synthesis.duplicates import Seen
from kernelsmith.synthesis.extract import modules
from kernelsmith.synthesis.pipeline import Pipeline
from kernelsmith.synthesis.repository import Repository
from kernelsmith.synthesis.sandbox import sandboxes
from kernelsmith.synthesis.settings import Settings
from kernelsmith.synthesis.sources import source

PAIRS = pathlib.Path(__file__).with_name("synthesis_pairs.jsonl")
BATCH = 16


def half(pair: dict) -> str:
    drawn = hashlib.sha256(f"{pair['a']} {pair['b']}".encode()).digest()[0]
    return "development" if drawn % 2 else "held out"


def name_of(record: dict) -> str:
    return f"{record['repository']}@{record['commit'][:12]}:{record['path']}:{record['name']}"


def extracted(folder: pathlib.Path, names: set[str]) -> dict[str, dict]:
    """The modules of these names."""
    paths = defaultdict(set)
    for name in names:
        repository, path, _ = name.split(":")
        paths[repository.partition("@")[0]].add(path)
    places = [folder / repository for repository in sorted(paths)]
    pipeline = Pipeline(places, pathlib.Path(os.devnull), Settings(), None)
    found = {}
    for place in places:
        repository = Repository(place, pipeline._package)
        calls = Calls(repository)
        for about in source(place):
            if about.get("path") in paths[place.name]:
                found.update((name_of(one), one) for one in modules(repository, about, calls) if "refused" not in one)
    return {name: found[name] for name in names if name in found}


def plan(tasks: dict[str, dict], file: pathlib.Path) -> None:
    """Appends {"id", "code", "operators"} of each."""
    names = sorted(tasks)
    with sandboxes("", 1) as box, file.open("a") as stream:
        for at in range(0, len(names), BATCH):
            batch = names[at:at + BATCH]
            for name, answer in zip(batch, box.answers([tasks[name]["task"] for name in batch]), strict=True):
                about = tasks[name]["about"]
                judged = filters.judged(about, answer) if "repository" in about else answer
                stream.write(json.dumps({"id": name, "code": about["code"], "operators": judged.get("operators", [])}) + "\n")
            stream.flush()
            print(f"planned {min(at + BATCH, len(names))} of {len(names)}", flush=True)


def tasks_of(names: set[str], against: pathlib.Path) -> dict[str, dict]:
    """What the sandbox is asked."""
    tasks = {}
    for name in names:
        if (against / name).is_file():
            code = (against / name).read_text()
            tasks[name] = {"task": {"reference": code}, "about": {"code": code}}
    rest = names - tasks.keys()
    if rest:
        folder = os.environ.get("KERNELSMITH_SYNTHESIS_REPOSITORIES")
        if not folder:
            raise SystemExit("KERNELSMITH_SYNTHESIS_REPOSITORIES is not set: name the folder of repositories")
        for name, record in extracted(pathlib.Path(folder), rest).items():
            tasks[name] = {"task": {key: record[key] for key in ("code", "annotations", "calls")}, "about": record}
    return tasks


def merged(one: dict, other: dict) -> str:
    """By which rule, or nothing."""
    seen = Seen(Settings().similar)
    seen.add(one["id"], one["code"], one["operators"])
    match = seen.match(other["code"], other["operators"])
    return match.by if match else ""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("plans", type=pathlib.Path)
    arguments.add_argument("--against", type=pathlib.Path, required=True)
    given = arguments.parse_args()
    pairs = [json.loads(line) for line in PAIRS.read_text().splitlines()]
    given.plans.touch()
    known = {one["id"]: one for one in map(json.loads, given.plans.read_text().splitlines())}
    missing = {pair[side] for pair in pairs for side in "ab"} - known.keys()
    if missing:
        plan(tasks_of(missing, given.against), given.plans)
        known = {one["id"]: one for one in map(json.loads, given.plans.read_text().splitlines())}
    counts: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    absent = 0
    for pair in pairs:
        if not (pair["a"] in known and pair["b"] in known):
            absent += 1
            continue
        by = merged(known[pair["a"]], known[pair["b"]])
        for part in (half(pair), "all"):
            counts[part, pair["label"]][0] += bool(by)
            counts[part, pair["label"]][1] += 1
        if bool(by) != (pair["label"] == "same"):
            print(f"{pair['label']}, {'merged by ' + by if by else 'not found'} ({half(pair)}): {pair['a']} and {pair['b']}: "
                  f"{pair['reason']}")
    for (part, label), (found, of) in sorted(counts.items()):
        print(f"{part}: {found} of {of} {label} pairs {'found' if label == 'same' else 'merged'} ({found / of:.1%})")
    if absent:
        print(f"{absent} pairs name a module that is not there")


if __name__ == "__main__":
    main()
