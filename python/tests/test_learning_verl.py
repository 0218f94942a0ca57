"""verl on the CPU: its compute_advantage with our estimator, its loader on our rows, its reward manager and agent loop.

Its trainer needs a GPU, and is not run.
"""

import asyncio
import importlib
import itertools
import math
import os
import sys
import tomllib
from pathlib import Path
from types import SimpleNamespace

import kernelsmith as ks
import numpy as np
import pytest
import support
from scripted_service import serving, without_verdict

pytest.importorskip("verl", reason="verl is not installed: pip install verl==0.9.1 cachetools fastapi uvicorn")
torch, datasets = pytest.importorskip("torch"), pytest.importorskip("datasets")

from hydra import compose, initialize_config_dir  # noqa: E402
from kernelsmith.learning.verl import agent_loop, estimator, rows  # noqa: E402
from omegaconf import OmegaConf  # noqa: E402
from tensordict import TensorDict  # noqa: E402
from verl import DataProto  # noqa: E402
from verl.experimental.agent_loop.agent_loop import DictConfigWrap  # noqa: E402
from verl.experimental.reward_loop.reward_manager import get_reward_manager_cls  # noqa: E402
from verl.trainer.ppo.ray_trainer import compute_advantage  # noqa: E402
from verl.trainer.ppo.reward import get_custom_reward_fn  # noqa: E402
from verl.trainer.ppo.utils import need_critic, need_reference_policy  # noqa: E402
from verl.utils.config import validate_config  # noqa: E402
from verl.utils.dataset.rl_dataset import RLHFDataset  # noqa: E402

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
            rewards[row, 5 * turn + 2] = reward
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
    assert advantages_of([[1, 2]]) == [[3.0, 2.0]]
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
        for found, wanted in zip(advantages_of(played, uid), expected, strict=True):
            np.testing.assert_allclose(found, wanted[:len(found)], atol=2e-6)


def test_verl_finds_the_estimator_by_itself():
    points = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]["entry-points"]["verl.plugins"]
    assert importlib.import_module(points["kernelsmith"]) is estimator


# --- configurations and rows

@pytest.mark.parametrize("name", ["single_turn", "turns"])
def test_the_configurations_are_verls(name, monkeypatch, tmp_path):
    monkeypatch.setenv("MODEL", str(tmp_path))
    monkeypatch.setenv("TRAIN", str(tmp_path / "train.parquet"))
    monkeypatch.setenv("PWD", str(SOURCE))
    with initialize_config_dir(str(CONFIGURATIONS), version_base=None):
        config = compose(name)
    OmegaConf.resolve(config)
    validate_config(config, need_reference_policy(config), need_critic(config))
    assert get_custom_reward_fn(config) is not None
    [agent] = OmegaConf.load(config.actor_rollout_ref.rollout.agent.agent_loop_config_path)
    module, _, member = agent._target_.rpartition(".")
    assert agent.name == "ks_kernel" and hasattr(importlib.import_module(module), member)


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
    assert good == {"reward_score": 2.0, "reward_extra_info": {"score": 2.0, "acc": 1.0, "unscored": 0.0, "rejection": ""}}
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
        logprobs = [-0.5] * len(ids) if self.logprobs else None
        return SimpleNamespace(token_ids=ids, log_probs=logprobs, extra_fields={"steps": 1}, num_preempted=0)


def play(tokenizer, replies, *, response_length=1000, logprobs=True, turns=3):
    server = Server(tokenizer, replies, logprobs)
    config = OmegaConf.create({"actor_rollout_ref": {"rollout": {"prompt_length": 500, "response_length": response_length}}})

    async def run():
        loop = agent_loop.KernelTurns(DictConfigWrap(config), server, tokenizer, None, RLHFDataset,
                                      DictConfigWrap(OmegaConf.create({})), turns=turns, score="speedup")
        return await loop.run({}, raw_prompt=[{"role": "user", "content": "Faster!"}], reward_model={"ground_truth": ""},
                              extra_info={"parent_code": "1.5\n", "parent_speedup": 1.5})

    return asyncio.run(asyncio.wait_for(run(), support.PATIENCE_S)), server


def fenced(*numbers):
    return [f"```\n{number}\n```" for number in numbers]


@pytest.mark.parametrize("logprobs", [True, False])
def test_each_turn_has_its_reward(service, tokenizer, logprobs):
    output, server = play(tokenizer, fenced("2.0", "wrong", "4.0"), logprobs=logprobs)
    fields = output.as_dict()
    spans = estimator.turns_of(fields["response_mask"].bool().numpy())
    scores = fields["rm_scores"].numpy()
    assert len(spans) == 3 and [end - 1 for _, end in spans] == output.turn_ends
    assert [scores[end - 1] for _, end in spans] == [2.0, 0.0, 4.0] and scores.sum() == output.reward_score == 6.0
    said = [tokenizer.decode(fields["responses"][begin:end], skip_special_tokens=True) for begin, end in spans]
    assert said == fenced("2.0", "wrong", "4.0")
    assert "Its speedup is 2;" in tokenizer.decode(fields["responses"][spans[0][1]:spans[1][0]])
    assert server.prompts[2] == [*fields["prompts"].tolist(), *fields["responses"][:spans[2][0]].tolist()]
    assert len(fields["responses"]) == spans[-1][1] and output.num_turns == 6
    if logprobs:
        expected = np.where(fields["response_mask"].numpy() == 1, -0.5, 0.0)
        np.testing.assert_array_equal(fields["rollout_log_probs"].numpy(), expected)


def test_a_failed_machine_ends_the_conversation(service, tokenizer, monkeypatch):
    monkeypatch.setattr(rows, "RewardClient", lambda url, **_: ks.learning.RewardClient(url, wait_s=0, evaluations=1))
    service.coming.extend([None, FAILED])
    output, _ = play(tokenizer, fenced("2.0", "3.0", "4.0"))
    scores = output.as_dict()["rm_scores"].numpy()
    assert output.turn_rewards[0] == 2.0 and math.isnan(output.turn_rewards[1]) and len(output.turn_rewards) == 2
    assert np.isnan(scores[-1]) and np.isnan(output.reward_score) and np.nansum(scores) == 2.0
    assert output.extra_fields["reward_extra_info"]["unscored"] == 1.0


def test_a_conversation_ends_at_its_length(service, tokenizer):
    output, _ = play(tokenizer, fenced("2.0", "3.0", "4.0"), response_length=40)
    assert len(output.response_ids) <= 40 and len(output.turn_rewards) == 1
    output, _ = play(tokenizer, fenced("2.0"), response_length=3)
    assert len(output.response_ids) == 3 == len(output.response_mask) and output.turn_rewards == [0.0], "cut off: no program"
