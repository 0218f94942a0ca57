"""A package in the whole model: from a profile to a report, with kernels by Triton's interpreter."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import kernelsmith as ks
import packages
import published_runs
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernelsmith.production import models, swap, tasks, whole  # noqa: E402
from kernelsmith.production.apply import apply  # noqa: E402
from kernelsmith.production.command import production  # noqa: E402
from kernelsmith.production.packages import imported  # noqa: E402

TRANSFORMER = Path(__file__).parent / "production" / "transformer.py"


def command(*arguments: object, interpreted: bool = True) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TRITON_INTERPRET": str(int(interpreted))}
    return subprocess.run([sys.executable, "-W", "ignore", "-m", "kernelsmith", *map(str, arguments)], env=environment,
                          capture_output=True, text=True, check=False)


def published(folder: Path, kernel: tuple[str, str] = ("", "")) -> Path:
    """A package of the norm that a profile of the Transformer found; nothing of the kernel is executed."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tasks, "objection", lambda reference, task: "")
        assert production(["profile", str(TRANSFORMER), "--out", str(folder / "profile"), "--tasks", "1"]) == 0
    candidate = (packages.RMS_NORM / "seed.py").read_text().replace(*kernel)
    # The task's constructor takes the module's eps, and its input has three dimensions.
    for old, new in (("self, width, eps", "self, eps"), ("torch.rand(width)", "torch.rand(64)"),
                     ("rows, width = x.shape", "rows, width = x.numel() // 64, 64")):
        assert old in candidate
        candidate = candidate.replace(old, new)
    task = folder / "profile" / "tasks" / "norm"
    text = (task / "task.yaml").read_text().replace("# seed: seed.py ", "seed: seed.py ")
    (task / "task.yaml").write_text(text)
    run = published_runs.searched(folder / "a.run", task, candidate)
    assert packages.publish_untested(run, "--as", "module", "--out", folder / "out", "--name", f"norm_{folder.name}") == 0
    return folder / "out"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("right"))


@pytest.mark.slow
def test_it_is_put_in_all_places_and_measured(package: Path) -> None:
    done = command("apply", package, TRANSFORMER, "--measure", "--pairs", 6, "--steps", 1)
    assert done.returncode == 0, done.stderr
    told = json.loads((package / "whole.json").read_text())
    assert len(told["places"]) == 5 and told["agreements"][0]["served"] == 5
    assert told["whole"]["pairs"] == 6 and told["whole"]["low"] <= told["whole"]["ratio"] <= told["whole"]["high"]
    assert 0 < told["share"] < 1 and told["forecast"] > 0
    report = (package / "REPORT.md").read_text()
    assert report.count("## In the whole") == 1 and "Amdahl's forecast" in report and "steps/s" in report


@pytest.mark.slow
def test_a_wrong_kernel_differs_in_the_whole(tmp_path: Path) -> None:
    out = published(tmp_path, kernel=("x * scale * weight", "x * scale * weight * 1.01"))
    done = command("apply", out, TRANSFORMER)
    assert done.returncode == 2 and "outputs differ with the package: float32: DIFFERS" in done.stderr
    assert not (out / "whole.json").exists()


def test_without_a_gpu_only_the_fallback_is_checked(package: Path) -> None:
    applied = apply(package, models.Wanted(str(TRANSFORMER)), at=[], measure=False)
    assert [each.served for each in applied.agreements] == [0, 0]
    assert "only its fallback was checked" in (package / "REPORT.md").read_text()
    with pytest.raises(ks.Error, match="no kernel of the package applies on this machine") as raised:
        apply(package, models.Wanted(str(TRANSFORMER)), at=["norm"], measure=True)
    assert raised.value.code == "unsupported"


@pytest.mark.parametrize(("old", "new", "places"), [
    ("self.norm = Norm(width)", "self.norm = Norm(width, 2e-5)", 4),
    ("self.norm = Norm(width)", "self.norm = Norm(width); self.norm.axis = 2", 4),
    ("self.norm = Norm(width)", "self.norm = Norm(width); self.norm.number = 2", 5),
])
def test_modules_with_other_constants_keep_their_own_way(package: Path, tmp_path: Path, old: str, new: str, places: int) -> None:
    other = tmp_path / "other.py"
    other.write_text(TRANSFORMER.read_text().replace(old, new))
    applied = apply(package, models.Wanted(str(other)), at=[], measure=False)
    assert len(applied.places) == places and ("norm" in applied.places) == (places == 5)


def test_modules_that_differ_where_inputs_are_small_are_refused(package: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text(TRANSFORMER.read_text().replace("+ self.eps)", "+ 1.1 * self.eps)"))
    with pytest.raises(ks.Error, match="5 of 5 modules differ from the package: .*times 0.000976562: output 0 is off") as raised:
        apply(package, models.Wanted(str(other)), at=[], measure=False)
    assert raised.value.code == "refused"


def test_a_constant_of_the_profile_is_in_every_document(package: Path) -> None:
    facts = json.loads(next(package.glob("*/package.json")).read_text())
    assert "float eps" in facts["schema"] and facts["constants"] == {
        "arguments": {"eps": [1e-5]}, "attributes": {"eps": "eps"}, "fixed": {"axis": -1}, "literals": []}
    for name in ("REPORT.md", "CHANGE_REQUEST.md"):
        text = (package / name).read_text()
        assert "`eps` is 1e-05, an argument: a call with another value takes the plain path; `axis` is -1, and the kernels fix it" in text


def test_a_swap_that_is_not_in_place_is_no_measurement(package: Path) -> None:
    loaded = models.load(models.Wanted(str(TRANSFORMER)), "cpu")
    places = swap.Places(loaded, imported(package))
    places.require(loaded, in_place=False)
    with pytest.raises(ks.Error, match="the swap is not in place: kernels served 0 of 5"):
        places.require(loaded, in_place=True)


def test_a_swap_keeps_structure_and_attributes(package: Path) -> None:
    loaded = models.load(models.Wanted(str(TRANSFORMER)), "cpu")
    places = swap.Places(loaded, imported(package), ["blocks.0.first"])
    places.put(True)
    swapped = loaded.model.blocks[0].first
    assert swapped is places.swapped["blocks.0.first"] and swapped.weight is places.originals["blocks.0.first"].weight
    places.put(False)
    assert loaded.model.blocks[0].first is places.originals["blocks.0.first"]


def test_errors_accumulate_honestly() -> None:
    exact = [torch.tensor([3.0, 4.0], dtype=torch.float64)]
    assert whole._error([torch.tensor([3.0, 4.5], dtype=torch.float64)], exact) == pytest.approx(0.1)


@pytest.mark.parametrize(("at", "length", "message"), [
    (["nowhere"], "(1, 16)", "the model has no such module"),
    ([], "(1, 8)", "no module of the model fits the package"),
])
def test_places_that_do_not_fit(package: Path, tmp_path: Path, at: list[str], length: str, message: str) -> None:
    other = tmp_path / "other.py"
    other.write_text(TRANSFORMER.read_text().replace("(1, 16)", length))
    with pytest.raises(ks.Error, match=message):
        apply(package, models.Wanted(str(other)), at=at, measure=False)


def test_what_is_no_package(tmp_path: Path) -> None:
    with pytest.raises(ks.Error, match="this is not a package"):
        imported(tmp_path)
    with pytest.raises(ks.Error, match="an interval needs six pairs"):
        production(["apply", str(tmp_path), "m.py", "--pairs", "2"])
