"""README.md of a data set: its rows, rules, contents and licences."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable

from ... import _core
from ..._words import counted, visible
from .plan import SPLITS, Contaminated, Plan
from .preference import gains
from .rows import form_of, same_prompt, uuid
from .settings import Settings
from .shards import require_pyarrow
from .steps import Step

_ABOUT = {
    "sft": "Prompts and replies for supervised fine-tuning: every correct translation, and each step from a correct program "
           "that gained beyond noise. TRL and verl read the column `messages`.",
    "rl": "Prompts for reinforcement learning: the best steps of each task. No prompt shows a program that another selected "
          "step made, or a descendant of one. verl reads the rows unchanged, and TRL reads the column `prompt`.",
    "multiturn": "Conversations of several turns: chains from parent to child. Each user message is the prompt that the "
                 "model saw, with the program before and its evaluation.",
    "preference": "Pairs of answers to the same parent: the chosen one is better than the rejected one beyond noise.",
}

_KIND_ONLY = {"sft": ["over", "any_form", "balance"], "rl": ["steps", "parent_speedup", "per_task", "balance"],
              "multiturn": ["turns", "any_form"], "preference": ["same_prompt", "gain_only"]}
_UNKNOWN = "unknown"
_GAINS = {True: "gain beyond noise", False: "no gain beyond noise", None: "unknown, or a translation"}


def card(plan: Plan) -> str:
    """Markdown with the front matter that Hugging Face's loader reads. Equal rows give equal text."""
    steps = list({step.key: step for row in plan.rows for step in row.steps}.values())
    verdicts = [step.verdict for step in steps if step.verdict]
    tasks_of_steps = [step.run.task for step in steps]
    tasks = {task.key: task for task in tasks_of_steps}
    licences = [plan.settings.licence(task) for task in tasks.values()]
    parts = [
        _front(plan),
        f"# {plan.settings.kind} rows from kernelsmith\n\n{_ABOUT[plan.settings.kind]}\n",
        _table("Rows", "split", ((split, len(plan.of(split))) for split in SPLITS)),
        f"From {counted(len(plan.runs), 'run')}, {counted(len(tasks), 'task')} with rows. Splits are by task.\n",
        _table("Steps by rule", "rule", [("in a row", len(steps)), *plan.tally.counts()]),
        *_of_kind(plan),
        _table("Families", "family", _counted(task.difficulty.family or _UNKNOWN for task in tasks_of_steps)),
        _table("Difficulty", "level", _counted(str(task.difficulty.level or _UNKNOWN) for task in tasks_of_steps)),
        _table("Licences of references", "licence", _counted(licences), "tasks"),
        _table("Hardware", "hardware", _counted(verdict.hardware or "not named" for verdict in verdicts)),
        _table("Toolchains", "toolchain", _counted(verdict.toolchain or _UNKNOWN for verdict in verdicts)),
        _table("Models", "model", _counted(step.model or "not named" for step in steps)),
        _table("Versions of kernelsmith that searched", "version",
               _counted(run.version or _UNKNOWN for run in plan.runs), "runs"),
        _decontamination(plan) if plan.settings.against else "",
        _made(plan.settings),
    ]
    return "\n".join(part for part in parts if part)


def _of_kind(plan: Plan) -> list[str]:
    if plan.settings.kind == "preference":
        return [_table("Pairs", "prompts", _counted(_prompts_of(*row.steps) for row in plan.rows), "pairs"),
                _table("Chosen replies", "over the parent", _counted(_GAINS[gains(row.steps[0])] for row in plan.rows),
                       "pairs")]
    if plan.settings.kind == "rl":
        return []
    names = {True: "as the prompt asks", False: "another", None: _UNKNOWN}
    return [_table("Form of replies", "form", _counted(names[form_of(row.steps)] for row in plan.rows), "rows")]


def _prompts_of(chosen: Step, rejected: Step) -> str:
    return "the same prompt" if same_prompt(chosen, rejected) else "different prompts"


def _front(plan: Plan) -> str:
    suffix = "jsonl" if plan.settings.format == "jsonl" else "parquet"
    lines = ["---", "configs:", "- config_name: default", "  data_files:"]
    for split in SPLITS:
        if plan.of(split):
            lines += [f"  - split: {split}", f"    path: {split}-*.{suffix}"]
    return "\n".join([*lines, "---", ""])


def _counted(values: Iterable[str]) -> list[tuple[str, int]]:
    return sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))


def _table(title: str, what: str, rows: Iterable[tuple[str, int]], of: str = "") -> str:
    lines = [f"| {_cell(name)} | {count} |" for name, count in rows if count]
    if not lines:
        return ""
    unit = of or ("rows" if title == "Rows" else "steps")
    return "\n".join([f"## {title}", "", f"| {what} | {unit} |", "|---|---|", *lines, ""])


def _cell(text: str) -> str:
    return visible(" ".join(text.replace("|", "\\|").split()))


def _decontamination(plan: Plan) -> str:
    found = plan.contaminated
    tasks, steps = len({one.task.key for one in found}), sum(one.steps for one in found)
    return (f"## Decontamination\n\nDropped: {counted(tasks, 'task')} with {counted(steps, 'step')}. A reference of the "
            "benchmark has the same syntax tree, or nearly the same text. `dropped.jsonl` lists them.\n\n"
            f"Not compared: {counted(plan.uncompared, 'task')} without a reference in a language of the benchmark.\n")


def _made(settings: Settings) -> str:
    """The options and versions, which give the same bytes from the same runs."""
    names = ["kind", "preset", "format", *_KIND_ONLY[settings.kind], "mixed_hardware", "test_share", "shard_rows"]
    if settings.against:
        names.append("similar")
    lines = [f"- {name}: {json.dumps(getattr(settings, name))}" for name in names]
    versions = [f"- kernelsmith {_core.__version__}"]
    if settings.format != "jsonl":
        versions.append(f"- pyarrow {require_pyarrow().__version__}")
    return "\n".join(["## Made by", "", *versions, *lines, ""])


def dropped_lines(found: list[Contaminated]) -> str:
    """`dropped.jsonl`: the rows dropped because of the benchmark."""
    rows = [{"task": one.task.name, "file": one.match.file, "by": one.match.by,
             "similarity": one.match.similarity, "steps": one.steps} for one in found]
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def contents(plan: Plan) -> str:
    """The data that determines the bytes of all files. Journals only grow, so their lengths determine their
    contents."""
    runs = "".join(f"{run.id} {run.events} {run.task.key} {run.task.licence}\n" for run in plan.runs)
    rows = "".join(f"{row.split} {' '.join(map(uuid, row.steps))}\n" for row in plan.rows)
    return f"{sorted(plan.settings.licences.items())}\n{runs}{rows}{dropped_lines(plan.contaminated)}"
