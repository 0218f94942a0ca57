"""verl on the CPU: its compute_advantage with our estimator, its loader on our rows, its reward manager and agent loop.

Its trainer needs a GPU, and is not run.
"""

import asyncio
import importlib
import itertools
import math
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import kernelsmith as ks
import numpy as np
import pytest
import support
from kernelsmith._files import toml_of
from scripted_service import serving, without_verdict

pytest.importorskip("verl", reason="verl is not installed: pip install verl==0.9.1 cachetools fastapi uvicorn")
torch, datasets = pytest.importorskip("torch"), pytest.importorskip("datasets")

from hydra import compose, initialize_config_dir  # noqa: E402
from kernelsmith.learning.verl import agent_loop, estimator, rows, versions  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.experimental.agent_loop import agent_loop as verl_agent_loop  # noqa: E402
from verl.experimental.agent_loop.agent_loop import DictConfigWrap  # noqa: E402
from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls  # noqa: E402
from verl.trainer.ppo.core_algos import compute_policy_loss_vanilla  # noqa: E402
from verl.trainer.ppo.ray_trainer import compute_advantage  # noqa: E402
from verl.trainer.ppo.reward import get_custom_reward_fn  # noqa: E402
from verl.trainer.ppo.rollout_corr_helper import (  # noqa: E402
    compute_rollout_correction_and_add_to_batch,
    compute_rollout_rejection_mask,
)
from verl.trainer.ppo.utils import need_critic, need_reference_policy  # noqa: E402
from verl.trainer.ppo.v1 import agent_loop_tq, replay_buffer, trainer_base  # noqa: E402
from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories  # noqa: E402
from verl.utils.config import omega_conf_to_dataclass, validate_config  # noqa: E402
from verl.utils.dataset.rl_dataset import RLHFDataset  # noqa: E402
from verl.utils.tensordict_utils import list_of_dict_to_tensordict  # noqa: E402

SOURCE = Path(os.environ.get("KERNELSMITH_SOURCE", Path(__file__).resolve().parent.parent.parent))
CONFIGURATIONS = SOURCE / "examples" / "learning" / "verl-configs"
sys.path.insert(0, str(CONFIGURATIONS.parent))
import tiny_model  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")
FAILED = without_verdict("failed", "SYSTEM_ERROR", error="disk_full")
NONE = math.nan


@pytest.fixture(scope="module")
def tokenizer():
    return tiny_model.tiny_tokenizer((SOURCE / "README.md").read_text())


@pytest.fixture
def service(monkeypatch):
    """Scripted faults, one for each POST, in the order that the test appends them."""
    faults = []
    with serving(faults=iter(lambda: faults.pop(0) if faults else None, object())) as scripted:
        monkeypatch.setenv(rows.URL_VARIABLE, scripted.url)
        scripted.coming = faults
        yield scripted
    rows._judge.cache_clear()


# --- the estimator

def batch_of(trajectories, uid=None):
    """Turns of three tokens with two of feedback between them; each turn's reward on its last token."""
    width = max(5 * len(turns) - 2 for turns in trajectories)
    mask, rewards = torch.zeros(len(trajectories), width), torch.zeros(len(trajectories), width)
    for row, turns in enumerate(trajectories):
        for turn, reward in enumerate(turns):
            mask[row, 5 * turn:5 * turn + 3] = 1
            rewards[row, 5 * turn + 2] = reward or estimator.NO_REWARD
    return DataProto(batch=TensorDict({"token_level_rewards": rewards, "response_mask": mask}, batch_size=len(trajectories)),
                     non_tensor_batch={"uid": np.array(uid or ["a"] * len(trajectories), dtype=object)})


def advantages_of(trajectories, uid=None, gamma=1.0):
    """By turn, after a check that all of a turn's tokens have its advantage and all others 0."""
    config = OmegaConf.create({"gamma": gamma})
    data = compute_advantage(batch_of(trajectories, uid), adv_estimator="ks_trloo", config=config)
    found, mask = data.batch["advantages"].numpy(), data.batch["response_mask"].numpy()
    assert not found[mask == 0].any() and (data.batch["returns"].numpy() == found).all()
    turns = [[found[row, 5 * turn] for turn in range(len(trajectory))] for row, trajectory in enumerate(trajectories)]
    for row, of_turns in enumerate(turns):
        np.testing.assert_array_equal(found[row][mask[row] == 1], np.repeat(of_turns, 3))
    return [[round(float(value), 6) for value in of_turns] for of_turns in turns]


