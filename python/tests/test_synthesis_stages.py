"""Stages: filters of what the sandbox said, families, and a pipeline that is killed and goes on to the same bytes."""

import contextlib
import json
import os
import pathlib
import re
import signal
import types

import kernelsmith as ks
import pytest
from kernelsmith.synthesis import Settings, centers, families, filters, gpu, pipeline, synthesize
from kernelsmith.synthesis.box import graph, layout, repairs, specs
from kernelsmith.synthesis.model_inputs import Asker, parsed
from kernelsmith.synthesis.sandbox import Sandbox, Sandboxes
from synthesis_repositories import TWELVE, written

RECORD = {"id": "0123456789abcdef", "repository": "r", "path": "m.py", "name": "M", "licence": "MIT", "commit": "",
          "sources": ["r/m.py"], "code": "class Model: pass", "annotations": {}, "calls": []}
GOOD = {"reference": "class Model: pass", "operators": [["addmm", []], ["relu", [0]]], "outputs": [["float32", [16, 8]]],
        "arguments": ["8"], "inputs": ["torch.rand(16, 8)"], "origin": "guess", "roofline_us": 60.0, "flops": 1, "bytes": 2,
        "state_bytes": 3, "depends": [True], "same": [False], "launches": 0}


@pytest.mark.parametrize("accepted", [True, False])
def test_an_answer_that_is_lost_moves_no_other(tmp_path, monkeypatch, accepted):
    """By its number; the box loses the second one in its first evaluation, and what it prints besides is no answer."""
    asked = []

    def evaluate(folder, files):
        answers = [(f"{at:04}", json.dumps({"of": json.loads(line)["code"]})) for at, line in enumerate(files["seed.jsonl"].splitlines())]
        asked.append(len(answers))
        kept = [one for one in answers if len(asked) > 1 or one[0] != "0001"]
        printed = "\n".join(["a module's words", *(" ".join(one) for one in kept)])
        artifacts = [{"name": name, "text": text} for name, text in kept] if accepted or len(asked) > 2 else []
        return types.SimpleNamespace(accepted=bool(artifacts), code="crashed", diagnostics="",
                                     report={"artifacts": [*artifacts, {"name": "python.out", "text": printed}]})

    monkeypatch.setattr("kernelsmith.synthesis.sandbox.evaluate", evaluate)
    answers = Sandbox(tmp_path, "").answers([{"code": code} for code in "abc"])
    assert [answer.get("of") for answer in answers] == ["a", "b" if accepted else None, "c"] and len(asked) == 2
    assert accepted or answers[1]["refused"] == "breaks_sandbox"


def test_what_is_sound_goes_on():
    assert "refused" not in filters.judged(RECORD, GOOD)


@pytest.mark.parametrize(("change", "code"), [
    ({"depends": [False]}, "constant_output"), ({"same": [True]}, "returns_input"), ({"operators": [["view", []]]},
        "no_work"),
    ({"outputs": [["float32", [0, 8]]]}, "output_size"), ({"outputs": [["float32", [1 << 40]]]}, "output_size"),
        ({"launches": 2}, "own_kernels"),
    ({"reference": "x" * 200_000}, "too_large"), ({"outputs": []}, "breaks_sandbox"), ({"operators": [["relu", [5]]]},
        "breaks_sandbox"),
    ({"operators": "relu"}, "breaks_sandbox"), ({"flops": "many"}, "breaks_sandbox"), ({"refused": "timed_out"},
        "timed_out"),
    ({"refused": {"a": 1}}, "breaks_sandbox"), ({"refused": "Any words\n"}, "breaks_sandbox")])
def test_what_the_sandbox_says_is_not_believed(change, code):
    judged = filters.judged(RECORD, {**GOOD, **change})
    assert judged["refused"] == code and "code" not in judged


def test_families_and_difficulty():
    def of(*names):
        return families.family([[name, []] for name in names])

    assert len(families.FAMILIES) == 20
    assert of("addmm", "bmm", "_softmax", "bmm") == "attention" and of("convolution", "relu") == "convolution"
    assert of("convolution", "mean", "sigmoid", "mul") == "channel attention" and of("relu", "add") == "element by element"
    assert of("lstm") == "recurrence" and of("addmm", "gelu") == "perceptron" and of("t", "view") == "element by element"
    assert families.difficulty([["relu", []], ["view", []]]) == 1
    assert families.difficulty([["addmm", []]] * 8) == 3 and families.difficulty([["addmm", []], ["addmm", []]]) == 2


