"""From replies to scores: what the service says, what is refused before it is asked, and what has no score."""

import asyncio
import importlib
import json
import sys

import pytest
import support
from kernelsmith import learning
from kernelsmith.learning import Judge, Judged, Reward, RewardClient
from kernelsmith.learning.copies import is_copy
from kernelsmith.learning.verl.rows import row_of
from scripted_service import ScriptedService, without_verdict

PARENT = {"parent_code": "1.5\n", "parent_speedup": 1.5}
FAILED = without_verdict("failed", "SYSTEM_ERROR", error="disk_full")


def fenced(text):
    return f"Here it is:\n```\n{text}\n```\n"


def judge_all(replies, row, script=None, **settings):
    """What these replies are worth, and the service that was asked."""

    async def ask():
        async with ScriptedService(**(script or {})) as service:
            client = RewardClient(service.url, wait_s=0, backoff_s=(1e-4, 1e-3), evaluations=1,
                                  patience_s=support.PATIENCE_S)
            judge = Judge(client, **settings)
            return await asyncio.gather(*(judge(reply, row) for reply in replies)), service

    return asyncio.run(asyncio.wait_for(ask(), support.PATIENCE_S))


def test_the_score_is_over_the_parent():
    judged, service = judge_all([fenced("3.0"), fenced("wrong"), fenced("decoy"), "nothing", fenced("1.5")], PARENT)
    assert [one.score for one in judged] == [2.0, 0.0, 0.0, 0.0, 0.0]
    assert [one.reward.rejection for one in judged] == [None, "wrong_output", None, "no_code", "unchanged"]
    assert [one.program for one in judged] == ["3.0\n", "wrong\n", "decoy\n", None, None]
    assert len(service.asked) == 3, "what holds no program is not asked for"


KERNEL = '''\
import torch
from torch.utils.cpp_extension import load_inline

SOURCE = """
__global__ void twice(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
"""
module = load_inline("twice", SOURCE, functions=["twice"])


def rounded(count, block=256):
    return (count + block - 1) // block


class Model(torch.nn.Module):
    def forward(self, x):
        return module.twice(x, rounded(x.numel()))
'''
CUDA = KERNEL.partition('"""')[2].partition('"""')[0]
COPIES = {
    "a comment": KERNEL + "# faster\n", "a blank line": KERNEL.replace("\n\n\n", "\n\n\n\n"),
    "a docstring": KERNEL.replace("(self, x):\n", '(self, x):\n        """Faster."""\n'),
    "an unused import": "import os, math\n" + KERNEL,
    "a statement without an effect": KERNEL.replace("    return (", "    pass\n    return ("),
    "layout": KERNEL.replace("(count + block - 1)", "((count + block) - 1)"),
    "a name": KERNEL.replace("rounded", "blocks").replace("count", "numbers"),
    "a comment in C": KERNEL.replace("  int i", "  // fast\n  int i"),
    "C alone": CUDA.replace("  int i", "  /* fast */\n  int i")}
CHANGES = {
    "a number": KERNEL.replace("256", "512"), "an operator": KERNEL.replace("block - 1", "block + 1"),
    "C": KERNEL.replace("2.0f * x[i]", "x[i] + x[i]"), "the order": KERNEL.replace("count + block", "block + count"),
    "a used import": KERNEL.replace("import torch\n", "import torchvision as torch\n"),
    "names that others know": KERNEL.replace("forward", "backward"), "C alone": CUDA.replace("2.0f", "3.0f"),
    "a docstring that is the kernel": KERNEL.replace("SOURCE = ", "").replace('"twice", SOURCE', '"twice", __doc__')}


@pytest.mark.parametrize("score", ["kernel-smith", "dr-kernel", "speedup", lambda reward, row: float(reward.correct)])
def test_a_copy_earns_nothing_and_is_not_asked_for(score):
    for name, text in COPIES.items():
        parent = {**PARENT, "parent_code": CUDA if name == "C alone" else KERNEL}
        [judged], service = judge_all([text], parent, score=score, extract=lambda reply, row: reply)
        assert (judged.score, judged.reward.rejection, service.asked) == (0.0, "unchanged", []), name


def test_a_program_with_the_parent_s_binary_earns_nothing():
    def judged(binary, **row):
        done = {"status": "completed", "correctness": True, "decoy_kernel": False, "speedup": 3.0,
                "metadata": {"kernelsmith": {"binary": binary}}}
        return judge_all([fenced("3.0")], {**PARENT, **row}, {"faults": [done]})[0][0]

    copy = judged("ab", parent_binary="ab")
    assert (copy.score, copy.reward.rejection, copy.program) == (0.0, "unchanged", "3.0\n")
    assert [judged("ab", parent_binary=other).score for other in ("cd", "", None)] == [2.0] * 3 and judged("ab").score == 2.0
    assert judged(None, parent_binary="").score == judged("", parent_binary="").score == 2.0