UNEVEN = [[.5, 1, 2], [0, 0, 1], [.5, .5], [.25]]


def test_trloo_through_verl():
    """The numbers of KernelGYM's own function; see test_learning_advantages.py."""
    assert advantages_of(UNEVEN) == [[2.75, 2.25, 1.0], [-.583333, -.75, -1.0], [-.583333, -1.5], [-1.583333]]
    assert advantages_of(UNEVEN, gamma=.5) == [[1.083333, 1.5, 1.0], [-.583333, -.75, -1.0], [.083333, -.75], [-.583333]]
    assert advantages_of([[0, 1.5], [1.25, 0]]) == [[.25, 1.5], [-.25, -1.5]]
    assert advantages_of([[1, 2]]) == [[0.0, 0.0]], "a lone survivor has no baseline"
    assert advantages_of([[1, 1]] * 3) == [[0.0, 0.0]] * 3
    assert advantages_of([[1], [3], [2], [2]], ["a", "a", "b", "b"]) == [[-2.0], [2.0], [0.0], [0.0]]


def test_a_turn_without_a_verdict_is_in_no_baseline():
    assert advantages_of([[NONE], [1], [3]]) == [[0.0], [-2.0], [2.0]]
    assert advantages_of([[1, NONE], [1, 1], [2, 1]]) == [[0.0, 0.0], [-1.0, 0.0], [1.0, 0.0]]
    assert advantages_of([[NONE], [NONE]]) == [[0.0], [0.0]]


def test_random_cases_agree_with_the_function():
    from kernelsmith.learning import trloo

    draw = np.random.default_rng(7)
    for _ in range(200):
        played = [draw.normal(size=draw.integers(1, 5)).astype(np.float32).tolist() for _ in range(draw.integers(1, 9))]
        uid = [str(draw.integers(2)) for _ in played]
        expected = trloo(played, uid).values
        for found, wanted, label in zip(advantages_of(played, uid), expected, uid, strict=True):
            np.testing.assert_allclose(found, wanted[:len(found)] * (uid.count(label) > 1), atol=2e-6)


def test_verl_finds_the_estimator_by_itself():
    points = toml_of(SOURCE / "pyproject.toml")["project"]["entry-points"]["verl.plugins"]
    assert importlib.import_module(points["kernelsmith"]) is estimator


# --- configurations and rows

def configuration_of(name):
    with pytest.MonkeyPatch.context() as variables, initialize_config_dir(str(CONFIGURATIONS), version_base=None):
        for variable, value in (("MODEL", "m"), ("TRAIN", "train.parquet"), ("PWD", str(SOURCE))):
            variables.setenv(variable, value)
        config = compose(name)
        OmegaConf.resolve(config)
    return config