def test_families_by_the_way_the_operators_are_linked():
    def of(*operators):
        return families.family([[name, list(read)] for name, *read in operators])

    swish = [("addmm",), ("sigmoid", 0), ("mul", 0, 1), ("addmm", 2)]
    assert of(*swish) == "perceptron"  # x * sigmoid(x) is an activation
    assert of(("addmm",), ("silu", 0), ("addmm",), ("mul", 1, 2), ("addmm", 3)) == "gated product"
    assert of(("addmm",), ("split", 0), ("gelu", 1), ("mul", 1, 2)) == "gated product"
    assert of(("linalg_vector_norm",), ("div", 0), ("mul", 1), ("addmm", 2), ("gelu", 3)) == "perceptron"  # a gain is no gate
    assert of(("sub",), ("pow", 0), ("mean", 1), ("mul_scalar", 2)) == "loss"
    assert of(("mean_outer",), ("sub", 0), ("pow", 1), ("mean_outer", 2), ("add_scalar", 3), ("sqrt", 4), ("div", 1, 5),
              ("mul", 6), ("add", 7)) == "normalisation"
    assert of(("conv2d",), ("batch_norm", 0), ("avg_pool2d", 1), ("conv2d", 2), ("sigmoid", 3), ("mul", 1, 4)) == \
        "channel attention"


def test_the_docs_have_the_table_of_families():
    text = (pathlib.Path(os.environ["KERNELSMITH_SOURCE"]) / "docs" / "synthesis.md").read_text()
    named = re.findall(r"^\| (\d+) \| ([a-z ]+) \|", text, re.MULTILINE)
    assert [name for _, name in named] == list(families.FAMILIES)


def test_a_plan_says_whether_outputs_depend_on_inputs():
    plan = {"inputs": [{"id": 1, "shape": [2]}], "outputs": [{"id": 3, "dtype": "float32", "shape": [2]}, {"id": 4, "dtype": "float32",
        "shape": [2]}],
            "alternatives": [{"ops": [{"aten": "aten::relu", "args": [{"t": 1}], "kwargs": {}, "out": {"t": 3}},
                                      {"aten": "aten::ones", "args": [[2]], "kwargs": {}, "out": {"t": 4}}]}]}
    found = graph.graph(plan)
    assert found["depends"] == [True, False] and found["operators"] == [["relu", []], ["ones", []]]


def test_errors_say_what_to_try():
    given = (specs.standard(4, 64),)
    message = ("Given groups=1, weight of size [32, 48, 3, 3], expected input[16, 64, 32, 32] to have 48 channels, "
               "but got 64 channels instead")
    assert (specs.Spec("rand", (16, 48, 32, 32)),) in list(repairs.repairs(given, message))
    message = "ValueError: not enough values to unpack (expected 4, got 3)"
    assert (specs.standard(4, 512),) in list(repairs.repairs((specs.standard(3, 512),), message))
    pair = (specs.standard(3, 512), specs.standard(3, 512))
    message = "RuntimeError: mat1 and mat2 shapes cannot be multiplied (4096x512 and 64x2048)"
    assert next(iter(repairs.repairs(pair[:1], message)))[0].sizes[-1] == 64
    message = ("Attempting to broadcast a dimension of length 512 at -1! Mismatching argument at index 1 had "
               "torch.Size([16, 256, 512]); but expected shape should be broadcastable to [16, 256, 1024]")
    assert next(iter(repairs.repairs(pair, message)))[0].sizes[-1] == 1024
    assert list(repairs.repairs(given, "9" * 5000 + " [" * 3000)) is not None  # words of somebody else


def test_a_reference_has_the_layout():
    text = layout.reference("class Model:\n    pass\n", ["nn.GELU()", "_Config(dim=8)"], ["torch.rand(2)"])
    names = {}
    exec(text.replace("import torch.nn as nn", "").replace("import torch", ""), names)
    assert {"Model", "get_inputs", "get_init_inputs", "_Config"} <= set(names) and names["_Config"](dim=8).dim == 8


class FakeBox:
    """Answers by the text alone; what reads values or imports nothing is refused."""

    def answers(self, tasks):
        return [self.answer(task["code"]) for task in tasks]

    def answer(self, code):
        if "missing" in code:
            return {"refused": "no_inputs", "message": "AttributeError: missing"}
        operators = [["addmm", []], *[["relu", [0]]] * (len(code) % 7)]
        return {**GOOD, "reference": "import torch\n" + code, "operators": operators}


