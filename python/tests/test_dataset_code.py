"""What data sets know of references: shapes of code, similarity, families, licences."""

import random
import textwrap

import kernelsmith as ks
import pytest
from dataset_runs import RELU
from kernelsmith.learning.dataset.code_shape import fingerprint, normalised, shingles
from kernelsmith.learning.dataset.difficulty import difficulty
from kernelsmith.learning.dataset.similar import Benchmark, jaccard, signature
from kernelsmith.learning.dataset.tasks import read_task

RENAMED = '''
import torch as t
from torch import nn


class Rectifier(nn.Module):
    """A rectifier."""

    def forward(self, value: "Tensor") -> "Tensor":
        # the same
        return t.relu(value)


def get_inputs():
    return [t.randn(4096)]


def get_init_inputs():
    """Nothing."""
    return []
'''


def module(body, init="pass"):
    return textwrap.dedent(f"""
        import torch, torch.nn as nn, torch.nn.functional as F
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                {init}
            def forward(self, x, y):
                return {body}
        def get_inputs():
            return [torch.rand(3).sum()]
        """)


def test_names_numbers_comments_and_docstrings_are_no_part_of_a_shape():
    assert fingerprint(RENAMED) == fingerprint(RELU)
    assert fingerprint(RELU.replace("relu", "gelu")) != fingerprint(RELU)


def test_other_languages_are_compared_by_tokens():
    one = "void f(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2.5f; }  // twice"
    other = "void scale(float* data, int count)\n{ for (int k = 0; k < count; ++k) data[k] *= 7; } /* any */"
    assert fingerprint(one) == fingerprint(other) != fingerprint(one.replace("*=", "+="))
    assert "twice" not in normalised(one)


@pytest.mark.parametrize("code", [
    "void f(const float* x, float* y, int n) {{ for (int i = 0; i < n; ++i) y[i] = {}(x[i]); }}",
    "from torch import *\ndef f(x):\n    return {}(x)\n",
    "Compute the {} of each number.",
    "Вычислить {}.",
    "{}",
    "Task: {}",
])
def test_what_computes_something_else_is_another_task(code):
    one, other = code.format("expf"), code.format("tanhf")
    assert fingerprint(one) != fingerprint(other) and jaccard(shingles(one), shingles(other)) < 1


def test_prose_is_compared_by_its_words():
    assert fingerprint("Sort the list quickly.") != fingerprint("Multiply two matrices well.")
    assert fingerprint("Sort 5 numbers; fast.") != fingerprint("Sort 7 numbers; fast.")
    assert fingerprint("Sort\nthe  List.") == fingerprint("sort the list.")


def test_an_imported_name_is_known_by_what_it_was_called_there():
    code = "from torch import relu\ndef f(x):\n    return relu(g(x))\ndef g(y):\n    return y\n"
    assert fingerprint(code) == fingerprint(code.replace("relu(", "r(").replace("relu\n", "relu as r\n").replace("g(", "h("))


# Python 3.10 parses the second, and cannot write it.
@pytest.mark.parametrize("deep", ["x = " + "-" * 20000 + "1", "def f():\n    x = " + "not " * 5000 + "1"])
def test_a_reference_that_nests_too_deeply_is_compared_by_its_tokens(deep):
    assert fingerprint(deep) == fingerprint(deep.replace("x", "y").replace("1", "2")) != fingerprint(deep.replace("=", "+="))
    assert difficulty(deep, "softmax").family == "softmax"


def test_minhash_estimates_the_jaccard_index():
    draw = random.Random(1)
    for share in (0.2, 0.5, 0.8, 1.0):
        common = {str(draw.random()) for _ in range(400)}
        own = [{str(draw.random()) for _ in range(round(200 * (1 - share) / share))} for _ in range(2)]
        one, other = (frozenset(common | more) for more in own)
        estimate = (signature(one) == signature(other)).mean()
        assert abs(estimate - jaccard(one, other)) < 0.15  # what the filter in front of the exact figure relies on
    assert jaccard(frozenset("ab"), frozenset("bc")) == 1 / 3


