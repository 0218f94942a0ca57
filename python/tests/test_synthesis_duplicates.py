"""Duplicates: renamed, reordered and changed in constants is the same; another computation is not."""

import pytest
from kernelsmith.synthesis.box.graph import graph
from kernelsmith.synthesis.computation import graph_hash, kinds_hash
from kernelsmith.synthesis.duplicates import Seen
from kernelsmith.synthesis.normal_form import fingerprint

GATE = '''
import torch
import torch.nn as nn

def halved(x):
    return x / 2

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.one = nn.Linear(dim, dim)
        self.two = nn.Linear(dim, dim)

    def mixed(self, x):
        return halved(self.one(x))

    def forward(self, x):
        return self.mixed(x) * torch.sigmoid(self.two(x))
'''
RENAMED = GATE.replace("halved", "scaled").replace("self.one", "self.first").replace("dim", "width").replace("/ 2", "/ 7")
REORDERED = GATE.replace('''    def mixed(self, x):
        return halved(self.one(x))

''', "") + '''
    def mixed(self, x):
        return halved(self.one(x))
'''
OTHER = '''
import torch
import torch.nn as nn

class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.gates = nn.ModuleList([nn.Linear(dim, dim) for _ in range(3)])

    def forward(self, x):
        for gate in self.gates:
            x = torch.relu(gate(self.norm(x))) + x
        return x.mean(1)
'''


@pytest.mark.parametrize("code", [RENAMED, REORDERED, GATE.replace("import torch.nn as nn", "from torch import nn")])
def test_the_same_code_in_other_clothes(code):
    assert fingerprint(code) == fingerprint(GATE)
    seen = Seen(0.8)
    seen.add("gate", GATE, [])
    assert seen.match(code, []).by == "syntax tree"


def test_a_line_more_is_near_and_another_module_is_not():
    seen = Seen(0.8)
    seen.add("gate", GATE, [])
    more = GATE.replace("        super().__init__()\n", "        super().__init__()\n        self.dim = dim\n")
    match = seen.match(more, [])
    assert match.by == "shingles" and 0.8 <= match.similarity < 1
    assert seen.match(OTHER, []) is None


def chain(*names):
    return [[name, [at - 1] if at else []] for at, name in enumerate(names)]


def test_graphs_are_equal_apart_from_shapes_and_the_order_of_branches():
    one = [["mm", []], ["relu", [0]], ["mm", []], ["tanh", [2]], ["add", [1, 3]]]
    other = [["mm", []], ["tanh", [0]], ["mm", []], ["relu", [2]], ["add", [1, 3]]]
    assert graph_hash(one) == graph_hash([["mm", []], ["mm", []], ["relu", [0]], ["tanh", [1]], ["add", [2, 3]]])
    assert graph_hash(one) != graph_hash(other) or one == other  # which branch comes first is part of add
    assert graph_hash(chain("mm", "relu", "sum")) != graph_hash(chain("relu", "mm", "sum"))


def test_layout_biases_and_operators_in_place_do_not_count_and_transpositions_do():
    plain = [["view", []], ["mm", [0]], ["relu", [1]], ["mul", [2]]]
    assert graph_hash(plain) == graph_hash([["t", []], ["addmm", [0]], ["view", [1]], ["relu_", [2]], ["mul", [3]]])
    assert graph_hash(plain) != graph_hash([["permute", []], ["mm", [0]], ["relu", [1]], ["mul", [2]]])
    assert graph_hash(plain) != graph_hash([["mm", []], ["relu", []], ["mul", [0, 1]]])


def test_equal_graphs_are_duplicates_whatever_their_texts():
    seen = Seen(0.8)
    seen.add("gate", GATE, chain("addmm", "relu"))
    match = seen.match(OTHER, chain("view", "mm", "relu_"))
    assert match.id == "gate" and match.by == "graph of the plan" and match.similarity < 0.5