@pytest.fixture
def fake_box(monkeypatch):
    monkeypatch.setattr(pipeline, "sandboxes",
                        lambda python, count: contextlib.nullcontext(Sandboxes([FakeBox() for _ in range(count)])))


@pytest.fixture
def twelve(tmp_path):
    return written(tmp_path / "twelve", TWELVE)


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*"))
            if path.is_file() and path.name != "seconds.json" and path.suffix != ".parquet"}


def test_twelve_modules_become_tasks(fake_box, twelve, tmp_path):
    made = synthesize([twelve], tmp_path / "out")
    assert made.refused["repeated"] == 1 and made.refused["import_refused"] == 1
    tasks = list((tmp_path / "out" / "tasks").rglob("level*/*.py"))
    assert len(tasks) == made.tasks and all(path.read_text().startswith("# SPDX-License-Identifier: MIT") for path in tasks)
    rows = [json.loads(line) for split in ("train", "test")
                       for line in (tmp_path / "out" / f"{split}.jsonl").read_text().splitlines()]
    assert len(rows) == made.tasks and {row["repo_name"] for row in rows} == {"twelve"}
    card = (tmp_path / "out" / "README.md").read_text()
    assert "| 3-repeats, repeated | 1 |" in card and "| 4-sandbox, no_inputs | 1 |" in card


def check(name, status="ok", detail=""):
    return {"name": name, "status": status, "detail": detail, "remedy": ""}


def test_the_judge_prepares_tasks_on_a_gpu_at_last(fake_box, twelve, tmp_path, monkeypatch):
    def answer(*words):
        if words == ("doctor", "--json"):
            return {"checks": []}
        text = pathlib.Path(words[1], "reference.py").read_text()
        if text == first:
            return {"checks": [check("task"), check("outputs", "limited", "degenerate: 'y' is the same")]}
        return {"checks": [check("task", "failed", "not_finite")] if text == second else [check("task")]}

    before = synthesize([twelve], tmp_path / "out")
    tasks = sorted((tmp_path / "out" / "tasks").rglob("*.py"))
    first, second = (path.read_text() for path in tasks[:2])
    monkeypatch.setattr(gpu, "answer_of", lambda *words: {"checks": [check("torch gpu", "limited")]})
    with pytest.raises(ks.Error, match="no GPU"):
        synthesize([twelve], tmp_path / "out", Settings(gpu=True))
    monkeypatch.setattr(gpu, "answer_of", answer)
    made = synthesize([twelve], tmp_path / "out", Settings(gpu=True))
    assert made.refused["gpu_degenerate"] == made.refused["gpu_refuses"] == 1 and made.tasks == before.tasks - 2
    assert "9-gpu, gpu_refuses | 1" in (tmp_path / "out" / "README.md").read_text()
    assert sorted((tmp_path / "out" / "tasks").rglob("*.py")) == tasks[2:]
    assert synthesize([twelve], tmp_path / "out").tasks == made.tasks, "without --gpu its verdicts stay"


def killed(twelve, out, moment):
    """Runs in a child that is killed before its write of this number."""
    child = os.fork()
    if child == 0:
        left = [moment]
        flush = pipeline.Stage.run.__globals__["_line"]

        def counted(record):
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return flush(record)

        try:
            pipeline.Stage.run.__globals__["_line"] = counted
            synthesize([twelve], out)
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def test_killed_at_30_moments_it_goes_on_to_the_same_bytes(fake_box, twelve, tmp_path):
    synthesize([twelve], tmp_path / "whole")
    whole, kills = files(tmp_path / "whole"), 0
    for moment in range(30):
        out = tmp_path / f"killed {moment}"
        kills += killed(twelve, out, moment)
        lines = sorted(out.glob("*.jsonl"))
        if lines and moment % 3 == 0:  # as if the machine had lost the end of a line
            lines[-1].write_bytes(lines[-1].read_bytes()[:-5])
        synthesize([twelve], out)
        assert files(out) == whole
    assert kills == 30


def test_a_folder_of_other_options_is_refused(fake_box, twelve, tmp_path):
    synthesize([twelve], tmp_path / "out")
    with pytest.raises(ks.Error, match="other options") as error:
        synthesize([twelve], tmp_path / "out", Settings(per_repository=1))
    assert error.value.code == "invalid_argument"