@pytest.mark.parametrize("name, turns", [("single_turn", 1), ("turns", 3)])
def test_the_configurations_are_verls(name, turns):
    config = configuration_of(name)
    validate_config(config, need_reference_policy(config), need_critic(config))
    assert get_custom_reward_fn(config) is not None
    [agent] = OmegaConf.load(config.actor_rollout_ref.rollout.agent.agent_loop_config_path)
    module, _, member = agent._target_.rpartition(".")
    assert agent.name == "ks_kernel" and hasattr(importlib.import_module(module), member) and agent.turns == turns


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Rows of a run of ours, as `kernelsmith dataset` writes them."""
    from dataset_runs import searched
    from kernelsmith.learning.dataset import Settings, export

    folder = tmp_path_factory.mktemp("rows")
    run = searched(folder / "a.run")
    return export([run], folder / "rl", Settings(kind="rl", per_task=4, licences={"": "MIT"}))


def files_of(exported):
    return [str(exported.folder / name) for name in exported.files]


def test_both_loaders_read_our_rows(exported, tokenizer, tmp_path):
    config = OmegaConf.create({"max_prompt_length": 8192, "filter_overlong_prompts": True, "return_raw_chat": True,
                               "cache_dir": str(tmp_path), "filter_overlong_prompts_workers": 1})
    loaded = RLHFDataset(files_of(exported), tokenizer, config)
    trls = datasets.Dataset.from_parquet(files_of(exported), cache_dir=str(tmp_path / "cache"))
    assert len(loaded) == len(trls) == 4
    for one, other in zip(loaded, trls, strict=True):
        assert [message["role"] for message in one["raw_prompt"]] == ["system", "user"]
        assert list(one["raw_prompt"]) == other["prompt"] and one["agent_name"] == "ks_kernel"
        row = rows.row_of(one["reward_model"]["ground_truth"], one["extra_info"])
        assert {name: row[name] for name in ("parent_code", "parent_speedup", "reference_code", "entry_point")} == {
            name: other[name] for name in ("parent_code", "parent_speedup", "reference_code", "entry_point")}


# --- rewards

def manager_of(tokenizer, **options):
    """verl's own reward manager, with our function as a configuration names it."""
    config = OmegaConf.create({"reward": {"custom_reward_function": {
        "path": "pkg://kernelsmith.learning.verl.reward", "name": "compute_score", "reward_kwargs": options}}})
    return get_reward_manager_cls("naive")(config, tokenizer, get_custom_reward_fn(config))


def one_reply(tokenizer, text):
    ids = torch.tensor([tokenizer(text)["input_ids"]])
    return DataProto(
        batch=TensorDict({"responses": ids, "attention_mask": torch.ones_like(ids)}, batch_size=1),
        non_tensor_batch={"data_source": np.array(["kernel_rl"]), "reward_model": np.array([{"ground_truth": ""}]),
                          "extra_info": np.array([{"parent_code": "1.5\n", "parent_speedup": 1.5}])})


def test_rewards_through_verls_manager(service, tokenizer):
    async def ask(*texts, **options):
        manager = manager_of(tokenizer, **options)
        return [await manager.run_single(one_reply(tokenizer, f"```\n{text}\n```")) for text in texts]

    good, wrong = asyncio.run(ask("3.0", "1.5"))
    assert good == {"reward_score": 2.0, "reward_extra_info": {
        "score": 2.0, "acc": 1.0, "own_share": 0.25, "unscored": 0.0, "rejection": ""}}
    assert wrong["reward_score"] == 0.0 and wrong["reward_extra_info"]["rejection"] == "unchanged"


def test_no_verdict_is_an_error_or_nan_and_never_0(service, tokenizer, monkeypatch):
    monkeypatch.setattr(rows, "RewardClient", lambda url, **_: ks.learning.RewardClient(url, wait_s=0, evaluations=1))

    async def ask(**options):
        service.coming.append(FAILED)
        return await manager_of(tokenizer, **options).run_single(one_reply(tokenizer, f"```\n{next(numbers)}.5\n```"))

    numbers = itertools.count(3)
    with pytest.raises(ks.Error, match="no reward for a reply") as failed:
        asyncio.run(ask())
    assert failed.value.code == "disk_full"
    unscored = asyncio.run(ask(unscored="nan"))
    assert math.isnan(unscored["reward_score"]) and unscored["reward_extra_info"]["unscored"] == 1.0
    with pytest.raises(ValueError, match="unscored"):
        asyncio.run(ask(unscored="zero"))


def test_a_service_has_to_be_named(monkeypatch):
    monkeypatch.delenv(rows.URL_VARIABLE, raising=False)
    with pytest.raises(ValueError, match=rows.URL_VARIABLE):
        rows.judge_of(None, "speedup", "reference", None, 1.0)


# --- turns

class Server:
    """The replies of a model, one after another."""

    def __init__(self, tokenizer, replies, logprobs):
        self.tokenizer, self.replies, self.logprobs, self.prompts = tokenizer, iter(replies), logprobs, []

    async def generate(self, request_id, prompt_ids, sampling_params):
        self.prompts.append(list(prompt_ids))
        ids = self.tokenizer(next(self.replies))["input_ids"] + [self.tokenizer.eos_token_id]
        ids = ids[:sampling_params["max_tokens"]]
        logprobs = [-0.5] * len(ids) if self.logprobs else None
        return SimpleNamespace(token_ids=ids, log_probs=logprobs, extra_fields={"steps": 1}, num_preempted=0)


