"""TRL on the CPU with a model of random weights: SFT, GRPO and several turns run. One request in twenty fails on purpose."""

import hashlib
import inspect
import itertools
import math
import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest
import support
from kernelsmith import Refusal, learning
from kernelsmith.learning import Judge, RewardClient
from scripted_service import serving, without_verdict

trl = pytest.importorskip("trl", reason="TRL is not installed: scripts/install.sh makes build/learning, which has it")
datasets, torch = pytest.importorskip("datasets"), pytest.importorskip("torch")

SOURCE = Path(os.environ.get("KERNELSMITH_SOURCE", Path(__file__).resolve().parent.parent.parent))
sys.path.insert(0, str(SOURCE / "examples" / "learning"))
import tiny_model  # noqa: E402
import train_with_trl  # noqa: E402

torch.set_num_threads(1)  # a second one costs more than it does, and waits for its turn on a busy machine
from kernelsmith.learning.trl import TurnsTrainer, reward_function  # noqa: E402
from kernelsmith.learning.trl.conversation import message_ids  # noqa: E402

# TRL says on each call that these are experimental, and pytest that a model of 64 numbers a token is small.
pytestmark = pytest.mark.filterwarnings("ignore")
FAILED = without_verdict("failed", "SYSTEM_ERROR", error="disk_full")
STEPS, SAMPLES, GENERATIONS = 5, 8, 4
PROMPTS = datasets.Dataset.from_list([
    {"prompt": [{"role": "system", "content": "Write kernels."}, {"role": "user", "content": f"Kernel {number}."}],
     "reference_code": None, "parent_code": f"{number}", "parent_speedup": 0.5 + number, "entry_point": None,
     "uuid": str(number)}
    for number in range(4)])


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_model.tiny_tokenizer((SOURCE / "README.md").read_text())


@pytest.fixture
def model(tokenizer):
    return tiny_model.tiny_model(tokenizer)


def a_number(reply, row):
    """A random text is a program of its own, but for a third of them."""
    digest = int.from_bytes(hashlib.sha256(reply.encode()).digest()[:4], "big")
    return Refusal("no number", "no_code") if digest % 3 == 0 else f"{1 + digest / 2**32}"


class Recorder:
    """A judge that remembers what it said."""

    def __init__(self, service):
        client = RewardClient(service.url, wait_s=0, backoff_s=(1e-4, 1e-3), evaluations=1, patience_s=support.PATIENCE_S)
        self.judge, self.said = Judge(client, extract=a_number), []

    async def __call__(self, reply, row):
        place = len(self.said)
        self.said.append(None)
        self.said[place] = await self.judge(reply, row)
        return self.said[place]


def faults():
    """One in twenty requests ends without a verdict, and one is lost on its way: the first two, and so on."""
    return itertools.cycle([FAILED, "drop"] + [None] * 18)


def configuration(folder, **settings):
    return trl.GRPOConfig(
        output_dir=str(folder), max_steps=STEPS, per_device_train_batch_size=SAMPLES, num_generations=GENERATIONS,
        max_completion_length=24, loss_type="dr_grpo", scale_rewards="none", learning_rate=1e-3, use_cpu=True, bf16=False,
        report_to="none", save_strategy="no", logging_steps=1, disable_tqdm=True, seed=1, **settings)


def remembering(trainer_class, seen):
    """A trainer that keeps what it is about to learn from."""

    class Remembering(trainer_class):
        def _generate_and_score_completions(self, inputs):
            output = super()._generate_and_score_completions(inputs)
            seen.append({**output, "rewards": list(self._logs["rewards"]["kernelsmith"])[-len(inputs):],
                         "played": getattr(self, "_played", None)})
            return output

    return Remembering


def weights(model):
    return torch.cat([parameter.detach().flatten() for parameter in model.parameters()]).clone()