def test_plans_that_differ_are_distinct_however_near_the_texts():
    seen = Seen(0.8)
    seen.add("gate", GATE, chain("mm", "relu"))
    assert seen.match(GATE.replace("sigmoid", "tanh"), chain("mm", "tanh")) is None
    assert seen.match(RENAMED, chain("mm", "permute", "relu")) is None
    assert seen.match(RENAMED, []).by == "syntax tree"  # no plan: the text is all there is


def test_a_network_of_another_depth_is_the_same_if_its_text_is():
    shallow, deep = chain(*["mm", "relu"] * 2, "mm"), chain(*["mm", "relu"] * 5, "mm")
    assert kinds_hash(shallow) == kinds_hash(deep) and graph_hash(shallow) != graph_hash(deep)
    seen = Seen(0.8)
    seen.add("gate", GATE, shallow)
    assert seen.match(RENAMED, deep).id == "gate"
    assert seen.match(OTHER, deep) is None


@pytest.mark.parametrize("other", [
    "F.interpolate(x, scale_factor=2, mode='nearest')", "F.interpolate(x, scale_factor=2, mode='bicubic')"])
def test_options_and_patterns_belong_to_the_text(other):
    def module(line):
        return f"class Model(nn.Module):\n    def forward(self, x):\n        return {line}\n"

    assert fingerprint(module("F.interpolate(x, scale_factor=3, mode='bilinear')")) != fingerprint(module(other))
    assert fingerprint(module("torch.einsum('bij,bjk->bik', x, x)")) == fingerprint(module("torch.einsum('nab,nbc->nac', x, x)"))
    assert fingerprint(module("torch.einsum('bij,bjk->bik', x, x)")) != fingerprint(module("torch.einsum('bij,bkj->bik', x, x)"))
    assert fingerprint(module("nn.functional.gelu(x)")) == fingerprint("from torch.nn.functional import gelu\n" + module("gelu(x)"))


def entry(name, *given, out=9, **named):
    return {"aten": f"aten::{name}", "args": list(given), "kwargs": named, "out": {"t": out}}


@pytest.mark.parametrize(("op", "name"), [
    (entry("convolution", {"t": 0}, {"t": 1}, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), "conv2d"),
    (entry("convolution", {"t": 0}, {"t": 1}, None, [1], [0], [1], True, [0], 4), "conv_transpose1d_grouped"),
    (entry("mul", {"t": 0}, 2), "mul_scalar"), (entry("mul_", {"t": 0}, {"t": 1}), "mul_"),
    (entry("mean", {"t": 0}, [2, 3]), "mean"), (entry("mean", {"t": 0}, [-1], True), "mean"),
    (entry("mean", {"t": 0}, [1], True), "mean_outer"), (entry("_softmax", {"t": 0}, 1, False), "_softmax_outer"),
    (entry("mean", {"t": 5}, [1]), "mean")])
def test_what_makes_an_operator_another_one_is_in_its_name(op, name):
    plan = {"inputs": [{"id": 0, "dtype": "float32", "shape": [2, 8, 4, 4]}], "outputs": [],
            "alternatives": [{"ops": [op], "outputs": []}]}
    assert graph(plan)["operators"] == [[name, []]]


def test_ranks_are_followed_through_views_and_reductions():
    ops = [entry("view", {"t": 0}, [2, 8, 16], out=1), entry("sum", {"t": 1}, [2], out=2), entry("amax", {"t": 2}, [1], out=3)]
    plan = {"inputs": [{"id": 0, "dtype": "float32", "shape": [2, 8, 4, 4]}], "outputs": [],
            "alternatives": [{"ops": ops, "outputs": []}]}
    assert [name for name, _ in graph(plan)["operators"]] == ["view", "sum", "amax"]


@pytest.mark.parametrize("code", ["", "def f(:", "x" * 10_000, "class Model:\n  x = " + "(" * 3000])
def test_text_that_is_no_code_is_compared_all_the_same(code):
    seen = Seen(0.8)
    seen.add("one", code, [])
    assert seen.match(code, []).id == "one"
