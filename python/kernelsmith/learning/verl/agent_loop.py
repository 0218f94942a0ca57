"""An agent loop of verl: several turns with the service's feedback between them, and a reward for each.

verl 0.9.1 keeps one reward for a conversation, on its last token. TurnsOutput puts each turn's reward on that
turn's last token, where the estimator ks_trloo reads it. That needs verl's trainer v1, its default
(trainer.use_v1).
"""

from __future__ import annotations

import math
from typing import Any
from uuid import uuid4

from ..next_turn import feedback
from ..judge import Judged
from .rows import judge_of, row_of

try:
    from verl.experimental.agent_loop.agent_loop import (  # type: ignore[import-not-found,import-untyped,unused-ignore]
        AgentLoopBase,
        AgentLoopOutput,
    )
    from verl.utils.profiler import simple_timer  # type: ignore[import-not-found,import-untyped,unused-ignore]
except ImportError as missing:
    raise ImportError(f"kernelsmith.learning.verl.agent_loop needs verl 0.9.1 ({missing}): "
                      "pip install verl==0.9.1 cachetools fastapi uvicorn") from missing


class TurnsOutput(AgentLoopOutput):  # type: ignore[misc,unused-ignore]
    """A conversation.

    `turn_ends` are the places of the turns' last tokens in the response. A reward is NaN if there is no verdict.
    """

    turn_ends: list[int] = []
    turn_rewards: list[float] = []

    def as_dict(self) -> dict[str, Any]:
        output: dict[str, Any] = super().as_dict()
        ends, rewards = output.pop("turn_ends"), output.pop("turn_rewards")
        scores = output["rm_scores"].zero_()
        for end, reward in zip(ends, rewards, strict=True):
            scores[end] = reward
        return output


class KernelTurns(AgentLoopBase):  # type: ignore[misc,unused-ignore]
    """Up to `turns` replies to a prompt, each judged and answered with feedback.

    Name this class in the file of `actor_rollout_ref.rollout.agent.agent_loop_config_path`, as
    turns_agent.yaml in examples/learning/verl-configs does. The options are those of `compute_score`, with
    another default for `score`. All turns and their feedback share `rollout.response_length`. A turn without
    a verdict ends the conversation with the reward NaN, so the estimator must be ks_trloo.
    """

    def __init__(self, *args: Any, turns: int = 3, url: str | None = None, score: str = "dr-kernel", by: str = "reference",
                 timeout: int | None = None, patience_s: float = 3600.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._most_turns = turns
        self._judge = judge_of(url, score, by, timeout, patience_s)

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> TurnsOutput:
        """Plays one conversation."""
        row = row_of(kwargs["reward_model"]["ground_truth"], kwargs.get("extra_info"))
        messages = list(kwargs["raw_prompt"])
        row = {"prompt": list(messages), **row}
        prompt = await self.ct_build_initial_tokens(messages)
        said = _Said(list(prompt))
        program, request_id = row.get("parent_code"), uuid4().hex
        while len(said.rewards) < self._most_turns and said.left(self.rollout_config.response_length) > 0:
            text = await self._reply(said, sampling_params, request_id)
            judged = await self._judge(text, {**row, "parent_code": program})
            program = judged.program or program
            said.end_turn(judged)
            if judged.score is None or len(said.rewards) == self._most_turns:
                break
            before = list(messages)
            messages += [{"role": "assistant", "content": text}, {"role": "user", "content": feedback(judged)}]
            await self._show(said, before + messages[-2:-1], messages)
        return said.output(len(prompt))

    async def _reply(self, said: _Said, sampling_params: dict[str, Any], request_id: str) -> str:
        room = said.left(self.rollout_config.response_length)
        with simple_timer("generate_sequences", said.metrics):
            reply = await self.server_manager.generate(request_id=request_id, prompt_ids=said.ids,
                                                       sampling_params=sampling_params)
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
    """A conversation so far."""

    def __init__(self, ids: list[int]) -> None:
        self.ids, self.mask = ids, list[int]()
        self.logprobs: list[float] | None = None
        self.ends, self.rewards = list[int](), list[float]()
        self.metrics: dict[str, Any] = {"num_preempted": -1}
        self.extra: dict[str, Any] = {}
        self.right = False

    def left(self, most: int) -> int:
        return most - len(self.mask)

    def end_turn(self, judged: Judged) -> None:
        self.ends.append(len(self.mask) - 1)
        self.rewards.append(math.nan if judged.score is None else judged.score)
        self.right = bool(judged.reward.correct)

    def output(self, prompt_length: int) -> TurnsOutput:
        """Drops unanswered feedback after the last turn."""
        length = self.ends[-1] + 1
        total = sum(self.rewards)
        told = {"acc": float(self.right), "unscored": float(math.isnan(total))}
        return TurnsOutput(
            prompt_ids=self.ids[:prompt_length], response_ids=self.ids[prompt_length:prompt_length + length],
            response_mask=self.mask[:length], response_logprobs=None if self.logprobs is None else self.logprobs[:length],
            reward_score=total, turn_ends=self.ends, turn_rewards=self.rewards, num_turns=2 * len(self.ends),
            metrics=self.metrics, extra_fields={**self.extra, "turn_scores": self.rewards, "tool_rewards": [],
                                                "reward_extra_info": told})
