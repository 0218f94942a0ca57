"""Wrong command lines: each is one clear error that says what and where."""

import contextlib
import os

import kernelsmith as ks
import pytest
from kernelsmith.synthesis import pipeline
from kernelsmith.synthesis.command import command
from kernelsmith.synthesis.sandbox import Sandboxes
from synthesis_repositories import MIT
from test_synthesis_stages import FakeBox

MODULE = "import torch\nclass M(torch.nn.Module):\n    def forward(self, x):\n        return x * 2\n"
O = ["-o", "out"]
TAKE = ["--by", "Ada", "--when", "2026-11-27"]
WRONG = [
    [], ["r"], ["-o"], O, ["r", *O, "more"], ["nothing", *O], ["file", *O], ["", *O], ["r\0", *O], ["x" * 300, *O],
    ["r", "-o", ""], ["r", "-o", "o\0"], ["r", "-o", "file"], ["r", "-o", "file/x"], ["r", "-o", "/proc/x"],
    ["r", "-o", "full"], ["r", "-o", "r"], ["r", "-o", "r/out"], ["r", "-o", "other"], ["r", "-o", "x" * 300],
    ["--each", "nothing", *O], ["--each", "empty", *O], ["--each", "file", *O], ["--each", "", *O], ["r", "sub/r", *O],
    ["/dev/zero", *O], ["r", *O, "--similar", "2"], ["r", *O, "--similar", "nan"], ["r", *O, "--similar", "x"],
    ["r", *O, "--test-share", "1"], ["r", *O, "--test-share", "-1"], ["r", *O, "--per-repository", "-1"],
    ["r", *O, "--per-repository", "1.5"], ["r", *O, "--licence", ""], ["r", *O, "--licence", "no licence"],
    ["r", *O, "--against", "nothing"], ["r", *O, "--against", "file"], ["r", *O, "--against", "empty"], ["r", *O, "--sim", "1"],
    ["centers"], ["centers", "nothing", "--to", "c"], ["centers", "r"], ["centers", "r", "--to", "c", "--take", "d"],
    ["centers", "file", "--to", "c"], ["centers", "cut", "--to", "c"], ["centers", "r", "--to", "c", "--least", "x"],
    ["centers", "r", "--take", "nothing", *TAKE], ["centers", "r", "--take", "empty", "--by", "", "--when", "2026-11-27"],
    ["centers", "r", "--take", "empty", "--by", "Ada", "--when", "2026-99-99"]]


@pytest.mark.parametrize("arguments", WRONG, ids=lambda words: " ".join(words)[:40] or "none")
def test_wrong_command_lines(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fakes = Sandboxes([FakeBox()])
    monkeypatch.setattr(pipeline, "sandboxes", lambda python, count: contextlib.nullcontext(fakes))
    for folder in ("r", "sub/r", "empty", "full", "other", "cut"):
        os.makedirs(folder)
    for name, text in {"file": "x", "full/x": "x", "r/m.py": MODULE, "r/LICENSE": MIT, "other/1-sources.jsonl": "{}\n" * 99,
                       "cut/8-families.jsonl": '{"stage": 1}\n{"out": []}\n'}.items():
        (tmp_path / name).write_text(text)
    with pytest.raises(ks.Error) as error:
        command(arguments)
    assert error.value.code in ("invalid_argument", "not_found", "io", "bad_input") and error.value.where, error.value
    assert len(error.value.message) > 10 and (tmp_path / "r" / "m.py").read_text() == MODULE
