"""An agent loop of verl: several turns with the service's feedback between them, and a reward for each.

verl 0.9.1 keeps one reward for a conversation, on its last token. TurnsOutput puts each turn's reward on that
turn's last token, where the estimators ks_trloo and ks_grpo read it. That needs verl's trainer v1, its default
(trainer.use_v1).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

import numpy as np

from ..judge import Judged
from ..next_turn import feedback
from ..rejected_turns import rejected_by_profile
from .rows import judge_of, no_reward, row_of
from .versions import require_supported

require_supported(__name__)
try:
    from verl.experimental.agent_loop.agent_loop import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        AgentLoopBase,
        AgentLoopOutput,
    )
    from verl.utils.profiler import simple_timer  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError(f"{__name__} needs packages that verl does not declare ({missing}): "
                      "pip install cachetools fastapi uvicorn") from missing

from .estimator import NO_REWARD  # noqa: E402


class TurnsOutput(AgentLoopOutput):  # type: ignore[misc,unused-ignore]
    """A conversation.

    `turn_ends` are the places of the turns' last tokens in the response. Both lists are empty if there is no verdict.
    """

    turn_ends: list[int] = []
    turn_rewards: list[float] = []

    def as_dict(self) -> dict[str, Any]:
        output: dict[str, Any] = super().as_dict()
        ends, rewards = output.pop("turn_ends"), output.pop("turn_rewards")
        scores = output["rm_scores"].zero_()
        for end, reward in zip(ends, rewards, strict=True):
            scores[end] = reward or NO_REWARD
        return output


class KernelTurns(AgentLoopBase):  # type: ignore[misc,unused-ignore]
    """Up to `turns` replies to a prompt, each judged and answered with feedback.

    Name this class in the file of `actor_rollout_ref.rollout.agent.agent_loop_config_path`, as
    turns_agent.yaml in examples/learning/verl-configs does, and use the estimator ks_trloo or ks_grpo. Further
    options are those of `compute_score`, with another default for `score`.

    turns         the largest number of turns
    reply_tokens  the limit for one reply; None has none but the following two
    most_tokens   the limit for a prompt and its turns together. `rollout.response_length` bounds all turns and
                  their feedback as well
    profiling     arguments of `profiling_rejection`, {} for those of Dr. Kernel: a rejected turn is not trained,
                  but stays in the baselines. None rejects no turn
    seed          of these rejections, which depend only on it and on the conversation
    unscored      a conversation ends at a turn without a verdict, and none of its turns is known. "raise": raises
                  kernelsmith.Error, and verl's batch lacks the conversation. "mask": the conversation stays,
                  untrained and in no baseline. None takes "raise" in verl's sync mode, where a prompt that lost
                  all conversations can be replaced (`trainer.v1.sampler.sync_refill_failed_groups`), and "mask"
                  in its async modes, which would replace a prompt that lost one
    """

    def __init__(self, *args: Any, turns: int = 3, reply_tokens: int | None = None, most_tokens: int | None = None,
                 profiling: Mapping[str, Any] | None = None, seed: int = 0, unscored: str | None = None,
                 url: str | None = None, score: str = "dr-kernel", by: str = "reference", timeout: int | None = None,
                 patience_s: float = 3600.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if unscored not in (None, "raise", "mask"):
            raise ValueError(f'unscored: "raise" or "mask" is expected, not {unscored!r}')
        self._most_turns, self._reply_tokens, self._most_tokens = turns, reply_tokens, most_tokens
        self._profiling, self._seed = profiling, seed
        self._raises = (unscored or ("raise" if self._mode() == "sync" else "mask")) == "raise"
        self._judge = judge_of(url, score, by, timeout, patience_s)

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> TurnsOutput:
        """Plays one conversation."""
        row = row_of(kwargs["reward_model"]["ground_truth"], kwargs.get("extra_info"))
        messages = list(kwargs["raw_prompt"])
        row = {"prompt": list(messages), **row}
        prompt = await self.ct_build_initial_tokens(messages)
        said = _Said(list(prompt))
        program, request_id = row.get("parent_code"), uuid4().hex
        while len(said.turns) < self._most_turns and (room := self._room(said)) > 0:
            text = await self._reply(said, sampling_params, request_id, room)
            judged = await self._judge(text, {**row, "parent_code": program})
            program = judged.program or program
            said.end_turn(judged)
            if judged.score is None or len(said.turns) == self._most_turns:
                break
            before = list(messages)
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": feedback(judged)}]
            await self._show(said, before + messages[-2:-1], messages)
        if not said.turns:
            raise ValueError(f"a prompt of {len(prompt)} tokens leaves no room for a reply: "
                             "raise most_tokens or shorten prompts")
        if said.turns[-1].score is None and self._raises:
            raise no_reward(said.turns[-1])
        return said.output(len(prompt), self._trained(said, str(kwargs.get("session_id"))))

    def _mode(self) -> str:
        """verl's trainer mode, "sync" by default."""
        trainer = self.config.get("trainer") or {}
        return str((trainer.get("v1") or {}).get("trainer_mode", "sync"))

    def _room(self, said: _Said) -> int:
        """How many tokens the next reply may have."""
        limits: list[int] = [self.rollout_config.response_length - len(said.mask)]
        if self._most_tokens is not None:
            limits.append(self._most_tokens - len(said.ids))
        if self._reply_tokens is not None:
            limits.append(self._reply_tokens)
        return min(limits)

    def _trained(self, said: _Said, session: str) -> list[bool]:
        """For each turn, whether it is trained."""
        if said.turns[-1].score is None:
            return [False] * len(said.turns)
        if self._profiling is None:
            return [True] * len(said.turns)
        content = hashlib.sha256(f"{self._seed} {session} {said.ids}".encode()).digest()
        found = rejected_by_profile(said.turns, np.random.default_rng(list(content)), self._profiling)
        return [bool(kept) for kept in found.keep]

    async def _reply(self, said: _Said, sampling_params: dict[str, Any], request_id: str, room: int) -> str:
        with simple_timer("generate_sequences", said.metrics):
            reply = await self.server_manager.generate(request_id=request_id, prompt_ids=said.ids,
                                                       sampling_params={**sampling_params, "max_tokens": room})
        said.starts.append(len(said.mask))
        ids, logprobs = reply.token_ids[:room], reply.log_probs[:room] if reply.log_probs else None
        if logprobs is not None and said.logprobs is None:
            said.logprobs = [0.0] * len(said.mask)
        merged, said.mask, said.logprobs = await self.ct_merge_assistant_token(
            said.ids, ids, said.mask, said.logprobs, assistant_logprobs=logprobs)
        said.ids = merged.token_ids
        said.extra.update(reply.extra_fields or {})
        text: str = self.tokenizer.decode(ids, skip_special_tokens=True)
        return text

    async def _show(self, said: _Said, before: list[dict[str, Any]], after: list[dict[str, Any]]) -> None:
        merged, said.mask, said.logprobs = await self.ct_merge_context_msg(before, after, said.ids, said.mask, said.logprobs)
        said.ids = merged.token_ids


