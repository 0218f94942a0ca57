"""The real sandbox and planner: modules that do harm, and twelve that become tasks."""

import math
import os
import socket
from pathlib import Path

import kernelsmith as ks
import pytest
from kernelsmith.synthesis import Settings, synthesize
from kernelsmith.synthesis.sandbox import sandboxes
from synthesis_repositories import TWELVE, written

PYTHON = os.environ.get("KERNELSMITH_TORCH_PYTHON",
                        str(Path(os.environ.get("KERNELSMITH_SOURCE", ".")) / "build/torch/bin/python"))
GOOD = """
import torch
import torch.nn as nn
class Model(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.l = nn.Linear(dim, dim)
    def forward(self, x):
        return self.l(x)
"""


@pytest.fixture(scope="module")
def box():
    if not os.access(PYTHON, os.X_OK):
        pytest.skip("no Python with PyTorch: scripts/install.sh test makes build/torch")
    with sandboxes(PYTHON, 1) as one:
        try:
            (first,) = one.answers([{"code": GOOD}])
        except ks.Error as error:
            if os.environ.get("KERNELSMITH_SANDBOX") == "required":
                raise
            pytest.skip(f"candidates cannot be run here: {error}")
        if first.get("refused") == "breaks_sandbox" and os.environ.get("KERNELSMITH_SANDBOX") != "required":
            pytest.skip(f"candidates cannot be run here: {first['message']}")
        yield one


def at_import(text):
    return text + GOOD


HOSTILE = {
    "writes": (at_import("open('/etc/touched', 'w')\n"), {"does_not_load"}),
    "reads": (at_import("open('/root/.ssh/id_rsa').read()\n"), {"does_not_load"}),
    "connects": (at_import("import socket\nsocket.create_connection(('127.0.0.1', PORT))\n"), {"does_not_load"}),
    "loops": (at_import("while True:\n    pass\n"), {"timed_out"}),
    "sleeps": (at_import("import time\ntime.sleep(1000)\n"), {"timed_out"}),
    "fills": (at_import("x = []\nwhile True:\n    x.append(bytearray(1 << 28))\n"), {"memory", "timed_out"}),
    "patches_inherited": (at_import("import torch\nsetattr(torch.Tensor, 'relu', lambda self: self)\n"), {"patches_torch"}),
    "patches_operator": (at_import("import torch\ntorch.Tensor.__add__ = lambda a, b: a\n"), {"patches_torch"}),
    "patches_code": (at_import("from torch.nn import functional as f\nf.silu.__code__ = (lambda input, inplace=False: "
        "input).__code__\n"), {"patches_torch"}),
    "patches": (at_import("import torch\ntorch.nn.Linear.forward = lambda self, x: x\n"), {"patches_torch"}),
    "exits": (at_import("import sys\nsys.exit(0)\n"), {"exits"}),
    "ends": (at_import("import os\nos._exit(0)\n"), {"ends_process"}),
    "forges": (at_import("import os\nfor d in range(3, 64):\n    try:\n        os.write(d, b'{\"inputs\": []}')\n    except "
        "OSError:\n        pass\n"),
               {"ends_process"}),
    "metaclass": ("class Meta(type):\n    def __new__(m, n, b, d):\n        raise SystemExit\nclass X(metaclass=Meta):\n    "
        "pass\n" + GOOD, {"exits"}),
    "constructor": (GOOD.replace("super().__init__()", "super().__init__(); import os; os._exit(3)"), {"ends_process"}),
    "forward": (GOOD.replace("return self.l(x)", "\n        while True: pass"), {"timed_out"}),
    "values": (GOOD.replace("return self.l(x)", "return self.l(x) if x.sum() > 0 else x"), {"reads_values"}),
    "changes": (GOOD.replace("return self.l(x)",
        "self.n = getattr(self, 'n', 0) + 1; return self.l(x) * self.n + (x if self.n % 2 else x * 2)"),
                {"not_deterministic"}),
    "grows": (GOOD.replace("nn.Linear(dim, dim)", "nn.Linear(1 << 16, 1 << 16)"), {"too_large"}),
}


