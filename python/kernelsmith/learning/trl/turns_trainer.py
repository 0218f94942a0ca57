"""GRPOTrainer over conversations: several turns with the service's feedback between them, and TRLOO's advantages.

TRL 1.16 offers two ways to have several turns. `environment_factory` does not fit: it continues only if a
reply calls a tool, wants one reward for the whole conversation, and shows an exception to the model as the
tool's answer. Here a kernel is a fenced block in a reply, each turn has a reward, and a failure of the
machine is not an answer. Therefore this module uses the other way, `rollout_func`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]
import trl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accelerate.utils import gather_object  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ..advantages import Alone, trloo
from ..next_turn import feedback as usual_feedback
from ..judge import Judge, Judged
from ..returns import returns_to_go
from .conversation import Conversation, play


class TurnsTrainer(trl.GRPOTrainer):  # type: ignore[misc,name-defined,unused-ignore]
    """GRPOTrainer whose samples are conversations of up to `turns` turns, and whose advantages are those of `trloo`.

    model, args, train_dataset, ...  those of GRPOTrainer; the prompts are messages.
                                     `args.max_completion_length` bounds one turn. Pass no reward function:
                                     the judge's scores are the rewards
    judge        scores each turn; "dr-kernel" suits several turns, because later turns are not children of
                 the row's parent
    turns        the largest number of turns in a conversation
    gamma        discount of the return-to-go
    alone        the advantage of a turn that no other conversation of its prompt reached; see `trloo`
    feedback     makes the message before the next turn, from a Judged
    most_tokens  the limit for a prompt and its turns together: a turn that might not fit is not begun. None
                 takes `max_position_embeddings` from the model's configuration

    A turn without a verdict ends its conversation. Its return and those of the turns before it are unknown:
    these turns get the advantage 0, and are in no baseline. The logged reward is the return of the first
    turn.

    This was run with generation by transformers. With vLLM, TRL generates by the same call; vLLM's server
    mode and several processes were not tried.
    """

    def __init__(self, *args: Any, judge: Judge, turns: int = 3, gamma: float = 1.0, alone: Alone = "keep",
                 feedback: Callable[[Judged], str] = usual_feedback, most_tokens: int | None = None, **kwargs: Any) -> None:
        if turns < 1:
            raise ValueError("turns: at least 1 is expected")
        if kwargs.keys() & {"reward_funcs", "rollout_func", "environment_factory", "tools"}:
            raise ValueError("reward_funcs, rollout_func, environment_factory, tools: TurnsTrainer brings its own")
        self._judge, self._most_turns, self._gamma, self._alone = judge, turns, gamma, alone
        self._feedback, self._most_tokens = feedback, most_tokens
        self._rows: list[dict[str, Any]] = []
        self._played: list[Conversation] = []
        super().__init__(*args, reward_funcs=_first_returns(gamma), rollout_func=_rollout, **kwargs)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        self._rows = inputs
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        advantages = output["advantages"]
        found = self._advantages_of_turns()
        spread = torch.zeros(output["completion_ids"].shape, dtype=advantages.dtype, device=advantages.device)
        for tokens, conversation, of_turns in zip(spread, self._played, found, strict=True):
            for (begin, end), value in zip(conversation.spans, of_turns, strict=False):
                tokens[begin:end] = value
        output["advantages"] = spread
        return output

    def _advantages_of_turns(self) -> list[list[float]]:
        """This process's advantages, computed from the conversations of all processes, because the
        conversations of one prompt may be in several processes."""
        rewards = gather_object([conversation.rewards for conversation in self._played])
        in_a_group = self.num_generations if self.model.training else self.num_generations_eval
        groups = [index // in_a_group for index in range(len(rewards))]
        found: list[list[float]] = trloo(rewards, groups, gamma=self._gamma, alone=self._alone).values.tolist()
        begin = self.accelerator.process_index * len(self._played)
        return found[begin:begin + len(self._played)]


def _first_returns(gamma: float) -> Callable[..., list[float | None]]:
    """The reward function that TRL logs: the return of each conversation's first turn."""

    def kernelsmith(turn_rewards: Sequence[Sequence[float | None]], log_metric: Callable[[str, float], None],
                    **_: Any) -> list[float | None]:
        turns = sum(map(len, turn_rewards))
        log_metric("kernelsmith/turns", turns / len(turn_rewards))
        log_metric("kernelsmith/unscored", sum(score is None for scores in turn_rewards for score in scores) / turns)
        return [returns[0] for returns in returns_to_go(turn_rewards, gamma=gamma).tolist()]

    return kernelsmith


def _rollout(prompts: list[Any], trainer: TurnsTrainer) -> dict[str, Any]:
    """TRL's rollout_func. TRL passes it no columns, so it takes the rows that the trainer has kept."""
    limit = trainer._most_tokens or getattr(trainer.model.config, "max_position_embeddings", None)
    played = play(trainer, prompts, trainer._rows, trainer._judge, trainer._most_turns, trainer._feedback, limit)
    trainer._played = played
    return {
        "prompt_ids": [one.prompt_ids for one in played],
        "completion_ids": [one.completion_ids for one in played],
        "logprobs": [one.logprobs for one in played] if trainer.use_vllm else None,
        "env_mask": [one.mask() for one in played],
        "turn_rewards": [one.rewards for one in played],
    }