@pytest.mark.parametrize(("text", "low", "score"), [
    (KERNEL.replace("256", "512"), 1.49, 0.0), (KERNEL.replace("256", "512"), 1.51, 2.0), (KERNEL.replace("256", "512"), None, 2.0),
    (KERNEL.replace("2.0f", "3.0f"), 1.49, 0.0), (KERNEL.replace("block - 1", "block + 1"), 1.49, 2.0), ("3.0", 1.49, 2.0)])
def test_a_number_that_is_moved_within_noise_earns_nothing(text, low, score):
    for figure in ("speedup", "fitness"):
        done = {"status": "completed", "correctness": True, "decoy_kernel": False, "speedup": 3.0,
                "metadata": {"kernelsmith": {figure: {} if low is None else {"low": low}}}}
        [judged], _ = judge_all([text], {**PARENT, "parent_code": KERNEL}, {"faults": [done]}, extract=lambda reply, row: reply)
        assert (judged.score, judged.program) == (score, text)
        assert judged.reward.rejection == ("unchanged" if score == 0 else None)


def test_a_change_is_no_copy():
    for name, text in CHANGES.items():
        assert not is_copy(text, CUDA if name == "C alone" else KERNEL), name
    docstring = CHANGES["a docstring that is the kernel"]
    assert not is_copy(docstring.replace("2.0f", "3.0f"), docstring)
    assert not is_copy("1.5\n", "2.5\n") and not is_copy('"""a"""', '"""b"""') and is_copy("", "")
    assert not is_copy("#!/bin/sh\nf() { echo a//b; }", "#!/bin/sh\nf() { echo a//c; }")
    deep = "def f():\n    return " + "-" * 10_000
    assert is_copy(deep + "1", deep + "1") and not is_copy(deep + "1", deep + "2"), "what nests too deep is compared as text"


def test_edits_are_of_the_parent():
    edit = "<<<<<<< SEARCH\n1.5\n=======\n4.5\n>>>>>>> REPLACE"
    judged, _ = judge_all([edit, edit.replace("1.5", "7")], PARENT)
    assert [(one.score, one.program, one.reward.rejection) for one in judged] == [
        (3.0, "4.5\n", None), (0.0, None, "edit_unmatched")]


def test_without_a_parent_the_baseline_counts():
    assert judge_all([fenced("3.0")], {})[0][0].score == 3.0
    assert judge_all([fenced("3.0")], {"parent_code": None, "parent_speedup": None})[0][0].score == 3.0


def test_the_scores_by_name():
    """Dr. Kernel's: 0.5 + 0.5 * min(s, 3) + 0.5 * PR, and the scripted service says 0.25 for PR."""
    replies = [fenced("2.0"), fenced("7.0"), fenced("wrong"), fenced("decoy")]
    assert [one.score for one in judge_all(replies, PARENT, score="dr-kernel")[0]] == [1.625, 2.125, 0.0, 0.0]
    assert [one.score for one in judge_all(replies, PARENT, score="speedup")[0]] == [2.0, 7.0, 0.0, 0.0]
    own = judge_all(replies, PARENT, score=lambda reward, row: -1.0 if reward.decoy else row["parent_speedup"])[0]
    assert [one.score for one in own] == [1.5, 1.5, 1.5, -1.0]


@pytest.mark.parametrize("score", ["kernel-smith", "dr-kernel", "speedup", lambda reward, row: 0.0])
def test_no_verdict_is_no_score(score):
    judged, _ = judge_all([fenced("2.0")], PARENT, {"faults": [FAILED]}, score=score)
    assert (judged[0].score, judged[0].reward.reason, judged[0].program) == (None, "disk_full", "2.0\n")


def test_a_fitness_that_is_no_speedup_has_no_score_and_a_reason():
    judged, _ = judge_all([fenced("-3.0"), fenced("0.0"), fenced("3.0")], PARENT)
    assert [(one.score, one.why, one.reward.correct) for one in judged] == [
        (None, "not_a_speedup", True), (None, "not_a_speedup", True), (2.0, "", True)]
    for parent in (0.0, -1.0, float("nan"), "fast"):
        assert judge_all([fenced("3.0")], {**PARENT, "parent_speedup": parent})[0][0].why == "not_a_speedup"
    assert [one.score for one in judge_all([fenced("-3.0")], PARENT, score="speedup")[0]] == [-3.0]
    assert judge_all([fenced("3.0")], PARENT, score=lambda reward, row: None)[0][0].why == "no_score"
    assert judge_all([fenced("3.0")], PARENT, {"faults": [FAILED]})[0][0].why == "disk_full"


