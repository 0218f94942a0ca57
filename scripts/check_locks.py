#!/usr/bin/env python3
"""Checks by clang's -Wthread-safety that what a mutex guards is used with the mutex held.

Usage: scripts/check_locks.py BUILD_FOLDER [FILE]...
BUILD_FOLDER has a compile_commands.json that names each source by itself. With files that changed, only the components that
they belong to are checked, or all if one of them is a public header that names a lock.

The sources of a target that name a lock, or include a header beside them that does, are compiled as one: each header is read
once. They can be: a unity build does the same.
"""
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("archive", "evaluator", "islands", "prompts", "python", "service", "src")
COMPILER = "clang++-14"
CHECK = ("-fsyntax-only", "-Wno-everything", "-Wthread-safety", "-Werror=thread-safety")
LOCK = re.compile(r"\b(Mutex|MutexLock)\b")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
MISTAKES = ROOT / "tests/core/unlocked.cpp"


@functools.cache
def names_a_lock(file):
    return bool(LOCK.search(file.read_text()))


def holds_locks(source, folders):
    headers = (folder / name for name in INCLUDE.findall(source.read_text()) for folder in (source.parent, *folders))
    return names_a_lock(source) or any(map(names_a_lock, filter(pathlib.Path.is_file, headers)))


def groups_of(commands):
    """The sources that hold locks, by target and the options that they are compiled with."""
    groups = {}
    for entry in commands:
        _, *options, _, output, _, source = shlex.split(entry["command"])  # compiler, options, -o output -c source
        file = pathlib.Path(source)
        if output.split("/")[0] not in FOLDERS or file.is_relative_to(ROOT / "build"):
            continue
        folders = [pathlib.Path(option[2:]) for option in options if option.startswith(f"-I{ROOT}")]
        if holds_locks(file, folders):
            options = tuple(option for option in options if "pch" not in option)  # GCC's alone
            groups.setdefault((output.split(".dir/")[0], options), []).append(file)
    return groups


def changed_groups(groups, changed):
    """Those whose folder a changed file is in; a folder within it may be another component's, which does no harm."""
    if any(file.startswith(("include/", "internal/")) and names_a_lock(ROOT / file) for file in changed):
        return groups
    in_folder = {name: any(file.startswith(name.split("/CMakeFiles/")[0] + "/") for file in changed) for name, _ in groups}
    return {group: files for group, files in groups.items() if in_folder[group[0]]}


def check(options, files):
    """What clang says."""
    text = "".join(f'#include "{file}"\n' for file in files)
    done = subprocess.run([COMPILER, *options, *CHECK, "-x", "c++", "-"], input=text, text=True, stderr=subprocess.PIPE)
    return done.stderr if done.returncode else ""


def finds_mistakes():
    """Whether clang finds just the mistakes of MISTAKES: a check that is switched off finds nothing anywhere."""
    lines = MISTAKES.read_text().splitlines()
    said = check([f"-I{ROOT}/internal", "-std=c++20"], [MISTAKES])
    found = re.findall(rf"{MISTAKES}:(\d+):\d+: error: .*-Wthread-safety", said)
    return {int(line) for line in found} == {number for number, line in enumerate(lines, 1) if line.endswith("// wrong")}


def main():
    build, *changed = sys.argv[1:]
    if not finds_mistakes():
        sys.exit(f"check_locks: {COMPILER} does not find what is wrong in {MISTAKES}")
    groups = groups_of(json.loads((pathlib.Path(build) / "compile_commands.json").read_text()))
    if not groups:
        sys.exit(f"check_locks: {build} compiles nothing that holds locks")
    if changed:
        groups = changed_groups(groups, changed)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = list(pool.map(check, (options for _, options in groups), groups.values()))
    print("".join(said), end="", file=sys.stderr)
    print(f"{sum(map(len, groups.values()))} sources")
    sys.exit(any(said))


if __name__ == "__main__":
    main()