@pytest.mark.parametrize("columns", ["messages", "prompt and completion"])
def test_sft_learns_from_rows(columns, model, tokenizer, tmp_path):
    talk = [[{"role": "system", "content": "Write kernels."}, {"role": "user", "content": f"Kernel {number}."},
             {"role": "assistant", "content": f"```\nk = {number}\n```"}] for number in range(12)]
    rows = [{"messages": one} if columns == "messages" else {"prompt": one[:2], "completion": one[2:]} for one in talk]
    more = {"_id": "rewrite", "task": "hill", "speedup": 1.5, "ticket": 7}
    datasets.Dataset.from_list([{**row, **more} for row in rows]).to_parquet(tmp_path / "rows.parquet")
    settings = trl.SFTConfig(
        output_dir=str(tmp_path), max_steps=3, per_device_train_batch_size=4, learning_rate=1e-2, max_length=512,
        assistant_only_loss=columns == "messages", use_cpu=True, bf16=False, report_to="none", save_strategy="no",
        logging_steps=1, disable_tqdm=True)
    trainer = trl.SFTTrainer(model, args=settings, processing_class=tokenizer,
                             train_dataset=datasets.Dataset.from_parquet(str(tmp_path / "rows.parquet"),
                                                                         cache_dir=str(tmp_path / "cache")))
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert len(losses) == 3 and losses[2] < losses[1] < losses[0]


def test_grpo_makes_no_zero_of_a_failure(model, tokenizer, tmp_path):
    seen, before = [], weights(model)
    with serving(faults=faults()) as service:
        recorder = Recorder(service)
        trainer = remembering(trl.GRPOTrainer, seen)(
            model, reward_funcs=reward_function(recorder), args=configuration(tmp_path), train_dataset=PROMPTS,
            processing_class=tokenizer)
        trainer.train()
        ends = [job["end"]["status"] for job in service.jobs.values()]
    said = recorder.said
    assert len(said) == len(seen) * SAMPLES == STEPS * SAMPLES and trainer.state.global_step == STEPS
    assert sum(one.score is None for one in said) == ends.count("failed") >= 2
    assert {one.reward.reason for one in said if one.score is None} == {"disk_full"}
    assert {one.reward.rejection for one in said if one.score == 0} == {"no_code"}, "only a candidate's own failure is 0"
    for step, batch in enumerate(seen):
        scores = [one.score for one in said[step * SAMPLES:(step + 1) * SAMPLES]]
        np.testing.assert_allclose(batch["rewards"], [math.nan if score is None else score for score in scores], rtol=1e-6)
        groups = np.arange(SAMPLES) // GENERATIONS
        expected = learning.grpo(scores, groups, divide_by_std=False)
        np.testing.assert_allclose(batch["advantages"].numpy(), expected.values, atol=1e-6)
        assert not batch["advantages"].numpy()[[score is None for score in scores]].any()
    logged = [entry["kernelsmith/unscored"] for entry in trainer.state.log_history if "kernelsmith/unscored" in entry]
    assert sum(logged) * SAMPLES == pytest.approx(ends.count("failed"))
    assert torch.isfinite(weights(model)).all() and not torch.equal(weights(model), before)


def test_several_turns_have_the_advantages_of_trloo(model, tokenizer, tmp_path):
    seen, before = [], weights(model)
    with serving(faults=faults()) as service:
        recorder = Recorder(service)
        trainer = remembering(TurnsTrainer, seen)(
            model, judge=recorder, turns=3, args=configuration(tmp_path), train_dataset=PROMPTS, processing_class=tokenizer)
        trainer.train()
        ends = [job["end"]["status"] for job in service.jobs.values()]
    played = [one for batch in seen for one in batch["played"]]
    failed = [one for one in played if None in one.rewards]
    assert sum(one.rewards.count(None) for one in played) == ends.count("failed") >= 2
    assert all(one.rewards.index(None) == len(one.rewards) - 1 for one in failed), "no turn follows a failed machine"
    assert {len(one.rewards) for one in played if one not in failed} == {3}
    assert len(recorder.said) == sum(len(one.rewards) for one in played)
    for batch in seen:
        check_advantages(batch)
    for one in played:
        assert "in full, in one fenced code block" in tokenizer.decode(one.completion_ids) or len(one.rewards) == 1
    assert torch.isfinite(weights(model)).all() and not torch.equal(weights(model), before)


