"""GRPOTrainer over conversations: several turns with the service's feedback between them, and TRLOO's advantages.

TRL 1.16 offers two ways to have several turns. `environment_factory` does not fit: it continues only if a
reply calls a tool, wants one reward for the whole conversation, and shows an exception to the model as the
tool's answer. Here a kernel is a fenced block in a reply, each turn has a reward, and a failure of the
machine is not an answer. Therefore this module uses the other way, `rollout_func`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch  # type: ignore[import-not-found,import-untyped,unused-ignore]
import trl  # type: ignore[import-not-found,import-untyped,unused-ignore]
from accelerate.utils import gather_object  # type: ignore[import-not-found,import-untyped,unused-ignore]

from ..advantages import Alone, trloo
from ..next_turn import feedback as usual_feedback
from ..judge import Judge, Judged
from ..mismatch import mismatch_rejection
from ..rejected_turns import rejected_by_profile
from ..returns import returns_to_go
from ..scores import Flags, Floats
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

    mismatch     arguments of `mismatch_rejection`, {} for those of Dr. Kernel; None rejects no turn. The sampler
                 must tell log-probabilities, as vLLM does (`use_vllm=True`), and sample with top_p 1
    profiling    arguments of `profiling_rejection`, {} for those of Dr. Kernel; None rejects no turn

    A turn without a verdict ends its conversation. Its return and those of the turns before it are unknown:
    these turns are not trained, and are in no baseline. A rejected turn is not trained either, but stays in
    the baselines. `tool_mask` of TRL's batch, which is 1 for tokens that are trained, says so. The logged reward
    is the return of the first turn.

    This was run with generation by transformers. With vLLM, TRL generates by the same call; vLLM's server
    mode and several processes were not tried.
    """

    def __init__(self, *args: Any, judge: Judge, turns: int = 3, gamma: float = 1.0, alone: Alone = "keep",
                 feedback: Callable[[Judged], str] = usual_feedback, most_tokens: int | None = None,
                 mismatch: Mapping[str, Any] | None = None, profiling: Mapping[str, Any] | None = None,
                 **kwargs: Any) -> None:
        if turns < 1:
            raise ValueError("turns: at least 1 is expected")
        if kwargs.keys() & {"reward_funcs", "rollout_func", "environment_factory", "tools"}:
            raise ValueError("reward_funcs, rollout_func, environment_factory, tools: TurnsTrainer brings its own")
        self._judge, self._most_turns, self._gamma, self._alone = judge, turns, gamma, alone
        self._feedback, self._most_tokens = feedback, most_tokens
        self._mismatch, self._profiling = mismatch, profiling
        self._rows: list[dict[str, Any]] = []
        self._played: list[Conversation] = []
        super().__init__(*args, reward_funcs=_first_returns(gamma), rollout_func=_rollout, **kwargs)
        # One stream for each process. It begins anew after a resumption, which changes no probability.
        self._generator = np.random.default_rng([self.args.seed, self.accelerator.process_index])

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        self._rows = inputs
        output: dict[str, Any] = super()._generate_and_score_completions(inputs)
        advantages, known = self._advantages_of_turns()
        trained = known & self._kept_by_profiling(known.shape) & self._kept_by_mismatch(output, known.shape)
        spread = output["advantages"].new_zeros(output["completion_ids"].shape)
        for row, conversation in enumerate(self._played):
            for turn, (begin, end) in enumerate(conversation.spans):
                spread[row, begin:end] = advantages[row, turn]
                output["tool_mask"][row, begin:end] *= int(trained[row, turn])
        output["advantages"] = spread
        tokens = (output["completion_mask"] * output["tool_mask"]).sum()
        output["num_items_in_batch"] = self.accelerator.gather(tokens).sum()
        return output

    def _advantages_of_turns(self) -> tuple[Floats, Flags]:
        """This process's advantages and which of them are known, in the shape (conversations, most turns). They
        are computed from the conversations of all processes, because those of one prompt may be in several
        processes."""
        rewards = gather_object([conversation.rewards for conversation in self._played])
        in_a_group = self.num_generations if self.model.training else self.num_generations_eval
        groups = [index // in_a_group for index in range(len(rewards))]
        found = trloo(rewards, groups, gamma=self._gamma, alone=self._alone)
        begin = self.accelerator.process_index * len(self._played)
        here = slice(begin, begin + len(self._played))
        return found.values[here], found.valid[here]

    def _kept_by_profiling(self, shape: tuple[int, ...]) -> Flags:
        keep = np.ones(shape, dtype=bool)
        if self._profiling is None:
            return keep
        found = [rejected_by_profile(one.verdicts, self._generator, self._profiling) for one in self._played]
        for kept, of_turns in zip(keep, found, strict=True):
            kept[:len(of_turns.keep)] = of_turns.keep
        scored = [verdict.score is not None for one in self._played for verdict in one.verdicts]
        lacking = [bool(np.isnan(value)) for of_turns in found for value in of_turns.probability]
        self._log("profiling_rejected", [not kept for of_turns in found for kept in of_turns.keep], scored)
        self._log("unprofiled", lacking, scored)
        return keep

    def _kept_by_mismatch(self, output: dict[str, Any], shape: tuple[int, ...]) -> Flags:
        if self._mismatch is None:
            return np.ones(shape, dtype=bool)
        if "sampling_per_token_logps" not in output:
            raise ValueError("mismatch: the sampler gave no log-probabilities; with vLLM (use_vllm=True) it does")
        sampled = output["sampling_per_token_logps"].double().cpu().numpy()
        train = self._train_logps(output).double().cpu().numpy()
        rows, width = sampled.shape
        turns = [(row, turn, span) for row, one in enumerate(self._played) for turn, span in enumerate(one.spans)]
        # (conversations, turns, tokens): a turn's tokens keep their places, and are valid there alone.
        valid = np.zeros((rows, shape[1], width), dtype=bool)
        for row, turn, (begin, end) in turns:
            valid[row, turn, begin:end] = np.isfinite(sampled[row, begin:end])  # vLLM has None for a NaN
        found = mismatch_rejection(np.broadcast_to(train[:, None], valid.shape),
                                   np.broadcast_to(sampled[:, None], valid.shape), valid, **self._mismatch)
        self._log("mismatch_rejected", ~found.keep, valid.any(axis=2))
        return found.keep

    def _train_logps(self, output: dict[str, Any]) -> Any:
        """The log-probabilities of the trained policy before the step, which TRL computes only at times."""
        if "old_per_token_logps" in output:
            return output["old_per_token_logps"]
        ids = torch.cat([output["prompt_ids"], output["completion_ids"]], dim=1)
        attention = torch.cat([output["prompt_mask"], output["completion_mask"]], dim=1)
        with torch.no_grad():
            return self._get_per_token_logps_and_entropies(
                self.model, ids, attention, output["completion_ids"].size(1), self.args.per_device_train_batch_size)[0]

    def _log(self, name: str, what: npt.ArrayLike, among: npt.ArrayLike) -> None:
        """Logs the share of turns. `_log_metric` of TRL is for reward functions, which have run before."""
        chosen = np.asarray(what, dtype=bool)[np.asarray(among, dtype=bool)]
        mode = "train" if self.model.training else "eval"
        self._metrics[mode][f"kernelsmith/{name}"].append(float(chosen.mean()) if chosen.size else 0.0)


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
    sampled = all(len(one.logprobs) == len(one.completion_ids) for one in played)
    return {
        "prompt_ids": [one.prompt_ids for one in played],
        "completion_ids": [one.completion_ids for one in played],
        "logprobs": [one.logprobs for one in played] if sampled else None,
        "env_mask": [one.mask() for one in played],
        "turn_rewards": [one.rewards for one in played],
    }
