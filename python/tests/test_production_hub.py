"""The layout of Hugging Face's `kernels`. With `kernels` installed its own checks run: build.toml, loading, layers."""

from __future__ import annotations

import ast
import json
import shutil
from pathlib import Path
from typing import Any

import hub_build
import kernelsmith as ks
import packages
import pytest
from kernelsmith._files import toml_of

torch = pytest.importorskip("torch")
pytest.importorskip("triton")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hub")
    run = packages.run_of(folder / "a.run")
    assert packages.publish(run, "--as", "hf-kernel", "--out", folder / "out", "--repo-id", "me/rms-norm") == 0
    return folder / "out"


def test_the_build_file(project: Path) -> None:
    build = toml_of(project / "build.toml")
    general = {"name": "rms-norm", "version": 1, "edition": 5, "license": "apache-2.0", "backends": ["cuda"]}
    assert build == {"general": {**general, "hub": {"repo-id": "me/rms-norm"}},
                     "torch-noarch": {"pyext": ["json", "py"], "cuda_capabilities": ["9.0"]}}


def test_the_operator_is_registered_under_the_builders_namespace(project: Path) -> None:
    home = project / "torch-ext" / "rms_norm"
    [named] = [node for node in ast.parse((home / "op.py").read_text()).body
               if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "_qualified"]
    assert ast.unparse(named.value) == "add_op_namespace_prefix(FACTS['name'])"  # type: ignore[arg-type]
    assert not (home / "_ops.py").exists() and (home / "__init__.py").exists() and not (home / "rms_norm").exists()


def test_provenance_goes_with_the_kernel(project: Path) -> None:
    [bucket] = json.loads((project / "torch-ext" / "rms_norm" / "package.json").read_text())["buckets"]
    assert len(bucket["run"]) == 32 and len(bucket["task_digest"]) == len(bucket["archive"]) == 64


def test_the_card_names_constants_and_what_was_tested(project: Path) -> None:
    card = (project / "CARD.md").read_text()
    assert "`eps` is 1e-05, an argument: a call with another value takes the plain path" in card and "--force" not in card
    assert "not run: kernel-builder builds the package first" in card


def test_a_layer_needs_the_constructors_arguments(tmp_path: Path) -> None:
    run = packages.run_of(tmp_path / "a.run", reference=("        self.width = width\n", ""))
    assert packages.publish(run, "--as", "hf-kernel", "--out", tmp_path / "out") == 0
    assert "class" not in (tmp_path / "out" / "torch-ext" / "rms_norm" / "layers.py").read_text()


def test_a_licence_is_needed(tmp_path: Path) -> None:
    run = packages.run_of(tmp_path / "a.run", reference=("# SPDX-License-Identifier: Apache-2.0\n", ""))
    with pytest.raises(ks.Error, match="no licence is known"):
        packages.publish(run, "--as", "hf-kernel", "--out", tmp_path / "out")


# As `kernelize` puts a layer's forward into modules: the first is what the kernel was made for, the others nearly.
IN_MODELS = """
import types, warnings, torch, rms_norm
from rms_norm import state

class Norm(torch.nn.Module):
    def __init__(self, eps, more, width=64):
        super().__init__()
        self.width, self.eps, self.more, self.weight = 64, eps, more, torch.nn.Parameter(torch.rand(width), False)
    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-5) * (self.more + self.weight)

served = []
own = state.Lent.__call__
state.Lent.__call__ = lambda lent, *rest: (served.append(type(lent.module).__name__), own(lent, *rest))[1]
for module, x in ((Norm(1e-5, 0), torch.ones(16, 64)), (Norm(1e-5, 1), torch.ones(16, 64)), (Norm(2e-5, 1), torch.ones(16, 64)),
                  (Norm(1e-5, 1), torch.ones(15, 64))):
    wanted = module(x)
    module.forward = types.MethodType(rms_norm.layers.RmsNorm.forward, module)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        module(x)
    served.clear()
    torch.testing.assert_close(module(x), wanted)
    print(served.count("ModelNew"), len(said), *[str(each.message) for each in said])
"""


def test_a_layer_serves_only_modules_that_it_agrees_with(project: Path, tmp_path: Path) -> None:
    package = tmp_path / "rms_norm"
    shutil.copytree(project / "torch-ext" / "rms_norm", package)
    (package / "_ops.py").write_text(hub_build.OPS.replace("UNIQUE", "_rms_norm_test"))
    done = packages.python("-c", IN_MODELS, folder=tmp_path)
    right, wrong, guarded, other_size = done.stdout.splitlines()
    assert right == "1 0" and guarded == "0 0" and other_size == "0 0", done.stderr
    assert wrong.startswith("0 1 rms_norm is not for Norm, which keeps its own forward: inputs times 1: output 0 is off by")


def test_their_checks_accept_it(project: Path) -> None:
    kernels = pytest.importorskip("kernels")
    from kernels._rust import Build  # type: ignore[import-not-found]

    Build.open(project)
    loaded = kernels.get_local_kernel(hub_build.built(project, "rms_norm", "cpu"))
    x, weight = torch.randn(16, 64), torch.rand(64)
    expected = torch.nn.functional.rms_norm(x, (64,), weight, 1e-5)
    torch.testing.assert_close(loaded.rms_norm(x, weight, 64, 1e-5), expected)

    @kernels.use_kernel_forward_from_hub("RmsNorm")
    class Norm(torch.nn.Module):  # type: ignore[name-defined,misc]
        def __init__(self) -> None:
            super().__init__()
            self.width, self.eps, self.weight = 64, 1e-5, torch.nn.Parameter(weight)

        def forward(self, x: Any) -> Any:
            return torch.nn.functional.rms_norm(x, (64,), self.weight, self.eps)

    repository = kernels.LocalLayerRepository(repo_path=project, layer_name="RmsNorm")
    with kernels.use_kernel_mapping({"RmsNorm": {"cpu": repository}}):
        model = kernels.kernelize(Norm(), device="cpu", mode=kernels.Mode.INFERENCE | kernels.Mode.TORCH_COMPILE)
    assert type(model).forward is not model.forward.__func__
    torch.testing.assert_close(model(x), expected)