def play(tokenizer, replies, *, response_length=1000, logprobs=True, turns=3, mode="sync", **options):
    server = Server(tokenizer, replies, logprobs)
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": {"prompt_length": 500, "response_length": response_length}},
                               "trainer": {"v1": {"trainer_mode": mode}}})

    async def run():
        loop = agent_loop.KernelTurns(DictConfigWrap(config), server, tokenizer, None, RLHFDataset,
                                      DictConfigWrap(OmegaConf.create({})), turns=turns, score="speedup", **options)
        return await loop.run({}, raw_prompt=[{"role": "user", "content": "Faster!"}], reward_model={"ground_truth": ""},
                              extra_info={"parent_code": "1.5\n", "parent_speedup": 1.5})

    return asyncio.run(asyncio.wait_for(run(), support.PATIENCE_S)), server


def fenced(*numbers):
    return [f"```\n{number}\n```" for number in numbers]


@pytest.mark.parametrize("logprobs", [True, False])
def test_each_turn_has_its_reward(service, tokenizer, logprobs):
    output, server = play(tokenizer, fenced("2.0", "wrong", "4.0"), logprobs=logprobs)
    fields = output.as_dict()
    scores, mask = fields["rm_scores"].numpy(), fields["response_mask"].numpy()
    assert [end - 1 for _, end in estimator.turns_of(scores, mask)] == output.turn_ends
    edges = np.flatnonzero(np.diff([0, *mask, 0])).reshape(-1, 2)
    spans = [(int(begin), int(end)) for begin, end in edges]
    assert [end - 1 for _, end in spans] == output.turn_ends and len(spans) == 3
    assert [scores[end - 1] for _, end in spans] == [2.0, 0.0, 4.0] and scores.sum() == output.reward_score == 6.0
    said = [tokenizer.decode(fields["responses"][begin:end], skip_special_tokens=True) for begin, end in spans]
    assert said == fenced("2.0", "wrong", "4.0")
    assert '"score": 2,' in tokenizer.decode(fields["responses"][spans[0][1]:spans[1][0]])
    assert agent_loop.feedback is ks.learning.feedback, "the turns of cold start and test time, too"
    assert server.prompts[2] == [*fields["prompts"].tolist(), *fields["responses"][:spans[2][0]].tolist()]
    assert len(fields["responses"]) == spans[-1][1] and output.num_turns == 6
    if logprobs:
        expected = np.where(fields["response_mask"].numpy() == 1, -0.5, 0.0)
        np.testing.assert_array_equal(fields["rollout_log_probs"].numpy(), expected)


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(rows, "RewardClient", lambda url, **_: ks.learning.RewardClient(url, wait_s=0, evaluations=1))


def test_a_failed_machine_ends_the_conversation(service, tokenizer, impatient):
    """In sync mode by an error, so that verl can replace a prompt; in the others untrained, so that it does not."""
    service.coming.extend([None, FAILED])
    with pytest.raises(ks.Error, match="no reward for a reply") as failed:
        play(tokenizer, fenced("2.0", "3.0", "4.0"))
    assert failed.value.code == "disk_full"
    for settings in ({"mode": "colocate_async"}, {"unscored": "mask"}):
        service.coming.extend([None, FAILED])
        output, server = play(tokenizer, fenced("2.5", "3.5", "4.5"), **settings)
        fields = output.as_dict()
        assert len(server.prompts) == 2 and not fields["response_mask"].any() and output.reward_score == 0.0
        assert estimator.turns_of(fields["rm_scores"].numpy(), fields["response_mask"].numpy()) == []
        told = output.extra_fields["reward_extra_info"]
        assert told["unscored"] == 1.0 and told["trained_turns"] == 0.0
        service.forget()
    with pytest.raises(ValueError, match="unscored"):
        play(tokenizer, [], unscored="zero")


