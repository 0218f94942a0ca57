"""Packages of confirmed bests. Kernels are executed by Triton's interpreter."""

from __future__ import annotations

import json
from pathlib import Path

import kernelsmith as ks
import packages
import published_runs
import pytest
from kernelsmith.production import own_tests
from kernelsmith.production import publish as publishing

pytest.importorskip("torch")
pytest.importorskip("triton")

GATED = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x, gate):
        return x * torch.sigmoid(gate)


def get_inputs():
    return list(torch.randn(193)[1:].view(6, 2, 16).unbind(1))


def get_init_inputs():
    return []
"""
GATED_KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def gated(x, gate, y, step, BLOCK: tl.constexpr):
    row, at = tl.program_id(0), tl.arange(0, BLOCK)
    tl.store(y + row * BLOCK + at, tl.load(x + row * step + at) * tl.sigmoid(tl.load(gate + row * step + at)))


class ModelNew(torch.nn.Module):
    def forward(self, x, gate):
        y = torch.empty(x.shape, device=x.device)
        gated[(6,)](x, gate, y, x.stride(0), BLOCK=16)
        return y
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package of two sizes, with different kernels, and what lies between."""
    folder = tmp_path_factory.mktemp("package")
    runs = [packages.run_of(folder / "a.run"),
            packages.run_of(folder / "b.run", rows=64, speedup=3, kernel=("1 /", "1.0 /"))]
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TRITON_INTERPRET", "1")
        assert packages.publish(*runs, "--as", "module", "--out", folder / "out", "--between") == 0
    return folder / "out"


def test_its_own_tests_ran_every_kernel(package: Path) -> None:
    log = (package / "tests.log").read_text()
    assert "\nOK\n" in log and "skipped" not in log
    for name in ("every_bucket", "between_buckets", "opcheck", "compile", "export", "gradient", "an_unknown_device"):
        assert f"test_{name} " in log


@pytest.mark.slow
def test_without_a_gpu_only_the_fallback_is_tested(package: Path) -> None:
    own = {**packages.INTERPRETED, "TRITON_INTERPRET": "0"}
    done = packages.python("-m", "unittest", "discover", "-v", "tests", folder=package, environment=own)
    assert done.returncode == 0, done.stderr
    assert "test_every_bucket (test_rms_norm.Kernels.test_every_bucket) ... skipped" in done.stderr
    assert "test_odd_sizes (test_rms_norm.Fallback.test_odd_sizes) ... ok" in done.stderr


def test_each_size_has_its_kernel_and_what_is_between_the_nearest(package: Path) -> None:
    program = ("import sys, torch, rms_norm\nwidth = int(sys.argv[1])\n"
               "for rows in (16, 17, 60, 64, 65, 15):\n"
               "    print(rms_norm.kernel_of(torch.ones(rows, width), torch.ones(width), width, 1e-5))")
    assert packages.python("-c", program, 64, folder=package).stdout.split() == [
        "kernel_0", "kernel_0", "kernel_1", "kernel_1", "None", "None"]
    assert set(packages.python("-c", program, 32, folder=package).stdout.split()) == {"None"}


def test_the_module_is_served_by_kernels_and_keeps_its_names(package: Path) -> None:
    program = ("import torch, rms_norm\nfrom rms_norm import state\n"
               "model = rms_norm.Model(64, 1e-5).eval().requires_grad_(False)\n"
               "calls = []\nown = state.Lent.__call__\n"
               "state.Lent.__call__ = lambda lent, *rest: (calls.append(type(lent.module).__name__), own(lent, *rest))[1]\n"
               "model(torch.randn(16, 64)); model(torch.randn(16, 64).double())\n"
               "print(calls, list(model.state_dict()))")
    done = packages.python("-c", program, folder=package)
    assert "'ModelNew'" in done.stdout and done.stdout.rstrip().endswith("['weight']"), done.stderr


def test_the_benchmark_says_what_ran(package: Path) -> None:
    done = packages.python("benchmark.py", "--pairs", 6, "--calls", 1, "--json", folder=package)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["sizes"]["rows"] for row in rows] == [16, 64], done.stderr
    assert all(row["low"] <= row["ratio"] <= row["high"] and row["pairs"] == 6 for row in rows)


