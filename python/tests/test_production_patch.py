"""`publish --as patch`: a function of a checked-out repository asks a package first, or all is as it was."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import kernelsmith as ks
import packages
import pytest
from kernelsmith.production import patch as patching
from kernelsmith.production.checkout import Checkout
from kernelsmith.production.manifest import read_manifest
from kernelsmith.production.rewrite import Asking, with_comparison, with_kernel

NORM = '''\
"""Norms."""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, width, eps=1e-5):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, hidden):
        """Along the last dimension."""
        return hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight
'''
# The second test is the repository's own idea of how its files look.
TESTS = """\
import os, sys, unittest
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "src"))
import torch
from tiny.norm import RMSNorm


class Norms(unittest.TestCase):
    def test_ones(self):
        with torch.no_grad():
            torch.testing.assert_close(RMSNorm(64)(torch.ones(16, 64)), torch.ones(16, 64), rtol=1e-4, atol=1e-4)

    def test_lines(self):
        source = os.path.join(os.path.dirname(__file__), "..", "src", "tiny", "norm.py")
        self.assertLess(len(open(source).readlines()), LINES)
"""
MANIFEST = """\
repository = "repository"
file = "src/tiny/norm.py"
function = "RMSNorm.forward"
arguments = ["hidden", "self.weight", "hidden.shape[-1]", "self.eps"]
package = "src/tiny/kernels"
import = "tiny.kernels"
tests = ["python", "-W", "ignore", "-m", "unittest", "discover", "-v", "tests"]
add_tests = "tests/kernels"
"""


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *words], check=True,
                          capture_output=True, text=True).stdout


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """Beside a repository whose tests let norm.py grow."""
    for name, text in (("src/tiny/__init__.py", ""), ("src/tiny/norm.py", NORM), ("tests/__init__.py", ""),
                       ("tests/test_norm.py", TESTS.replace("LINES", "99"))):
        file = tmp_path / "repository" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(tmp_path / "repository", "init", "-q")
    git(tmp_path / "repository", "add", ".")
    git(tmp_path / "repository", "commit", "-qm", "first")
    (tmp_path / "patch.toml").write_text(MANIFEST)
    return tmp_path / "patch.toml"


def patched(manifest: Path) -> Path:
    """The package's own tests are not run apart, but with the repository's."""
    out, run = manifest.parent / "out", packages.run_of(manifest.parent / "a.run")
    packages.publish_untested(run, "--as", "patch", "--into", manifest, "--out", out)
    return out


@pytest.mark.slow
def test_the_change_passes_the_repositorys_tests(manifest: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    repository = manifest.parent / "repository"
    out = patched(manifest)
    changed = (repository / "src/tiny/norm.py").read_text()
    assert '"""Along the last dimension."""\n        if _rms_norm.applies(hidden, self.weight' in changed
    log = (out / "repository-tests.log").read_text()
    assert "test_ones (test_norm.Norms.test_ones) ... ok" in log
    assert "test_every_bucket (kernels.test_rms_norm.Kernels.test_every_bucket) ... ok" in log
    git(repository, "stash", "-u")
    git(repository, "apply", str(out / "change.patch"))
    assert (repository / "src/tiny/norm.py").read_text() == changed
    assert (repository / "src/tiny/kernels/rms_norm/kernels/kernel_0.py").exists()


@pytest.mark.parametrize(("old", "new", "message"), [
    ("+ self.eps) *", "+ 2e-5) *", "times 0.000976562: output 0 is off by"),  # too small to be seen with inputs of 1
    pytest.param("self.eps) * self.weight", "self.eps) * (1 + self.weight)", "times 1: output 0 is off by", marks=pytest.mark.slow),
    pytest.param("def test_ones", "def no_test", "nothing was compared with RMSNorm.forward", marks=pytest.mark.slow),
])
def test_what_is_not_what_it_replaces_is_refused(manifest: Path, old: str, new: str, message: str) -> None:
    pytest.importorskip("triton")
    repository = manifest.parent / "repository"
    for name in ("src/tiny/norm.py", "tests/test_norm.py"):
        file = repository / name
        file.write_text(file.read_text().replace(old, new).replace("torch.ones(16, 64), rtol=1e-4, atol=1e-4",
                                                                   "torch.ones(16, 64), rtol=2, atol=2"))
    git(repository, "commit", "-qam", "another norm")
    with pytest.raises(ks.Error, match=f"function that it would replace: .*{message}") as raised:
        patched(manifest)
    assert raised.value.code == "refused" and git(repository, "status", "--porcelain", "--ignored") == ""
    assert message in (manifest.parent / "out" / "REPORT.md").read_text()


def test_new_folders_are_packages(manifest: Path, tmp_path: Path) -> None:
    """Those that were there without `__init__.py` stay as they are."""
    repository, made = manifest.parent / "repository", tmp_path / "made" / "rms_norm"
    (made / "kernels").mkdir(parents=True)
    (made / "kernels" / "__init__.py").touch()
    (repository / "src/tiny/old").mkdir()
    (repository / "src/tiny/old/a.py").touch()
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "a namespace")
    for package in ("old", "new/kernels"):
        manifest.write_text(MANIFEST.replace("tiny/kernels", f"tiny/{package}").replace("tiny.kernels",
                                                                                        f"tiny.{package.replace('/', '.')}"))
        patching._put(Checkout(repository), read_manifest(manifest), SimpleNamespace(package=made, facts={"name": "rms_norm"}),
                      NORM)  # type: ignore[arg-type]
        git(repository, "add", ".")
        git(repository, "commit", "-qm", package)
    assert sorted(str(file.relative_to(repository / "src/tiny")) for file in repository.rglob("src/tiny/*/**/__init__.py")) == [
        "new/__init__.py", "new/kernels/__init__.py", "new/kernels/rms_norm/kernels/__init__.py",
        "old/rms_norm/kernels/__init__.py"]


@pytest.mark.slow
def test_all_is_as_it_was_if_they_fail(manifest: Path) -> None:
    pytest.importorskip("triton")
    repository = manifest.parent / "repository"
    tests = repository / "tests/test_norm.py"
    tests.write_text(TESTS.replace("LINES", str(len(NORM.splitlines()) + 1)))
    git(repository, "commit", "-qam", "short files")
    with pytest.raises(ks.Error, match="which was undone") as raised:
        patched(manifest)
    assert raised.value.code == "refused" and "test_lines" in Path(raised.value.where).read_text()
    assert git(repository, "status", "--porcelain", "--ignored") == ""
    assert (repository / "src/tiny/norm.py").read_text() == NORM and not (repository / "src/tiny/kernels").exists()
    assert "applies" in (manifest.parent / "out" / "change.patch").read_text()


def test_their_tests_must_pass_before(manifest: Path) -> None:
    pytest.importorskip("triton")
    manifest.write_text(MANIFEST.replace('"discover", "-v", "tests"', '"nowhere"'))
    with pytest.raises(ks.Error, match="fail before anything is changed"):
        patched(manifest)
    assert git(manifest.parent / "repository", "status", "--porcelain") == ""


def test_a_repository_with_changes_is_left_alone(manifest: Path) -> None:
    (manifest.parent / "repository" / "note.txt").touch()
    with pytest.raises(ks.Error, match="has uncommitted changes"):
        patched(manifest)


def test_only_what_was_added_is_taken_back(manifest: Path, tmp_path: Path) -> None:
    repository = manifest.parent / "repository"
    checkout = Checkout(repository)
    checkout.add(Path("src/tiny/a/b"), repository / "tests")
    (repository / "kept.txt").touch()
    checkout.replace(Path("src/tiny/norm.py"), "new")
    assert "+new" in checkout.difference()
    checkout.revert()
    assert git(repository, "status", "--porcelain", "--ignored").split() == ["??", "kept.txt"]
    with pytest.raises(ks.Error, match="this path exists already"):
        checkout.add(Path("src/tiny/norm.py"), manifest)


@pytest.mark.parametrize(("old", "new", "message"), [
    ('function = "RMSNorm.forward"\n', "", "the key function is missing"),
    ("add_tests", "adds", "unknown key adds"),
    ('"src/tiny/kernels"', '"src/kernels"', "cannot be imported as tiny.kernels"),
    ('"src/tiny/norm.py"', '"../norm.py"', "a path within the repository"),
    ('["hidden",', '"hidden" #', "a list of texts"),
    ("repository =", "repository", "not TOML"),
])
def test_a_wrong_manifest(manifest: Path, old: str, new: str, message: str) -> None:
    manifest.write_text(MANIFEST.replace(old, new))
    with pytest.raises(ks.Error, match=message):
        read_manifest(manifest)


def rewritten(text: str, function: str = "f", arguments: tuple[str, ...] = ("x",), trains: bool = False) -> str:
    asking = Asking(function, list(arguments), "tiny", "norm", trains)
    with_comparison(text, "norm.py", asking)
    return with_kernel(text, "norm.py", asking)


def test_a_function_keeps_its_body_and_decorators() -> None:
    text = "import a\n@a.b\ndef f(x, *, y=1):\n    return x\n"
    assert rewritten(text) == ("import a\nfrom tiny import norm as _norm\n@a.b\ndef f(x, *, y=1):\n"
                               "    if _norm.applies(x):\n        return _norm.call(x)\n    return x\n")
    method = "class C:\n  def f(self, x):\n    return x\n"
    assert "if not self.training and _norm.applies(x)" in rewritten(method, "C.f", trains=True)
    made_for = Asking("C.f", ["x"], "tiny", "norm", fixed=True)
    assert "if _norm.same_constants(self) and _norm.applies(x):" in with_kernel(method, "norm.py", made_for)
    assert "'(x,) if _norm.same_constants(self) else None'" in with_comparison(method, "norm.py", made_for)


def test_lines_are_indented_as_the_file_is() -> None:
    text = "class C:\n\tdef f(self, x):\n\t\t\"\"\"Tabs.\"\"\"\n\t\t@b\n\t\tdef g():\n\t\t\treturn x\n\t\treturn g()\n"
    assert ('\t\tif _norm.applies(x):\n\t\t\treturn _norm.call(x)\n\t\t@b\n' in rewritten(text, "C.f"))


@pytest.mark.parametrize(("text", "function", "message"), [
    ("def g(x):\n    return x\n", "f", "there is no function f"),
    ("def f(x): return x\n", "f", "does not begin on a line of its own"),
    ("def f(x):\n    yield x\n", "f", "f is a generator"),
    ("def f(x):\n  return (\n", "f", "the file is not Python"),
])
def test_a_function_that_cannot_be_changed(text: str, function: str, message: str) -> None:
    with pytest.raises(ks.Error, match=message):
        rewritten(text, function)


def test_an_argument_that_is_no_expression() -> None:
    with pytest.raises(ks.Error, match="'x =' is not an expression"):
        rewritten("def f(x):\n    return x\n", arguments=("x =",))


def test_the_ends_of_lines_stay(manifest: Path) -> None:
    checkout = Checkout(manifest.parent / "repository")
    file = Path("src/tiny/norm.py")
    (checkout.folder / file).write_bytes(b"a = 1\r\nb = 2\r\n")
    checkout.replace(file, "a = 1\nb = 3\n")
    assert (checkout.folder / file).read_bytes() == b"a = 1\r\nb = 3\r\n"


def test_a_link_out_of_the_repository_is_refused(manifest: Path) -> None:
    (manifest.parent / "outside").mkdir()
    (manifest.parent / "repository/src/out").symlink_to(manifest.parent / "outside")
    git(manifest.parent / "repository", "add", ".")
    git(manifest.parent / "repository", "commit", "-qm", "a link")
    with pytest.raises(ks.Error, match="a link leads out of the repository"):
        Checkout(manifest.parent / "repository").add(Path("src/out/kernels"), manifest)
    assert not list((manifest.parent / "outside").iterdir())


def test_a_log_is_never_written_over(manifest: Path) -> None:
    log = manifest.parent / "out.tests.log"
    log.write_text("precious\n")
    with pytest.raises(ks.Error, match="File exists"):
        Checkout(manifest.parent / "repository").tested(["true"], log)
    assert log.read_text() == "precious\n"


def test_a_command_that_cannot_be_started_leaves_nothing(manifest: Path) -> None:
    log = manifest.parent / "out.tests.log"
    for command in ("no-such-program", "./src/tiny/norm.py", ""):
        with pytest.raises(ks.Error, match="cannot be started"):
            Checkout(manifest.parent / "repository").tested([command], log)
        assert not log.exists()