def test_a_reply_has_a_limit_of_its_own(service, tokenizer):
    long = f"```\n2.0\n``` {'so ' * 100}"
    for settings, most in (({"reply_tokens": 30}, 30), ({"most_tokens": 60}, None)):
        output, server = play(tokenizer, [long] * 3, **settings)
        lengths = np.diff(np.flatnonzero(np.diff([0, *output.response_mask, 0])))[::2]
        assert len(lengths) == (3 if most else 1) and (lengths == (most or 60 - len(server.prompts[0]))).all()
    with pytest.raises(ValueError, match="no room for a reply"):
        play(tokenizer, [long], most_tokens=3)


def test_a_conversation_ends_at_its_length(service, tokenizer):
    output, _ = play(tokenizer, fenced("2.0", "3.0", "4.0"), response_length=40)
    assert len(output.response_ids) <= 40 and len(output.turn_rewards) == 1
    output, _ = play(tokenizer, fenced("2.0"), response_length=3)
    assert len(output.response_ids) == 3 == len(output.response_mask) and output.turn_rewards == [0.0], "cut off: no program"


# --- what is trained

def batch_of_outputs(outputs, uid):
    """As verl's queue stores conversations, and gives them back for the advantage."""
    fields = [output.as_dict() for output in outputs]
    names = ("responses", "response_mask", "rm_scores", "rollout_log_probs")
    stored = list_of_dict_to_tensordict([{name: one[name] for name in names} for one in fields])
    data = DataProto(batch=stored.to_padded_tensor())
    data.non_tensor_batch["uid"] = np.array(list(uid), dtype=object)
    data.batch["old_log_probs"] = data.batch["rollout_log_probs"].clone()
    data.batch["token_level_rewards"] = data.batch["token_level_scores"] = data.batch["rm_scores"]
    return data


def trained_tokens(data, algorithm):
    """verl's trainer from the log-probabilities on, and the gradient of its loss: the advantage of each token, NaN for those
    that the gradient does not see."""
    data, _ = compute_rollout_correction_and_add_to_batch(data, algorithm.rollout_correction)
    data = compute_advantage_for_multi_trajectories(
        data, [f"{uid}_{row}_0" for row, uid in enumerate(data.non_tensor_batch["uid"])], algorithm.adv_estimator,
        gamma=algorithm.gamma, config=algorithm)
    log_probs = data.batch["old_log_probs"].clone().requires_grad_()
    actor = omega_conf_to_dataclass(configuration_of("turns").actor_rollout_ref.actor)
    actor.global_batch_info.update(dp_size=1, global_batch_size=len(data), loss_scale_factor=actor.loss_scale_factor)
    loss, _ = compute_policy_loss_vanilla(
        data.batch["old_log_probs"], log_probs, data.batch["advantages"], data.batch["response_mask"].bool(),
        loss_agg_mode=actor.loss_agg_mode, config=actor)
    loss.backward()
    slope = -log_probs.grad * len(data) * actor.loss_scale_factor
    seen = data.batch["response_mask"].bool()
    assert (slope[~seen] == 0).all()
    torch.testing.assert_close(slope[seen], data.batch["advantages"][seen])
    return slope.masked_fill(~seen, math.nan).numpy()


CONVERSATIONS = [("2.0", "wrong", "4.0"), ("wrong", "3.0", "wrong"), ("1.25", "wrong", "1.5"), ("wrong", "wrong", "5.0")]


def conversations(tokenizer, **options):
    return [play(tokenizer, fenced(*texts), **options)[0] for texts in CONVERSATIONS]


def check_trained(found, outputs, is_trained):
    """Each token of a trained turn has TRLOO's advantage over all conversations, rejected or not; no other token has any."""
    rewards = [[0.0 if text == "wrong" else float(text) for text in texts] for texts in CONVERSATIONS]
    expected = ks.learning.trloo(rewards).values
    count = 0
    for row, output in enumerate(outputs):
        wrote = np.flatnonzero(np.diff([0, *play_mask(output), 0])).reshape(-1, 2)
        for turn, (begin, end) in enumerate(wrote):
            if is_trained(row, turn):
                np.testing.assert_allclose(found[row, begin:end], expected[row, turn], atol=1e-5)
                count += end - begin
    assert np.isfinite(found).sum() == count