def test_report_and_request_have_the_figures(package: Path) -> None:
    report, request = (package / "REPORT.md").read_text(), (package / "CHANGE_REQUEST.md").read_text()
    facts = json.loads((package / "rms_norm" / "package.json").read_text())
    for text in ("2.00x [1.98, 2.02]", "3.00x [2.97, 3.03]", "NVIDIA H100 80GB HBM3", facts["namespace"]):
        assert text in report
    assert "2.00x [1.98, 2.02] at rows 16, width 64" in request and "$" not in report + request
    assert facts["between"] == [[0, 0, 16, 64]] and facts["free"] == ["rows"]


def test_kernels_serve_tensors_that_lie_as_those_that_were_measured(tmp_path: Path) -> None:
    """Views of one storage, at an offset that is no multiple of 16 bytes."""
    task = tmp_path / "task"
    task.mkdir()
    (task / "task.yaml").write_text((packages.RMS_NORM / "task.yaml").read_text().replace("rms_norm", "gated"))
    (task / "reference.py").write_text(GATED)
    run = published_runs.searched(tmp_path / "a.run", task, GATED_KERNEL)
    assert packages.publish_untested(run, "--as", "torch-op", "--out", tmp_path / "out") == 0
    program = ("import sys, torch\nsys.path.insert(0, 'tests')\nimport arms\nmodel, given = arms.met({})\n"
               "print(arms.PACKAGE.kernel_of(*given), arms.differences(arms.operator_of(*given), model, given))\n"
               "copied = arms.agreement._copied(given, 2.0)\n"  # or a package would be compared with its own fallback
               "print(arms.PACKAGE.kernel_of(*copied), all(torch.equal(one, 2 * other) for one, other in zip(copied, given)))\n"
               "moved = [torch.zeros(196)[2:].as_strided(t.shape, t.stride(), t.storage_offset() + 1) for t in given]\n"
               "for other in ([t.clone() for t in given], [given[1], given[0]], moved):\n"
               "    print(arms.PACKAGE.kernel_of(*other), arms.differences(arms.operator_of(*other), model, tuple(other)))\n")
    done = packages.python("-c", program.replace("arms.operator_of", "arms.PACKAGE.operator"), folder=tmp_path / "out")
    assert done.stdout.splitlines() == ["kernel_0 []", "kernel_0 True", *3 * ["None []"]], done.stderr


def test_of_two_runs_at_one_size_the_faster_is_taken(tmp_path: Path) -> None:
    from kernelsmith.production.facts import facts_of
    from kernelsmith.production.winners import winners

    runs = [packages.run_of(tmp_path / "a.run"),
            packages.run_of(tmp_path / "b.run", speedup=2.5, kernel=("1 /", "1.0 /"))]
    [bucket] = facts_of("norm", winners(runs), (9, 0), between=False)["buckets"]
    assert bucket["speedup"]["median"] == 2.5