def check_advantages(batch):
    """Each token of a turn has its turn's; feedback and padding have none, and are in no loss."""
    played, groups = batch["played"], np.arange(SAMPLES) // GENERATIONS
    expected = learning.trloo([one.rewards for one in played], groups).values
    learnt = (batch["completion_mask"] * batch["tool_mask"]).numpy().astype(bool)
    for row, (one, of_turns) in enumerate(zip(played, expected, strict=True)):
        wanted, trained = np.zeros(learnt.shape[1]), np.zeros(learnt.shape[1], dtype=bool)
        for (begin, end), value in zip(one.spans, of_turns, strict=False):
            wanted[begin:end], trained[begin:end] = value, None not in one.rewards
        np.testing.assert_allclose(batch["advantages"][row].numpy(), wanted, atol=1e-6)
        assert (learnt[row] == trained).all(), "a conversation without a verdict is not trained"
        known = learning.returns_to_go([one.rewards]).tolist()[0][0]
        assert batch["rewards"][row] == pytest.approx(known) if known is not None else math.isnan(batch["rewards"][row])


class Sampling(TurnsTrainer):
    """Tells the log-probabilities of what it sampled, as vLLM does, with an error that depends on the conversation: none,
    .0005, .0015, and none but for the first token of its second turn, whose probability is far too high."""

    error = staticmethod(lambda row, turn: [(0, 0), (.0005, 0), (.0015, 0), (0, 20 * (turn == 1))][row % 4])

    def _generate_single_turn(self, prompt_ids, *rest):
        ids, _ = super()._generate_single_turn(prompt_ids, *rest)
        self.turn = self.turn + 1 if len(prompt_ids[0]) > self.shown else 0
        self.shown = self.shown if self.turn else len(prompt_ids[0])
        found = []
        for row, (before, after) in enumerate(zip(prompt_ids, ids, strict=True)):
            with torch.no_grad():
                logits = self.model(torch.tensor([[*before, *after]])).logits[0, len(before) - 1:-1]
            logps = logits.log_softmax(-1)[torch.arange(len(after)), after]
            for_all, for_first = self.error(row, self.turn)
            logps -= for_all
            logps[0] += for_first
            found.append(logps.tolist())
        return ids, found


def trained(tokenizer, model, folder, **settings):
    """A step's batch, and whether it changed the model."""
    seen, before = [], weights(model)
    with serving() as service:
        trainer = remembering(Sampling, seen)(
            model, judge=Recorder(service), turns=3, args=configuration(folder), train_dataset=PROMPTS,
            processing_class=tokenizer, **settings)
        trainer.args.max_steps, trainer.shown = 1, 10**9
        trainer.train()
    [batch] = seen
    masks = (batch["completion_mask"] * batch["tool_mask"]).numpy().astype(bool)
    assert batch["num_items_in_batch"] == masks.sum(), "TRL's losses by token divide by it"
    return batch, masks, not torch.equal(weights(model), before), trainer.state.log_history[0]


