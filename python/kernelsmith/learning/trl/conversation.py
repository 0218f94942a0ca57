"""Conversations as token ids: a model's turns, and the service's feedback between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ..judge import Judge, Judged, Row

MARK = "KERNELSMITH-REPLY"  # takes the reply's place while the message after it is rendered


@dataclass
class Conversation:
    """One sample. `spans` are the places of the model's turns in `completion_ids`; the rest is feedback."""

    row: Row
    prompt_ids: list[int]
    completion_ids: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    spans: list[tuple[int, int]] = field(default_factory=list)
    verdicts: list[Judged] = field(default_factory=list)
    program: str | None = None
    ended: bool = False

    @property
    def rewards(self) -> list[float | None]:
        return [verdict.score for verdict in self.verdicts]

    def add_feedback(self, ids: list[int]) -> None:
        self.completion_ids += ids
        self.logprobs += [0.0] * len(ids)

    def add_turn(self, ids: list[int], logprobs: list[float] | None) -> None:
        self.spans.append((len(self.completion_ids), len(self.completion_ids) + len(ids)))
        self.completion_ids += ids
        self.logprobs += logprobs or []

    def mask(self) -> list[int]:
        """1 for the model's tokens, 0 for feedback."""
        mask = [0] * len(self.completion_ids)
        for begin, end in self.spans:
            mask[begin:end] = [1] * (end - begin)
        return mask


def play(trainer: Any, prompts: Sequence[Any], rows: Sequence[Row], judge: Judge, turns: int,
         feedback: Callable[[Judged], str], most_tokens: int | None) -> list[Conversation]:
    """Plays a conversation for each prompt, all in parallel."""
    prompt_ids, _, _ = trainer._tokenize_prompts(list(prompts))
    played = [Conversation(row, list(ids)) for row, ids in zip(rows, prompt_ids, strict=True)]
    for turn in range(turns):
        going = [one for one in played if not one.ended]
        if not going:
            break
        texts = _generate(trainer, going)
        judged = _judge_all(judge, going, texts)
        for one, verdict in zip(going, judged, strict=True):
            one.verdicts.append(verdict)
            one.program = verdict.program or one.program
            one.ended = verdict.score is None or turn == turns - 1
            if not one.ended:
                _prepare_next(trainer, one, feedback(verdict), most_tokens)
    return played


def _generate(trainer: Any, going: Sequence[Conversation]) -> list[str]:
    ids, logprobs = trainer._generate_single_turn([one.prompt_ids + one.completion_ids for one in going], None, {}, 1)
    for index, one in enumerate(going):
        one.add_turn(list(ids[index]), None if logprobs is None else list(logprobs[index]))
    texts: list[str] = trainer.processing_class.batch_decode(ids, skip_special_tokens=True)
    return texts


def _judge_all(judge: Judge, going: Sequence[Conversation], texts: Sequence[str]) -> list[Judged]:
    """Judges on a separate thread, because the caller's thread may already run an event loop. Edits apply to
    the program that was shown last."""

    async def all_of_them() -> list[Judged]:
        return await asyncio.gather(*(
            judge(text, {**one.row, "parent_code": one.program or one.row.get("parent_code")})
            for one, text in zip(going, texts, strict=True)))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, all_of_them()).result()


def _prepare_next(trainer: Any, one: Conversation, text: str, most_tokens: int | None) -> None:
    ids = message_ids(trainer, one.completion_ids, text)
    after = len(one.prompt_ids) + len(one.completion_ids) + len(ids) + trainer.max_completion_length
    if most_tokens is not None and after > most_tokens:
        one.ended = True
    else:
        one.add_feedback(ids)


def message_ids(trainer: Any, before: Sequence[int], text: str) -> list[int]:
    """The ids between a reply and the next one: the reply's end, the user's message, and the beginning of the answer.

    The reply keeps its own ids, because tokenizing its text again may give other ids. If the reply ends with
    its end token, the result does not repeat the token.
    """
    tokenizer = trainer.processing_class
    messages = [{"role": "user", "content": "-"}, {"role": "assistant", "content": MARK}, {"role": "user", "content": text}]
    rendered = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True,
                                             chat_template=trainer.chat_template, **trainer.chat_template_kwargs)
    ids: list[int] = tokenizer(rendered.partition(MARK)[2], add_special_tokens=False)["input_ids"]
    return ids[1:] if before and ids and before[-1] == ids[0] and ids[0] in trainer.eos_token_ids else ids
