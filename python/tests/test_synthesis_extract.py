"""Extraction: one file that imports nothing of its source, and what is refused before anything is executed."""

import ast

import pytest
from synthesis_repositories import extracted, written

HEAD = "import torch\nimport torch.nn as nn\n"
BODY = """
class {name}(nn.Module):
    def __init__(self, dim):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""


def module(name="M", init="self.l = nn.Linear(dim, dim)", forward="return self.l(x)"):
    return BODY.format(name=name, init=init, forward=forward)


def only(folder, files, path="m.py", name="M"):
    return extracted(written(folder, files), path)[name]


def code_of(record):
    assert "refused" not in record, record
    tree = ast.parse(record["code"])
    assert any(isinstance(node, ast.ClassDef) and node.name == "Model" for node in tree.body)
    return record["code"]


def test_what_is_needed_of_other_files_is_inlined(tmp_path):
    code = code_of(only(tmp_path, {
        "pkg/__init__.py": "", "pkg/ops.py": HEAD + "SCALE = 3\ndef scaled(x):\n    return x * SCALE\ndef unused(x):\n    "
            "return x\n",
        "pkg/m.py": HEAD + "from .ops import scaled as s\n" + module(forward="return s(self.l(x))")}, "pkg/m.py"))
    assert "def scaled" in code and "SCALE = 3" in code and "unused" not in code
    assert "scaled(self.l(x))" in code and "from .ops" not in code


def test_a_module_of_the_repository_is_resolved_by_its_attributes(tmp_path):
    code = code_of(only(tmp_path,
    { "pkg/__init__.py": "",
    "pkg/sub/__init__.py": "from .deep import *\n",
    "pkg/sub/deep.py": "def twice(x):\n    return x * 2\n",
    "pkg/m.py": HEAD + "from pkg import sub as tools\n" + module(forward="return tools.twice(self.l(x))")},
     "pkg/m.py"))
    assert "return twice(self.l(x))" in code


def test_equal_names_of_two_files_do_not_meet(tmp_path):
    code = code_of(only(tmp_path, {
        "a.py": "def helper(x):\n    return x + 1\n",
            "b.py": "from a import helper as other\ndef helper(x):\n    return other(x) * 2\n",
        "m.py": HEAD + "from b import helper\nfrom a import helper as plus\n" + module(forward="return helper(plus(x))")}))
    functions = {}
    exec("\n".join(ast.unparse(node) for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)), functions)
    outer, _, inner = next(line.strip() for line in code.splitlines()
                           if "(x))" in line).removeprefix("return ").partition("(")
    assert functions[outer](functions[inner.removesuffix("(x))")](1)) == ((1 + 1) + 1) * 2


def test_a_cycle_of_imports_ends(tmp_path):
    files = {"a.py": HEAD + "from b import g\ndef f(x):\n    return g(x)\n" + module(forward="return f(x)"),
             "b.py": "from a import f\ndef g(x):\n    return f(x) if x is None else x\n"}
    assert code_of(only(tmp_path, files, "a.py")).count("def f(") == 1
    files = {"c.py": HEAD + "from d import lost\n" + module(forward="return lost(x)"), "d.py": "from c import lost\n"}
    assert only(tmp_path, files, "c.py")["refused"] in ("import_cycle", "unresolved_name")


def test_names_that_shadow_stay_what_they_are(tmp_path):
    code = code_of(only(tmp_path, {"m.py": HEAD +
    "import os\nx = os.getcwd()\ninput = 3\n" +
     module(forward="x = x * 2; return self.l(x)")}))
    assert "getcwd" not in code and "os" not in code.split()


def test_texts_annotations_registrations_and_moves_are_taken_out(tmp_path):
    code = code_of(only(tmp_path, {"m.py": HEAD + """
import logging
logger = logging.getLogger(__name__)
from registry import MODELS
@MODELS.register_module()
class M(nn.Module):
    '''Words.'''
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.l: nn.Module = nn.Linear(dim, dim).cuda()
        print("made")

    def forward(self, x: 'torch.Tensor') -> 'torch.Tensor':
        logger.info(x)
        if x.dim() == 9:
            print(x)
        return self.l(x).to("cuda") + torch.zeros(1, device="cuda")
"""}))
    for gone in ("print", "logger", "cuda", "Words", "MODELS", ": int", "Tensor"):
        assert gone not in code
    assert "self.l(x) + torch.zeros(1)" in code


def test_an_import_that_fails_leaves_its_name_to_the_handler(tmp_path):
    code = code_of(only(tmp_path, {"m.py": HEAD + """
try:
    from apex import fused
    HAS = True
except ImportError:
    HAS = False
""" + module(forward="return fused(x) if HAS else self.l(x)")}))
    assert "HAS = False" in code and "fused = None" in code and "apex" not in code


def test_needed_keywords_become_positions(tmp_path):
    code = code_of(only(tmp_path, {"m.py": HEAD + """