def play_mask(output):
    """Which tokens the model wrote: those with a log-probability."""
    return [int(value != 0) for value in output.response_logprobs]


def test_the_profile_and_the_mismatch_decide_what_verl_trains(service, tokenizer):
    """A correct reply of the service spends a quarter of its time in own kernels. Rows 1 and 3 are too far from the policy:
    one by its mean, one by a single token."""
    algorithm = configuration_of("turns").algorithm
    wrong = [[text == "wrong" for text in texts] for texts in CONVERSATIONS]
    outputs = conversations(tokenizer)
    check_trained(trained_tokens(batch_of_outputs(outputs, "aaaa"), algorithm), outputs, lambda row, turn: True)
    outputs = conversations(tokenizer, profiling={})
    check_trained(trained_tokens(batch_of_outputs(outputs, "aaaa"), algorithm), outputs, lambda row, turn: wrong[row][turn])
    data = batch_of_outputs(outputs, "aaaa")
    data.batch["old_log_probs"][1] += .0015 * data.batch["response_mask"][1]
    veto = int(np.flatnonzero(data.batch["response_mask"][3])[0])
    data.batch["old_log_probs"][3, veto] -= 9.3
    data.batch["old_log_probs"][3, veto + 1] += 9.3
    check_trained(trained_tokens(data, algorithm), outputs, lambda row, turn: wrong[row][turn] and row in (0, 2))


def test_the_band_is_dr_kernels():
    algorithm = configuration_of("turns").algorithm
    correction = algorithm.rollout_correction
    assert not correction.bypass_mode and correction.rollout_is is None
    for shift, kept in ((.0009, True), (.00101, False), (-.0009, True), (-.00101, False)):
        ratios = torch.full((1, 4), shift, dtype=torch.float64)
        found, _ = compute_rollout_rejection_mask(
            ratios, torch.ones(1, 4), correction.rollout_rs, correction.rollout_rs_threshold)
        ours = ks.learning.mismatch_rejection(ratios[None], torch.zeros(1, 1, 4), np.ones((1, 1, 4), dtype=bool))
        assert bool(found.all()) == kept == bool(ours.keep.all())


def test_rejections_repeat(service, tokenizer):
    def trained(**options):
        return [play(tokenizer, fenced(text), turns=1, profiling={"threshold": .2}, **options)[0].response_mask[0]
                for text in [f"{number / 7}" for number in range(7, 47)]]

    first = trained()
    assert first == trained() != trained(seed=1) and 10 < sum(first) < 30, "the service's ratio is .25: half of them stay"


def test_grpo_leaves_out_what_has_no_verdict():
    config = OmegaConf.create({"norm_adv_by_std_in_grpo": False})
    rewards = torch.tensor([[0, 1.0], [0, 3.0], [0, math.nan], [0, 5.0], [0, 0.0], [0, -0.0], [0, 4.0]])
    mask = torch.tensor([[1, 1], [1, 1], [1, 1], [1, 1], [0, 0], [0, 0], [1, 1]])
    # Row 3 is alone; 4 was never judged; 5 was judged 0 and is rejected, so it counts, untrained.
    found, _ = estimator.grpo_estimator(rewards, mask, list("aaabccc"), config)
    assert found.tolist() == [[-1, -1], [1, 1], [0, 0], [0, 0], [0, 0], [0, 0], [2, 2]]
    config.norm_adv_by_std_in_grpo = True
    assert estimator.grpo_estimator(rewards, mask, list("aaabccc"), config)[0][1, 0] == pytest.approx(2**-.5, rel=1e-5)


def test_rewards_with_a_kl_term_are_refused():
    with pytest.raises(ValueError, match="use_kl_in_reward"):
        estimator.trloo_estimator(torch.zeros(1, 1), torch.ones(1, 1), None, OmegaConf.create({"use_kl_in_reward": True}))


# --- failures in verl: its own buffer, over a queue in memory