class _Said:
    """A conversation so far. `starts` and `ends` are the places of the turns' first and last tokens."""

    def __init__(self, ids: list[int]) -> None:
        self.ids, self.mask = ids, list[int]()
        self.logprobs: list[float] | None = None
        self.starts, self.ends, self.turns = list[int](), list[int](), list[Judged]()
        self.metrics: dict[str, Any] = {"num_preempted": -1}
        self.extra: dict[str, Any] = {}

    def end_turn(self, judged: Judged) -> None:
        self.ends.append(len(self.mask) - 1)
        self.turns.append(judged)

    def output(self, prompt_length: int, trained: list[bool]) -> TurnsOutput:
        """Drops unanswered feedback after the last turn."""
        length, last = self.ends[-1] + 1, self.turns[-1]
        scores = [math.nan if turn.score is None else turn.score for turn in self.turns]
        rewards = [] if last.score is None else scores
        mask = self.mask[:length]
        for start, end, kept in zip(self.starts, self.ends, trained, strict=True):
            mask[start:end + 1] = [bit * kept for bit in mask[start:end + 1]]
        told = {"acc": float(bool(last.reward.correct)), "unscored": float(last.score is None),
                "own_share": math.nan if last.reward.own_share is None else last.reward.own_share,
                "trained_turns": float(sum(trained))}
        return TurnsOutput(
            prompt_ids=self.ids[:prompt_length], response_ids=self.ids[prompt_length:prompt_length + length],
            response_mask=mask, response_logprobs=None if self.logprobs is None else self.logprobs[:length],
            reward_score=sum(rewards, 0.0), turn_ends=self.ends if rewards else [], turn_rewards=rewards,
            num_turns=2 * len(self.ends), metrics=self.metrics,
            extra_fields={**self.extra, "turn_scores": scores, "tool_rewards": [],
                          "reward_extra_info": told})