@pytest.mark.slow
def test_each_module_that_does_harm_has_a_code_and_the_others_go_on(box, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        port = str(server.getsockname()[1])
        tasks = [{"code": text.replace("PORT", port), "cpu_s": 3} for text, _ in HOSTILE.values()]
        answers = box.answers([*tasks, {"code": GOOD}])
        with pytest.raises(TimeoutError):
            server.accept()
    wrong = {name: answer for (name, (_, codes)), answer in zip(HOSTILE.items(), answers, strict=False)
             if answer.get("refused") not in codes}
    assert not wrong, wrong.keys()
    assert "refused" not in answers[-1] and not Path("/etc/touched").exists()


@pytest.mark.slow
@pytest.mark.skipif("KERNELSMITH_SYNTHESIS_LONG" not in os.environ,
    reason="each ends the sandbox, which starts anew: minutes")
@pytest.mark.parametrize("text", ["import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\n",
    "import os\nwhile True:\n    os.fork()\n"])
def test_who_ends_the_sandbox_is_found(box, text):
    answers = box.answers([{"code": GOOD}, {"code": at_import(text), "cpu_s": 3}, {"code": GOOD}])
    assert [answer.get("refused") for answer in answers] == [None, "breaks_sandbox", None]


@pytest.mark.slow
def test_inputs_are_found_and_have_real_sizes(box):
    conv = GOOD.replace("nn.Linear(dim, dim)", "nn.Conv2d(dim, 48, 3)")
    configured = GOOD.replace("dim):", "config):").replace(
        "nn.Linear(dim, dim)", "nn.Linear(config.n_embd, config.hidden_size)")
    linear, pictures, called, config = box.answers([
        {"code": GOOD}, {"code": conv}, {"code": GOOD, "calls": [{"dim": "320"}]}, {"code": configured}])
    for answer in (linear, pictures, called, config):
        assert 50 <= answer["roofline_us"] <= 20_000, answer
    assert called["arguments"] == ["320"] and called["origin"] == "call" and "320)" in called["inputs"][0]
    assert config["arguments"] == ["_Config(n_embd=512, hidden_size=512)"]
    assert [name for name, _ in linear["operators"] if name not in ("t", "view", "_unsafe_view")] == ["addmm"]


# What a plan does not show: forward's argument and text, what the constructor adds, and the code.
UNSOUND = {
    "never_set": ("", "self.l(x) + self.p", "self.p = nn.Parameter(torch.Tensor(dim))"),
    "constant_output": ("", "self.l(x).softmax(-1).sum(-1)", ""),
    "ignores_input": (", other", "self.l(x) + 0 * other", ""),
    "zero_weights": ("", "x.relu() + 1 + self.o(self.l(x))", "self.o = nn.Linear(dim, dim); nn.init.zeros_(self.o.weight)"),
    "returns_input": ("", "x + 1e-6 * self.l(x)", ""),
    "not_deterministic": ("", "self.l(x) * random.random()", ""),
    "not_finite": ("", "(self.l(x) - 5).sqrt()", ""),
}
SOUND = {
    "indices are within their axis": (", ids", "self.l(x) + self.t[ids]", "self.t = nn.Parameter(torch.randn(40, dim))"),
    "a mask masks": (", mask", "self.l(x).masked_fill(mask[..., None], 0)", ""),
    "outputs fit": ("", "self.l(x)[:, :, None] - self.l(x)[:, None]", ""),
    "imports": ("", "self.l(x) * NEW", ""),
}


@pytest.mark.slow
def test_what_runs_on_numbers_only_badly_is_refused(box):
    def code(argument, result, more):
        text = GOOD.replace("x):", f"x{argument}):").replace("return self.l(x)", f"return {result}").replace(
            "        self.l =", f"        {more or 'pass'}\n        self.l =")
        return "import random\nfrom contextlib import nullcontext\n" + text + "NEW = 2\n"

    answers = box.answers([{"code": code(*parts)} for parts in [*UNSOUND.values(), *SOUND.values()]])
    bad, good = answers[:len(UNSOUND)], answers[len(UNSOUND):]
    assert [answer.get("refused") for answer in bad] == list(UNSOUND), bad
    assert not any("refused" in answer for answer in good), good
    assert good[0]["inputs"][1].startswith("torch.randint(0, 40,") and good[1]["inputs"][1].endswith("< 0.5")
    assert 4 * torch_numbers(good[2]["outputs"]) <= 1 << 30


def torch_numbers(outputs):
    return sum(math.prod(shape) for _, shape in outputs)


def test_twelve_modules_of_a_repository(box, tmp_path):
    made = synthesize([written(tmp_path / "twelve", TWELVE)], tmp_path / "out", Settings(python=PYTHON))
    assert made.tasks == 7, made  # Gate, Block, Norm, Stack, Attention, Wide, Noise
    for code in ("repeated", "import_refused", "returns_input", "reads_values", "no_inputs"):
        assert made.refused.pop(code, 0) == 1 or code == "returns_input", made
    assert set(made.refused) <= {"no_work"}