def test_a_wrong_kernel_that_is_forced_is_one_in_every_document(
        tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run = packages.run_of(tmp_path / "a.run", kernel=("x * scale * weight", "x * scale * weight * 1.5"))
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    out = tmp_path / "out"
    assert packages.publish(run, "--as", "torch-op", "--out", out, "--force") == 1
    counted = "9 passed, 1 failed, 3 skipped; 2 answers of kernels compared"
    assert f"its own tests: {counted}\n" in capsys.readouterr().out
    assert "Ran 13 tests" in (out / "tests.log").read_text()
    assert "FAILED (failures=2, skipped=3)" in (out / "tests.log").read_text()
    facts = json.loads((out / "rms_norm" / "package.json").read_text())
    assert [failure.partition(":")[0] for failure in facts["tests"]["failures"]] == [
        f"Kernels.test_every_bucket (sizes={{'rows': 16, 'width': 64}}, seed={seed})".partition(":")[0] for seed in (0, 1)]
    for document in ("REPORT.md", "CHANGE_REQUEST.md"):
        text = (out / document).read_text()
        assert "Published with `--force`, although:" in text and counted in text
        assert all(text.count(failure) == 2 and "output 0 is off by" in failure for failure in facts["tests"]["failures"])


def test_a_package_whose_tests_fail_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, out = packages.run_of(tmp_path / "a.run"), tmp_path / "out"
    monkeypatch.setattr(publishing, "own_tests", lambda out, kind: own_tests.Tested(ran=2, failed=1, failures=["a test: it is off"]))
    with pytest.raises(ks.Error, match="own tests failed .1 passed, 1 failed.*: a test: it is off") as raised:
        packages.publish(run, "--as", "module", "--out", out)
    assert raised.value.code == "refused" and "it is off" in (out / "REPORT.md").read_text()


def test_a_kernel_that_packs_weights_cannot_be_published(tmp_path: Path) -> None:
    packs = ("        self.eps = eps\n", "        self.eps = eps\n        self.packed = torch.rand(width).half()\n")
    run = packages.run_of(tmp_path / "a.run", kernel=packs)
    with pytest.raises(ks.Error, match="its constructor makes packed from weights or by chance"):
        packages.publish(run, "--as", "module", "--out", tmp_path / "out")


@pytest.mark.parametrize(("options", "message"), [
    ({"confirm": False}, "a.run')    measures it again"),
    ({"accepted": False}, "the run has no best"),
    ({"speedup": 1.005}, "the best is not faster than the reference"),
    ({"hardware": "GPU X"}, "the compute capability of 'GPU X' is unknown"),
    ({"reference": ("self.eps = eps", "self.eps, self.at = eps, torch.ones(1)")}, "at is a tensor that is neither"),
    ({"reference": ("* self.weight\n", "* self.weight, 1\n")}, "this reference gives something else"),
    ({"reference": ("[width, 1e-5]", "[width, 1 / 0]")}, "the file raised"),
    ({"reference": ("torch.rand(width)", "torch.rand(width, device='meta')")}, "tensors are on the device meta"),
])
def test_one_run_that_cannot_be_published(tmp_path: Path, options: dict[str, object], message: str) -> None:
    run = packages.run_of(tmp_path / "a.run", **options)
    with pytest.raises(ks.Error) as raised:
        packages.publish(run, "--as", "module", "--out", tmp_path / "out")
    assert message in str(raised.value) and not (tmp_path / "out").exists()


@pytest.mark.parametrize(("options", "message"), [
    ({"hardware": "NVIDIA A100-SXM4-80GB"}, "the runs were measured on different hardware"),
    ({"reference": ("x.pow(2)", "x.abs()")}, "the runs search different modules"),
])
def test_two_runs_that_do_not_go_together(tmp_path: Path, options: dict[str, object], message: str) -> None:
    runs = [packages.run_of(tmp_path / "a.run"), packages.run_of(tmp_path / "b.run", **options)]
    with pytest.raises(ks.Error, match=message):
        packages.publish(*runs, "--as", "module", "--out", tmp_path / "out")


@pytest.mark.parametrize(("text", "expected"), [
    ("torch: {precision: tf32, baseline: compile}\n", ("tf32", "compile")),
    ("torch:\n  baseline: compile\n  precision: bf16\n", ("bf16", "compile")),
    ("description: precision: odd\ntorch: {policy: any}\n", ("fp32", "eager")),
    ("torch: {policy: any}\nother:\n  precision: bf16\n", ("fp32", "eager")),
])
def test_how_the_baseline_ran(text: str, expected: tuple[str, str]) -> None:
    from kernelsmith.production.winners import _setting

    assert (_setting(text, "precision", "fp32"), _setting(text, "baseline", "eager")) == expected


def test_what_force_overrides_is_said_in_every_document(tmp_path: Path) -> None:
    run = packages.run_of(tmp_path / "a.run", speedup=1.005)
    out = tmp_path / "out"
    assert packages.publish(run, "--as", "hf-kernel", "--out", out, "--force") == 1
    for document in ("REPORT.md", "CHANGE_REQUEST.md", "CARD.md"):
        text = (out / document).read_text()
        assert "although" in text and "the best is not faster than the reference: 1.00x, from 0.99" in text
        assert "not run: kernel-builder builds the package first" in text


def test_wrong_use(tmp_path: Path) -> None:
    run = packages.run_of(tmp_path / "a.run")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for arguments, message in (((run, "--as", "wheel", "--out", "x"), "invalid choice"),
                               ((run, "--as", "patch", "--out", "x"), "--into names a patch's manifest"),
                               ((run, "--as", "module", "--out", "x", "--between"), "--between needs runs at"),
                               ((run, "--as", "module", "--out", "x", "--name", "a b"), "a package's name is a Python name"),
                               ((run, "--as", "module", "--out", tmp_path / "full"), "the folder is not empty"),
                               ((tmp_path, "--as", "module", "--out", "x"), "run")):
        with pytest.raises(ks.Error, match=message):
            packages.publish(*arguments)
