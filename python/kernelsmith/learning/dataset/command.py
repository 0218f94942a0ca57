"""`kernelsmith dataset`: the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ..._command_line import Parser
from ..._errors import Error
from ..._words import counted
from .export import Exported, export
from .settings import ACCELERATED, FORMATS, KINDS, PRESETS, STEPS, Settings


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="kernelsmith dataset", allow_abbrev=False,
                    description="Make training data from runs whose replies were kept (docs/datasets.md)")
    add = parser.add_argument
    add("RUNS", nargs="+", type=Path, help="run folders")
    add("--kind", required=True, choices=KINDS, help="what the rows are for")
    add("-o", "--out", metavar="DIR", type=Path, required=True, help="a new folder, or the folder of an export that was cut off")
    add("--format", choices=FORMATS, default="parquet", help="the format of the files (parquet, which needs pyarrow)")
    add("--preset", choices=PRESETS, help="the columns of a published set")
    add("--against", metavar="FOLDER", type=Path, help="drop the tasks whose references are in this folder")
    add("--similar", metavar="J", type=float, default=0.8,
        help="the Jaccard index at which a task counts as one of that folder (0.8)")
    add("--licence", metavar="[TASK=]TEXT", action="append", default=[],
        help="the licence of references whose files name no licence; may be repeated")
    add("--mixed-hardware", action="store_true", help="take runs of different hardware; the column hardware tells them apart")
    add("--over", choices=("parent", "baseline"), default="parent", help="sft: a step must be faster than its parent or the baseline (parent)")
    add("--any-form", action="store_true",
        help="sft, multiturn: keep replies in another form than the prompt asks for, such as a program instead of edits")
    add("--steps", choices=STEPS, default="best",
        help="rl: steps from parents that are already accelerated, or from any accepted parent (best)")
    add("--parent-speedup", metavar="X", type=float, default=ACCELERATED,
        help=f"rl: the least speedup of an accelerated parent ({ACCELERATED:g})")
    add("--per-task", metavar="K", type=int, default=1, help="rl: the largest number of steps of a task (1)")
    add("--no-balance", dest="balance", action="store_false", help="sft, rl: do not balance the levels of difficulty")
    add("--turns", metavar="N", type=int, default=3, help="multiturn: the largest number of turns in a row (3)")
    add("--same-prompt", action="store_true", help="preference: pair replies to equal prompts only")
    add("--gain-only", action="store_true", help="preference: take only chosen replies that gain beyond noise over the parent")
    add("--test-share", metavar="P", type=float, default=0.0,
        help="the share of tasks whose rows go into the split test (0)")
    add("--shard-rows", metavar="N", type=int, default=1024, help="the largest number of rows in a file (1024)")
    return parser


def dataset(arguments: Sequence[str]) -> int:
    """Runs the command. Returns the exit status. Raises Error."""
    options = vars(_parser().parse_args(arguments))
    runs, out = options.pop("RUNS"), options.pop("out")
    licences = dict(_licence(text) for text in options.pop("licence"))
    _say(export(runs, out, Settings(licences=licences, **options)))
    return 0


def _licence(text: str) -> tuple[str, str]:
    task, is_for_one, licence = text.partition("=")
    found = licence if is_for_one else task
    if not found.strip():
        raise Error("a licence is a text, or TASK=TEXT", "invalid_argument", "--licence")
    return (task if is_for_one else ""), found.strip()


def _say(made: Exported) -> None:
    splits = ", ".join(f"{split} {counted(count, 'row')}" for split, count in made.rows.items() if count)
    print(f"{made.folder}: {splits} in {counted(len(made.files), 'file')}; README.md is the card")
    for rule, count in made.dropped:
        print(f"  {count:>7} dropped: {rule}")
    if made.uncompared:
        print(f"--against: {counted(made.uncompared, 'task')} not compared, without a reference in a language of the folder")
