"""Rows as dicts with all data; columns.py selects the columns of a kind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..next_turn import feedback_after
from .columns import ASKED
from .figures import Figure
from .settings import Settings
from .steps import Gain, Step, Verdict, gain
from .texts import Reader

Message = dict[str, str]


def row_of(steps: Sequence[Step], settings: Settings, reader: Reader, split: str, index: int) -> dict[str, Any]:
    """`index` is the row's number in its split."""
    made = _MAKERS[settings.kind](steps, reader, split, index)
    return {**made, "licence": settings.licence(steps[0].run.task), "split": split, "index": index}


def uuid(step: Step) -> str:
    """A UUID from the run's id and the ticket, so that it is equal in every export."""
    return f"{step.run.id}-{step.ticket}"


def _facts(step: Step, reader: Reader) -> dict[str, Any]:
    """A step's identity, and the measurements of its child."""
    run, verdict = step.run, step.verdict or Verdict(False)
    task, base = run.task, run.base(step)
    return {
        "uuid": uuid(step), "run": run.id, "ticket": step.ticket, "operator": step.operator, "_id": step.operator,
        "origin": run.origins[step.ticket], "model": step.model, "hardware": verdict.hardware,
        **_asked(reader.reply(step)),
        "step": "translation" if base is None else "improvement",
        "task": task.name, "entry_point": task.entry_point, "reference_code": task.reference,
        "family": task.difficulty.family, "level": task.difficulty.level, "operators": list(task.difficulty.operators),
        "own_share": verdict.own_share, "score_of": verdict.score_of,
        **_parent(step, reader),
        **_three("speedup", verdict.speedup), **_three("score", verdict.score),
        **_gain(None if base is None or not verdict.accepted else gain(run, step.ticket, base)),
    }


def _asked(reply: dict[str, Any]) -> dict[str, Any]:
    """How the reply was sampled, and why it ended. A value is None if it was left to the server, or if the
    run is older than the journal's key."""
    return {name: reply.get(name) for name in ASKED}


def _parent(step: Step, reader: Reader) -> dict[str, Any]:
    """`parent_code` is the program that the prompt asks to change, even if it was rejected. `parent_speedup`
    is the speedup of the accepted program from which it comes, over the baseline, or that program's score if
    there is no baseline. `parent_binary` is that of `parent_code`."""
    base = step.run.base(step)
    verdict = Verdict(False) if base is None else step.run.verdicts[base]
    figure = verdict.speedup or verdict.score
    shown = Verdict(False) if step.parent is None else step.run.verdicts.get(step.parent, Verdict(False))
    return {"parent_code": "" if step.parent is None else reader.code(step.run, step.parent),
            "parent_speedup": figure.median if figure else None, "parent_binary": shown.binary}


def _three(name: str, figure: Figure | None) -> dict[str, float | None]:
    return {name: figure.median if figure else None, f"{name}_low": figure.low if figure else None,
            f"{name}_high": figure.high if figure else None}


def _gain(found: Gain | None) -> dict[str, Any]:
    return {**_three("gain", found.figure if found else None), "gain_by": found.by if found else None}


def prompt_of(reply: dict[str, Any]) -> list[Message]:
    """The messages sent to the model."""
    system = [{"role": "system", "content": reply["system"]}] if reply.get("system") else []
    return [*system, {"role": "user", "content": reply["user"]}]


def _answer(reply: dict[str, Any]) -> Message:
    return {"role": "assistant", "content": reply["text"]}


def _sft(steps: Sequence[Step], reader: Reader, split: str, index: int) -> dict[str, Any]:
    reply = reader.reply(steps[0])
    return {**_facts(steps[0], reader), "messages": [*prompt_of(reply), _answer(reply)],
            "reasoning": reply.get("reasoning", ""), "form_followed": form_of(steps)}


def _rl(steps: Sequence[Step], reader: Reader, split: str, index: int) -> dict[str, Any]:
    facts = _facts(steps[0], reader)
    prompt = prompt_of(reader.reply(steps[0]))
    truth = json.dumps({"reference_code": facts["reference_code"]}, ensure_ascii=False)
    extra = {key: facts[key] for key in ("entry_point", "parent_code", "parent_speedup", "parent_binary", "uuid", "task")}
    return {**facts, "data_source": "kernel_rl", "agent_name": "ks_kernel", "prompt": prompt,
            "ability": "kernel_optimization", "reward_model": {"style": "rule", "ground_truth": truth},
            "extra_info": {**extra, "index": index, "split": split}}


def _conversation(steps: Sequence[Step], reader: Reader) -> list[Message]:
    """The first turn's prompt is its ticket's. Each later turn's user message tells the verdict on the reply before."""
    messages: list[Message] = []
    for before, step in zip([None, *steps], steps, strict=False):
        reply = reader.reply(step)
        prompt = prompt_of(reply)
        messages += prompt if before is None else [
            {"role": "user", "content": feedback_after(step.run.told[before.ticket], prompt)}]
        messages.append(_answer(reply))
    return messages


def _multiturn(steps: Sequence[Step], reader: Reader, split: str, index: int) -> dict[str, Any]:
    verdicts = [step.verdict or Verdict(False) for step in steps]
    first, last = steps[0], _facts(steps[-1], reader)
    base = first.run.base(first)
    last.update(_gain(None if base is None else gain(first.run, steps[-1].ticket, base)))
    return {**last, "messages": _conversation(steps, reader), "turns": len(steps), "turn_tickets": [step.ticket for step in steps],
            "turn_correct": [verdict.accepted for verdict in verdicts],
            "turn_scores": [verdict.score.median if verdict.score else None for verdict in verdicts],
            "form_followed": form_of(steps), **_parent(first, reader)}


def form_of(steps: Sequence[Step]) -> bool | None:
    """Whether all replies have the form for which their prompts ask; None if that is unknown for any
    reply."""
    known = [step.texts.form_followed if step.texts else None for step in steps]
    return False if False in known else None if None in known else True


def _preference(steps: Sequence[Step], reader: Reader, split: str, index: int) -> dict[str, Any]:
    better, worse = steps
    chosen, rejected = reader.reply(better), reader.reply(worse)
    facts, other = _facts(better, reader), worse.verdict or Verdict(False)
    apart = gain(better.run, better.ticket, worse.ticket) if other.sound else None
    return {**facts, "prompt": prompt_of(chosen), "chosen": [_answer(chosen)], "rejected": [_answer(rejected)],
            "same_prompt": same_prompt(better, worse),
            "rejected_ticket": worse.ticket, "rejected_correct": other.accepted,
            "rejected_why": other.why or other.dishonest,
            **_three("rejected_score", other.score), **_three("margin", apart.figure if apart else None)}


def same_prompt(one: Step, other: Step) -> bool:
    """Whether two replies of a pair answer the same prompt. Their system messages are equal anyway."""
    return one.texts is not None and other.texts is not None and one.texts.user == other.texts.user


_MAKERS = {"sft": _sft, "rl": _rl, "multiturn": _multiturn, "preference": _preference}