class Queue:
    """What verl keeps in its TransferQueue: of each key a tag and fields."""

    def __init__(self, groups=()):
        """Groups: the status of each prompt, and how many conversations it has."""
        self.items, self.fields = {}, {}
        for uid, (status, count) in dict(groups).items():
            self.items[uid] = {"is_prompt": True, "status": status, "global_steps": 1}
            self.items.update({f"{uid}_{number}_0": {"status": "success"} for number in range(count)})

    def kv_list(self):
        return {"train": dict(self.items)}

    def kv_clear(self, partition_id, keys):
        for key in keys:
            self.items.pop(key, None)

    async def async_kv_put(self, key, partition_id, tag):
        self.items[key].update(tag)

    async def async_kv_batch_put(self, keys, fields, tags, partition_id):
        for key, tag, values in zip(keys, tags, fields, strict=True):
            self.items[key], self.fields[key] = tag, dict(values.items())

    def kv_batch_get(self, keys, partition_id, select_fields):
        wanted = [[name for name in select_fields if name in self.fields[key]] for key in keys]
        return list_of_dict_to_tensordict([{name: self.fields[key][name] for name in names}
                                           for key, names in zip(keys, wanted, strict=True)])

    def kv_batch_put(self, keys, partition_id, fields):
        for key, values in zip(keys, fields, strict=True):
            self.fields[key].update(values.items())


def sampled(monkeypatch, groups, buffer=replay_buffer.ReplayBuffer, batch_size=2, **options):
    """The conversations that verl trains on, and how many prompts it has asked for in addition."""
    queue, asked = Queue(groups), []

    def refill(count):
        asked.append(count)
        queue.items.update(Queue({f"new{len(asked)}": ("finished", 4)}).items)

    monkeypatch.setattr(replay_buffer, "tq", queue)
    batch, _ = buffer("sync", OmegaConf.create({}), 8, "drop", OmegaConf.create({}), poll_interval=0, refill_fn=refill,
                      gen_batch_size=1, train_batch_size=batch_size, **options).sample(1, "train", batch_size)
    return [key.split("_")[0] for key in batch.keys], sum(asked)


def test_sync_keeps_the_siblings_of_a_failure(monkeypatch):
    """They are compared with each other, and a lone one has no advantage."""
    uids, asked = sampled(monkeypatch, {"whole": ("finished", 4), "partly": ("failure", 3)})
    assert uids == ["whole"] * 4 + ["partly"] * 3 and asked == 0
    assert advantages_of([[1], [2], [3], [4], [1], [2], [6]], uids)[4:] == [[-3.0], [-1.5], [4.5]]
    uids, _ = sampled(monkeypatch, {"whole": ("finished", 4), "partly": ("failure", 1)})
    assert advantages_of([[1], [2], [3], [4], [5]], uids)[4:] == [[0.0]]
    theirs = compute_advantage(batch_of([[1], [2], [3], [4], [5]], uids), adv_estimator="rloo", config=OmegaConf.create({}))
    assert theirs.batch["advantages"][4, 0] == 5, "verl's own estimators give it its whole reward"


def test_sync_replaces_a_prompt_without_conversations_if_asked(monkeypatch):
    uids, asked = sampled(monkeypatch, {"whole": ("finished", 4), "gone": ("failure", 0)}, sync_refill_failed_groups=True)
    assert sorted(uids) == ["new1"] * 4 + ["whole"] * 4 and asked == 1
    with pytest.raises(RuntimeError, match="sync_refill_failed_groups"):
        sampled(monkeypatch, {"a": ("failure", 0), "b": ("failure", 0)})
    for name in ("single_turn", "turns"):
        assert configuration_of(name).trainer.v1.sampler.sync_refill_failed_groups


def test_async_replaces_a_prompt_that_lost_one(monkeypatch):
    """Therefore KernelTurns masks a conversation there, and raises nothing."""
    uids, asked = sampled(monkeypatch, {"whole": ("finished", 4), "partly": ("failure", 3)}, replay_buffer.ReplayBufferAsync)
    assert sorted(uids) == ["new1"] * 4 + ["whole"] * 4 and asked == 1


