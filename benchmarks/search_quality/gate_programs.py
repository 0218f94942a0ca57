#!/usr/bin/env python3
"""Recorded programs for gate_replay, one JSON object a line, in the order of their searches.

    KERNELSMITH_SEARCH_DATA=FOLDER gate_programs.py | build/dev/benchmarks/gate_replay

Reads CodeEvolve's checkpoints and AdaExplore's trees. `same_code` is Python's own view of a program: the bytecode, in
which comments, docstrings, layout and the names of local variables do not occur."""
import collections
import hashlib
import json
import math
import os
import pathlib
import pickle
import sys
import types
import warnings


class Record:
    """Stands for every object of a checkpoint. Nothing of the class that wrote it is loaded or called."""

    def __init__(self, *_arguments, **_names):
        self.state = {}

    def __setstate__(self, state):
        self.state = state


class RecordReader(pickle.Unpickler):
    def find_class(self, module, name):
        return Record


def signature(code):
    constants = tuple(signature(one) if isinstance(one, types.CodeType) else (type(one).__name__, repr(one))
                      for one in code.co_consts)
    counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_nlocals,
              len(code.co_cellvars), len(code.co_freevars))
    return counts, code.co_name, code.co_code, constants, code.co_names, code.co_exceptiontable


def same_code(text):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = repr(signature(compile(text, "program", "exec", optimize=2, dont_inherit=True)))
    except (SyntaxError, ValueError):
        seen = text
    return hashlib.sha256(seen.encode("utf-8", "surrogatepass")).hexdigest()


def codeevolve(folder):
    """One search is one experiment, all its islands together. The seed counts once."""
    searches = collections.defaultdict(dict)
    for file in sorted(folder.glob("**/ckpt/*.pkl")):
        with file.open("rb") as stream:
            programs = RecordReader(stream).load()["sol_db"].state["programs"]
        search = str(file.relative_to(folder).parents[2])
        for record in programs.values():
            searches[search].setdefault(record.state["id"], record.state)
    for search, programs in sorted(searches.items()):
        seeds = set()
        in_order = sorted(programs.values(), key=lambda one: (one["iteration_found"], one["island_found"] or 0))
        for program in in_order:
            is_seed = program["iteration_found"] == 0
            if is_seed and program["code"] in seeds:
                continue
            if is_seed:
                seeds.add(program["code"])
            score = float(program["fitness"]) if program["returncode"] == 0 else math.nan
            yield "codeevolve", search, program["code"], score if math.isfinite(score) else None


def adaexplore(folder):
    for file in sorted(folder.glob("web/showcase/*-200.json")):
        for step in json.loads(file.read_text())["steps"]:
            is_right = step["score"]["correct"] and step["runtime_us"] > 0
            if step["code"]:
                yield "adaexplore", file.stem, step["code"], 1 / step["runtime_us"] if is_right else None


def main():
    data = os.environ.get("KERNELSMITH_SEARCH_DATA")
    if not data:
        sys.exit("KERNELSMITH_SEARCH_DATA names no folder: set it to the one that holds the recorded searches")
    root = pathlib.Path(data)
    for read, name in ((codeevolve, "inter-co+science-codeevolve"), (adaexplore, "StigLidu+AdaExplore")):
        for corpus, search, text, score in read(root / name):
            print(json.dumps({"corpus": corpus, "search": search, "text": text, "score": score,
                              "same_code": same_code(text)}))


main()