def test_a_benchmark_finds_its_references_however_they_are_written(tmp_path):
    (tmp_path / "level1").mkdir()
    (tmp_path / "level1" / "19_ReLU.py").write_text(RENAMED)
    long = "; ".join(f"x = x.sum({at}) + torch.sin(y) * F.silu(x)" for at in range(8))
    model = module("x").replace("return x\n", f"{long}; return x\n")
    (tmp_path / "fused.py").write_text(model)
    benchmark = Benchmark(tmp_path, 0.8)
    found = benchmark.match(RELU)
    assert (found.file, found.by, found.similarity) == ("level1/19_ReLU.py", "syntax tree", 1.0)
    near = benchmark.match(model.replace("return x\n", "return torch.cos(x)\n"))
    assert (near.file, near.by) == ("fused.py", "shingles") and 0.8 <= near.similarity < 1
    assert near.similarity == jaccard(shingles(model), shingles(model.replace("return x\n", "return torch.cos(x)\n")))
    assert benchmark.match(module("torch.cumsum(x, 0)")) is None


def test_a_benchmark_needs_references(tmp_path):
    with pytest.raises(ks.Error, match="holds no references"):
        Benchmark(tmp_path, 0.8)
    with pytest.raises(ks.Error, match="no such folder"):
        Benchmark(tmp_path / "none", 0.8)


@pytest.mark.parametrize(("reference", "family", "level"), [
    (module("torch.relu(x)"), "activation", 1),
    (module("x @ y"), "matrix product", 2),
    (module("F.gelu(torch.sigmoid(x)) + x.sum(1)"), "reduction", 2),
    (module("F.relu(self.c(x)).mean()", "self.c = nn.Conv2d(3, 4, 5)"), "convolution", 3),
    (module("x + y"), "other", 1),
    (module("self.sum(x)"), "other", 1),
])
def test_families_and_levels_are_of_the_operators_that_the_reference_calls(reference, family, level):
    found = difficulty(reference, "task")
    assert (found.family, found.level) == (family, level)


def test_other_languages_have_the_family_of_their_name():
    loops = "void f() { for (;;) for (;;) for (;;) {} }"
    assert (difficulty(loops, "softmax_cpu").family, difficulty(loops, "softmax_cpu").level) == ("softmax", 2)
    assert (difficulty("", "matmul_cpu").family, difficulty("", "matmul_cpu").level) == (None, None)


def write_task(run, reference):
    (run / "task").mkdir()
    (run / "task" / "reference.py").write_text(reference)
    (run / "task" / "task.yaml").write_text("version: 1\nname: relu\nbackend: torch\nfiles: {reference: reference.py}\n")
    return run


def test_a_licence_is_what_the_reference_says(tmp_path):
    task = read_task(write_task(tmp_path, RELU), "")
    assert (task.name, task.licence, task.entry_point, task.reference) == ("relu", "MIT", "Model", RELU)
    assert task.key == fingerprint(RENAMED)


def test_a_reference_may_name_no_licence(tmp_path):
    assert read_task(write_task(tmp_path, RENAMED), "").licence == ""


def command_task(run, seed, score="echo 1", name="hill"):
    folder = run / "task"
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(f"version: 1\nname: {name}\nbackend: command\n"
                                      "files: {seed: seed.txt, also: score.sh}\ncommand: [sh, score.sh, '{candidate}']\n")
    (folder / "seed.txt").write_text(seed)
    (folder / "score.sh").write_text(score)
    return read_task(run, seed).key


def test_a_task_that_is_gone_is_an_error(tmp_path):
    (tmp_path / "run.yaml").write_text("# How the task is searched.\nversion: 1\n")
    with pytest.raises(ks.Error, match="copy of its task is gone"):
        read_task(tmp_path, "seed")
    (tmp_path / "run.yaml").write_text("# Begun by a program; its options stand there.\n\n")
    assert read_task(tmp_path, "seed").name == "python"


def test_a_task_without_a_reference_is_the_same_with_another_seed(tmp_path):
    key = command_task(tmp_path / "a", "1")
    assert command_task(tmp_path / "b", "2") == key
    assert command_task(tmp_path / "c", "1", score="echo 2") != key != command_task(tmp_path / "d", "1", name="hills")


def test_a_run_of_a_program_is_known_by_its_seed(tmp_path):
    one, other = read_task(tmp_path, "a = 1"), read_task(tmp_path, "a = b + 1")
    assert one.reference == "" and one.key != other.key