def check_trained(batch, masks, is_trained):
    """Exactly these turns train, and those that do not are in the baselines all the same."""
    wanted = np.zeros_like(masks)
    expected = learning.trloo([one.rewards for one in batch["played"]], np.arange(SAMPLES) // GENERATIONS).values
    for row, one in enumerate(batch["played"]):
        for turn, (begin, end) in enumerate(one.spans):
            wanted[row, begin:end] = is_trained(row, turn, one.verdicts[turn])
            np.testing.assert_allclose(batch["advantages"][row, begin:end].numpy(), expected[row, turn], atol=1e-6)
    assert masks.sum() == wanted.sum() and (masks == wanted).all()


def test_mismatch_rejection_decides_which_tokens_train(model, tokenizer, tmp_path):
    def kept(row, turn, _):
        return row % 4 != 2 and not (row % 4 == 3 and turn == 1)

    # The row with a far too probable token is outside of the band as well: widen it, so that the veto alone decides.
    def in_band(row, turn, _):
        return row % 4 < 2

    everything = trained(tokenizer, model, tmp_path)[1].sum()
    batch, masks, changed, logged = trained(tokenizer, model, tmp_path, mismatch={})
    check_trained(batch, masks, in_band)
    assert changed and 0 < masks.sum() < everything * .8 and logged["kernelsmith/mismatch_rejected"] == pytest.approx(.5)
    batch, masks, _, _ = trained(tokenizer, model, tmp_path, mismatch={"low": 0, "high": 1.0012})
    check_trained(batch, masks, kept)


def test_a_step_of_rejected_turns_changes_nothing(model, tokenizer, tmp_path, monkeypatch):
    monkeypatch.setattr(Sampling, "error", staticmethod(lambda row, turn: (1.0, 0)))
    _, masks, changed, _ = trained(tokenizer, model, tmp_path, mismatch={})
    assert not masks.any() and not changed


def test_profiling_rejection_decides_which_tokens_train(model, tokenizer, tmp_path):
    """The service's correct candidates spend a quarter of their time in own kernels: below .3 none is kept."""
    batch, masks, _, logged = trained(tokenizer, model, tmp_path, profiling={})
    check_trained(batch, masks, lambda row, turn, verdict: not verdict.reward.correct)
    rejected = [verdict.reward.correct for one in batch["played"] for verdict in one.verdicts]
    assert 0 < sum(rejected) < len(rejected) and logged["kernelsmith/unprofiled"] == 0
    assert logged["kernelsmith/profiling_rejected"] == pytest.approx(np.mean(rejected))
    batch, masks, _, _ = trained(tokenizer, model, tmp_path, profiling={"threshold": .1})
    check_trained(batch, masks, lambda row, turn, verdict: True)


def test_mismatch_needs_the_samplers_log_probabilities(model, tokenizer, tmp_path):
    with serving() as service, pytest.raises(ValueError, match="use_vllm=True"):
        TurnsTrainer(model, judge=Recorder(service), mismatch={}, args=configuration(tmp_path), train_dataset=PROMPTS,
                     processing_class=tokenizer).train()


def test_turns_are_those_of_cold_start_and_test_time():
    assert inspect.signature(TurnsTrainer).parameters["feedback"].default is learning.feedback


def test_a_turn_that_might_not_fit_is_not_begun(model, tokenizer, tmp_path):
    seen = []
    with serving() as service:
        prompt = len(tokenizer.apply_chat_template(PROMPTS[0]["prompt"], add_generation_prompt=True)["input_ids"])
        trainer = remembering(TurnsTrainer, seen)(
            model, judge=Recorder(service), turns=9, most_tokens=prompt + 700, args=configuration(tmp_path),
            train_dataset=PROMPTS, processing_class=tokenizer)
        trainer.args.max_steps = 1
        trainer.train()
    for one in seen[0]["played"]:
        assert 1 < len(one.rewards) < 9 and len(one.completion_ids) <= 700 and one.spans[-1][1] == len(one.completion_ids)


@pytest.mark.parametrize("ends", [True, False])
def test_a_message_after_a_reply_keeps_the_replys_ids(ends, tokenizer):
    class Trainer:
        processing_class, chat_template, chat_template_kwargs, eos_token_ids = tokenizer, None, {}, [tokenizer.eos_token_id]

    talk = [{"role": "user", "content": "Kernel?"}, {"role": "assistant", "content": "k = 1"},
            {"role": "user", "content": "No."}]
    asked = tokenizer.apply_chat_template(talk[:1], add_generation_prompt=True)["input_ids"]
    reply = tokenizer("k = 1")["input_ids"] + [tokenizer.eos_token_id] * ends
    whole = tokenizer.apply_chat_template(talk, add_generation_prompt=True)["input_ids"]
    assert asked + reply + message_ids(Trainer, reply, "No.") == whole


def test_mistakes(model, tokenizer, tmp_path):
    with pytest.raises(ValueError, match="turns: at least 1"):
        TurnsTrainer(model, judge=None, turns=0, args=configuration(tmp_path))
    with pytest.raises(ValueError, match="TurnsTrainer brings its own"):
        TurnsTrainer(model, judge=None, reward_funcs=len, args=configuration(tmp_path))


def test_the_example(sandboxed, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", support.environment()["PYTHONPATH"])
    train_with_trl.main(tmp_path)
    out = capsys.readouterr().out
    found = dict(re.findall(r"^(search|sft|grpo): (.*)$", out, re.MULTILINE))
    assert re.fullmatch(r"12 iterations, best [12]\d", found["search"])
    losses = [float(loss) for loss in found["sft"].split()[1:]]
    assert len(losses) == 3 and losses[2] < losses[0]
    rewards = re.search(r"^grpo: reward (.*)$", out, re.MULTILINE)[1].split()
    assert len(rewards) == 5 and all(float(reward) > 0 for reward in rewards)
    assert "grpo: without a score 0 of 20" in out