def test_what_is_asked_for():
    problem = {"reference_code": "class Model: pass", "entry_point": "Net", "task": "hill"}
    _, service = judge_all([fenced("2.0")], problem, fields={"timeout": 60})
    assert service.jobs[service.asked[0]]["request"] == {
        "task_id": service.asked[0], "kernel_code": "2.0\n", "reference_code": "class Model: pass", "entry_point": "Net",
        "timeout": 60}
    _, service = judge_all([fenced("2.0")], problem, by="task")
    assert service.jobs[service.asked[0]]["request"] == {
        "task_id": service.asked[0], "kernel_code": "2.0\n", "workflow": "task:hill"}


def test_mistakes():
    client = RewardClient("http://127.0.0.1:1")
    with pytest.raises(ValueError, match="kernel-smith, dr-kernel, speedup"):
        Judge(client, score="fast")
    with pytest.raises(ValueError, match='"reference" or "task"'):
        Judge(client, by="name")


def test_feedback():
    def shown(**reward):
        text = learning.feedback(Judged(0.0, Reward("a", 0.0, **reward), ""))
        return json.loads(text[text.index("{"):text.rindex("}") + 1])

    right = {"status": "completed", "compiled": True, "correctness": True, "decoy_kernel": False}
    assert shown(correct=True, decoy=False, speedup=1.25, own_share=0.5) == {
        **right, "speedup": 1.25, "custom_kernel_cuda_time_coverage": 0.5}
    assert shown(correct=True, decoy=True, speedup=9.0) == {**right, "decoy_kernel": True}, "no figure that misleads"
    assert shown(correct=True, decoy=False, speedup=-2.5, over_baseline=False) == {**right, "score": -2.5}
    long = shown(correct=False, decoy=False, rejection="compile_failed", message="x\n" * 10_000, advice="a")
    assert (long["compiled"], long["error_code"], long["advice"]) == (False, "compile_failed", "a")
    assert len(long["error_message"]) < 2200 and long["error_message"].endswith("x\nx\n")


def test_feedback_asks_for_the_form_of_the_prompt_or_for_what_the_caller_says():
    edits = [{"role": "user", "content": "Reply:\n```\n<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n```"}]
    whole = [{"role": "user", "content": "Give the program in one fenced code block."}]
    for prompt, form, end in ((edits, "edits", ">>>>>>> REPLACE"), (whole, "program", "code block."), (None, None, "block.")):
        judged = judge_all([fenced("3.0")], {**PARENT, "prompt": prompt})[0][0]
        assert judged.asked == form and learning.feedback(judged).endswith(end)
        assert ("SEARCH/REPLACE" in learning.feedback(judged)) == (form == "edits")
    assert learning.feedback(judged, "Write CUDA.").endswith("\n\nWrite CUDA.")


def test_a_fitness_is_told_from_a_speedup():
    def verdict_of(own):
        done = {"status": "completed", "correctness": True, "decoy_kernel": False, "speedup": 2.0,
                "metadata": {"kernelsmith": own}}
        return judge_all([fenced("2.0")], PARENT, {"faults": [done]})[0][0].reward.over_baseline

    assert [verdict_of({"fitness": {}}), verdict_of({"fitness": {}, "speedup": {}}), verdict_of({})] == [False, True, None]


def test_rows_of_verl():
    info = {"entry_point": "Model", "parent_code": "a", "parent_speedup": 2.0}
    expected = {**info, "reference_code": "class Model: pass"}
    assert row_of(json.dumps({"reference_code": "class Model: pass"}), info) == expected
    assert row_of("class Model: pass", info) == expected, "as hkust-nlp/drkernel-rl-data has it"
    assert row_of("", None) == {} and row_of("7", None) == {"reference_code": "7"}


@pytest.mark.parametrize("module, trainer", [
    ("trl", "trl"), ("verl.estimator", "verl.trainer.ppo.core_algos"),
    ("verl.agent_loop", "verl.experimental.agent_loop.agent_loop")])
def test_a_missing_trainer_is_named(module, trainer, monkeypatch):
    monkeypatch.setitem(sys.modules, trainer, None)
    for name in [name for name in sys.modules if name.startswith(f"kernelsmith.learning.{module}")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(ImportError, match=r"needs (TRL 1\.16|verl 0\.9\.1) .*pip install"):
        importlib.import_module(f"kernelsmith.learning.{module}")