def test_a_repository_that_changes_on_the_way_is_noticed(fake_box, twelve, tmp_path):
    synthesize([twelve], tmp_path / "out")
    (tmp_path / "out" / "2-extraction.jsonl").unlink()
    (twelve / "net" / "layers.py").write_text("import torch\n")
    with pytest.raises(ks.Error, match="changed since"):
        synthesize([twelve], tmp_path / "out")


def test_other_licences_are_left_out_and_counted(fake_box, tmp_path):
    folder = written(tmp_path / "gpl", TWELVE, "GNU GENERAL PUBLIC LICENSE")
    made = synthesize([folder], tmp_path / "out")
    assert made.tasks == 0 and made.refused == {"licence": 2}
    assert "| GPL-3.0 | 2 |" in (tmp_path / "out" / "README.md").read_text()


def test_a_share_of_a_repository_at_most(fake_box, twelve, tmp_path):
    made = synthesize([twelve], tmp_path / "out", Settings(per_repository=3))
    assert made.tasks <= 3 and made.refused["over_share"] > 3


def test_a_model_writes_inputs_and_its_replies_are_bought_once(tmp_path, monkeypatch):
    reply = ("Here:\n```python\ndef get_inputs():\n    return [torch.rand(64, 512)]\n\n"
             "def get_init_inputs():\n    return [512]\n```")
    asked = []
    monkeypatch.setattr(Asker, "_ask", lambda self, prompt: asked.append(prompt) or reply)
    record = {"code": "import torch\nclass Model(torch.nn.Module):\n    pass\n", "message": "TypeError: words"}
    for _ in range(2):
        made = Asker("model", tmp_path / "replies.jsonl").proposal(record)
        assert made["reference"].endswith("return [512]\n") and "torch.rand(64, 512)" in made["reference"]
    assert len(asked) == 1 and "class Model" in asked[0] and "TypeError: words" in asked[0]
    assert Asker("", tmp_path / "none.jsonl").proposal(record) is None


@pytest.mark.parametrize("reply",
    ["",
    "no code",
    "```python\nimport os\n```",
    "```python\ndef get_inputs():\n    return [open('a')]\n"
    "def get_init_inputs():\n    return []\n```",
     "```python\ndef get_inputs(:\n```"])
def test_replies_that_may_not_be_used(reply):
    assert parsed(reply, "import torch\nclass Model: pass\n") is None


def test_centres_go_to_experts_and_come_back(fake_box, twelve, tmp_path):
    pytest.importorskip("sklearn")
    synthesize([twelve], tmp_path / "out")
    made = centers.write(tmp_path / "out", tmp_path / "centres", 2)
    assert made.modules > 4 and made.centres == len(list((tmp_path / "centres").iterdir()))


def test_centres_are_taken_with_who_and_when(fake_box, twelve, tmp_path):
    synthesize([twelve], tmp_path / "out")
    record = centers.records_of(tmp_path / "out")[0]
    place = tmp_path / "centres" / "one"
    place.mkdir(parents=True)
    (place / "about.json").write_text(json.dumps({"id": record["id"]}))
    harness = "def get_inputs():\n    return []\n\ndef get_init_inputs():\n    return []\n"
    (place / "reference.py").write_text("class Model:\n    pass\n" + harness)
    assert centers.take(tmp_path / "out", tmp_path / "centres", "Ada", "2026-11-27") == 1
    (line,) = map(json.loads, (tmp_path / "out" / "centers.jsonl").read_text().splitlines())
    assert (line["by"], line["when"], line["changed"]) == ("Ada", "2026-11-27", True)
    for by, when in (("", "2026-11-27"), ("Ada", "yesterday"), ("Ada", "2026-13-45")):
        with pytest.raises(ks.Error, match="who cleaned"):
            centers.take(tmp_path / "out", tmp_path / "centres", by, when)
    (place / "reference.py").write_text(harness)
    with pytest.raises(ks.Error, match="the reference has no Model"):
        centers.take(tmp_path / "out", tmp_path / "centres", "Ada", "2026-11-27")
    (place / "reference.py").write_text("import os\n")
    with pytest.raises(ks.Error, match="import_refused"):
        centers.take(tmp_path / "out", tmp_path / "centres", "Ada", "2026-11-27")


@pytest.mark.parametrize("change", [{"similar": 0.0}, {"test_share": 1.0},
                         {"per_repository": -1}, {"licences": ()}, {"batch": 0}])
def test_options_that_make_no_sense(change):
    with pytest.raises(ks.Error) as error:
        Settings(**change)
    assert error.value.code == "invalid_argument" and error.value.where.startswith("--")