def a_prompts_step(tokenizer, monkeypatch, mode):
    """verl's own worker plays four conversations of turns_agent.yaml, its buffer samples what is left, and its trainer
    computes the advantages. Gives the prompt's status and the fields of each conversation."""
    queue, config = Queue({"p": ("pending", 0)}), configuration_of("turns")
    for module in (agent_loop_tq, replay_buffer, trainer_base):
        monkeypatch.setattr(module, "tq", queue)
    config.trainer.v1.trainer_mode, config.actor_rollout_ref.rollout.n = mode, 4
    [agent] = OmegaConf.load(config.actor_rollout_ref.rollout.agent.agent_loop_config_path)
    monkeypatch.setitem(verl_agent_loop._agent_loop_registry, agent.name, agent)
    replies = itertools.chain(*((f"{number}.25", "wrong") for number in range(1, 9)))
    worker = object.__new__(agent_loop_tq.AgentLoopWorkerTQ.__ray_metadata__.modified_class)
    worker.__dict__.update(
        config=config, llm_client=Server(tokenizer, fenced(*replies), True),
        tokenizer=tokenizer, processor=None, hf_model_type=None, dataset_cls=RLHFDataset, tools=[],
        reward_loop_worker_handles=None, distillation_enabled=False)
    prompt = {"uid": "p", "agent_name": agent.name, "global_steps": 1,
              "raw_prompt": [{"role": "user", "content": "Faster!"}], "reward_model": {"ground_truth": ""},
              "extra_info": {"parent_code": "1.5\n"}}
    trajectory = {"step": 1, "sample_index": 0, "rollout_n": 0, "validate": False}
    asyncio.run(asyncio.wait_for(worker._run_prompt(prompt, {"logprobs": True}, trajectory), support.PATIENCE_S))
    status = queue.items["p"]["status"]
    buffer = replay_buffer.ReplayBuffer("sync", OmegaConf.create({}), 8, "drop", OmegaConf.create({}), poll_interval=0)
    batch, _ = buffer.sample(1, "train", 1)
    for key in batch.keys:
        queue.fields[key]["old_log_probs"] = queue.fields[key]["rollout_log_probs"].clone()
    trainer_base.PPOTrainer._compute_advantage(SimpleNamespace(config=config), batch, {})
    return status, [queue.fields[key] for key in batch.keys]


@pytest.mark.parametrize("mode, status, left", [("sync", "failure", 3), ("colocate_async", "finished", 4)])
def test_a_failure_from_verls_worker_to_its_advantages(mode, status, left, service, tokenizer, impatient, monkeypatch):
    service.coming.extend([None] * 5 + [FAILED])
    found, conversations = a_prompts_step(tokenizer, monkeypatch, mode)
    assert found == status and len(conversations) == left
    scores = [fields["extra_fields"].data["turn_scores"] for fields in conversations]
    known = [not any(map(math.isnan, of_turns)) for of_turns in scores]
    assert sum(known) == 3
    expected = iter(ks.learning.trloo(list(itertools.compress(scores, known))).values)
    trained = 0
    for fields, of_turns, is_known in zip(conversations, scores, known, strict=True):
        wanted = np.zeros(len(fields["responses"]))
        if is_known:  # the service's correct kernels are lazy, so the wrong ones alone are trained
            spans = estimator.turns_of(fields["rm_scores"].numpy(), fields["response_mask"].numpy())
            for (begin, end), score, value in zip(spans, of_turns, next(expected), strict=True):
                wanted[begin:end] = value * (score == 0) * (fields["rollout_log_probs"][begin:end].numpy() != 0)
        np.testing.assert_allclose(fields["advantages"].numpy(), wanted, atol=1e-5)
        assert (fields["advantages"].numpy()[fields["response_mask"].numpy() == 0] == 0).all()
        trained += np.count_nonzero(wanted)
    assert trained > 0


@pytest.mark.parametrize("version, fits", [("0.9.0", False), ("0.8.0", False), ("0.9.1", True), ("0.9.2", True),
                                           ("0.10.0.dev0", False)])
def test_other_versions_are_refused_at_import(version, fits, monkeypatch, caplog):
    monkeypatch.setattr("verl.__version__", version)
    if fits:
        return versions.require_supported("the module")
    with pytest.raises(ImportError, match=rf"the module fits verl from 0.9.1 to below 0.10, and verl {version} is installed"):
        versions.require_supported("the module")
    assert "pip install verl==0.9.1" in caplog.text, "verl is silent about a plugin that fails"
