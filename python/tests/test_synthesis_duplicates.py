"""Duplicates: renamed, reordered and changed in constants is the same; another computation is not."""

import pytest
from kernelsmith.synthesis.duplicates import Seen, fingerprint, graph_hash

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


def test_equal_graphs_of_many_operators_are_duplicates_whatever_their_text():
    operators = chain(*["addmm", "relu"] * 5)
    seen = Seen(0.8)
    seen.add("gate", GATE, operators)
    assert seen.match(OTHER, operators).by == "graph of the plan"
    small = Seen(0.8)
    small.add("gate", GATE, chain("addmm", "relu"))
    assert small.match(OTHER, chain("addmm", "relu")) is None


def test_a_benchmark_counts_by_any_graph():
    benchmark = Seen(0.8, any_graph=True)
    benchmark.add("level1/1.py", GATE, chain("addmm", "relu"))
    assert benchmark.match(OTHER, chain("addmm", "relu")).id == "level1/1.py"


@pytest.mark.parametrize("code", ["", "def f(:", "x" * 10_000, "class Model:\n  x = " + "(" * 3000])
def test_text_that_is_no_code_is_compared_all_the_same(code):
    seen = Seen(0.8)
    seen.add("one", code, [])
    assert seen.match(code, []).id == "one"