class M(nn.Module):
    def __init__(self, *, dim, heads=8):
        super().__init__()
    def forward(self, x):
        return x * 2
"""}))
    assert "def __init__(self, dim, heads=8)" in code


def test_calls_and_annotations_are_found(tmp_path):
    record = only(tmp_path, {"m.py": HEAD + module().replace("dim)", "dim: int)", 1),
                             "train.py": "from m import M\nM(dim=96)\nM(secret)\nM(48)\n"})
    assert {"dim": "96"} in record["calls"] and {"dim": "48"} in record["calls"] and len(record["calls"]) == 2
    assert record["annotations"]["__init__"] == {"dim": "int"}


@pytest.mark.parametrize(("text", "code"), [
    ("import os\n" + module(forward="os.remove('a'); return x"), "import_refused"),
    ("import socket as torchlike\n" + module(init="torchlike.socket()"), "import_refused"),
    ("from subprocess import run\n" + module(init="run('id')"), "import_refused"),
    (module(forward="return eval('x')"), "forbidden_name"),
    (module(forward="return __import__('os').getcwd()"), "forbidden_name"),
    (module(forward="return ().__class__.__base__.__subclasses__()"), "forbidden_name"),
    (module(init="torch.save(dim, '/tmp/x')"), "forbidden_name"),
    (module(init="torch.hub.load('a', 'b')"), "forbidden_name"),
    (module(init="torch.nn.Linear.forward = None"), "patches_library"),
    (module(init="setattr(torch, 'relu', None)"), "patches_library"),
    ("from torch.utils import cpp_extension\n" + module(init="cpp_extension.load('a')"), "import_refused"),
    ("@hidden(open('/etc/passwd'))\n" + module().lstrip() + "def hidden(x):\n    return lambda c: c\n", "forbidden_name"),
    ("class Meta(type):\n    def __new__(m, n, b, d):\n        open('/tmp/x', 'w')\n        return type.__new__(m, n, b, "
        "d)\n"
     + module().replace("nn.Module", "nn.Module, metaclass=Meta"), "forbidden_name"),
    ("COUNT = 0\n" + module(forward="global COUNT; COUNT += 1; return x"), "global_state"),
    (module(forward="return lost(x)"), "unresolved_name"),
])
def test_what_may_not_stand_in_a_task_has_a_code(tmp_path, text, code):
    assert only(tmp_path, {"m.py": HEAD + text})["refused"] == code


@pytest.mark.parametrize("text",
    ["class M(nn.Module:\n",
    "x = '\0'\nclass M(nn.Module): pass\n",
    "class M(nn.Module):\n  x = " + "(" * 5000,
     "class M(nn.Module):\n  x = " + "-" * 100_000 + "1\n"])
def test_files_that_do_not_parse_are_refused(tmp_path, text):
    (found,) = extracted(written(tmp_path, {"m.py": text}), "m.py").values()
    assert found["refused"] == "broken_file"


def test_code_that_is_not_needed_is_not_taken(tmp_path):
    code = code_of(
    only(
        tmp_path, {
            "m.py": HEAD + "open('/tmp/touched', 'w')\nimport shutil\nshutil.rmtree('/tmp/none')\n" + module()}))
    assert "open" not in code and "shutil" not in code


def test_small_helpers_of_the_standard_library_are_no_reason_to_drop_a_module(tmp_path):
    text = ("import random\nimport einx\nfrom contextlib import nullcontext\nfrom packaging import version\n" + HEAD
            + "NEW = version.parse(torch.__version__) >= version.parse('2.0')\n"
            + module(forward="with nullcontext():\n            return einx.multiply('b d, d -> b d', self.l(x), x[0]) * NEW"))
    assert "from contextlib import nullcontext" in code_of(only(tmp_path, {"m.py": text}))


@pytest.mark.parametrize(("imports", "forward"), [
    ("import random\n", "random.seed(0); return x"), ("from random import SystemRandom\n", "return x * SystemRandom().random()"),
    ("import contextlib\n", "contextlib.chdir('/'); return x"), ("from contextlib import chdir\n", "chdir('/'); return x")])
def test_parts_of_them_that_reach_further_are_refused(tmp_path, imports, forward):
    assert only(tmp_path, {"m.py": imports + HEAD + module(forward=forward)})["refused"] in ("forbidden_name", "import_refused")


def test_no_variable_of_the_environment_is_set(tmp_path):
    text = ("import os\n" + HEAD + "if 'FAST' in os.environ:\n    FACTOR = int(os.environ['FAST'])\nelse:\n    FACTOR = 2\n"
            + module(forward="return self.l(x) * FACTOR"))
    assert "FACTOR = 2" in code_of(only(tmp_path, {"m.py": text}))
