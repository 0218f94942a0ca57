"""Hot spots of a model, and the tasks that are made of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import kernelsmith as ks
import pytest
from kernelsmith import _core
from kernelsmith.production.command import production
from kernelsmith.production.devices import ASSUMED, Device, device_of
from kernelsmith.production.hotspots import amdahl

torch = pytest.importorskip("torch")

from kernelsmith.production import constants, gpu_times, graph, hotspots, models, plannable, task_text, tasks, whole  # noqa: E402
from kernelsmith.production.runtime.lies import lies_of  # noqa: E402
from kernelsmith.production.torch_here import executed  # noqa: E402

MODELS = Path(__file__).parent / "production"
COUNTS = """\
import torch


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(1))

    def forward(self, x):
        self.n.add_(1)
        return (x + 1) * 2 + self.n


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()

    def forward(self, x):
        return self.inner(x)


def get_inputs():
    return [torch.randn(4)]
"""
DECIDES = """\
import torch


class Model(torch.nn.Module):
    def forward(self, x):
        return x if x.sum() > 0 else -x


def get_inputs():
    return [torch.ones(2)]
"""
CONSTANTS = """\
import torch


class Norm(torch.nn.Module):
    def __init__(self, eps):
        super().__init__()
        self.eps, self.heads, self.number, self.unused = eps, 4, 3, 0.5
        self.weight = torch.nn.Parameter(torch.ones(64))

    def forward(self, x):
        self.number, self.unused
        x = x.view(2, self.heads, -1).flatten(1) * 0.125
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm(1e-6)

    def forward(self, x):
        return self.norm(x)


def get_inputs():
    return [torch.randn(2, 64)]
"""
VIEWS = """\
import torch


class Mix(torch.nn.Module):
    def forward(self, q, k, v, scale, rest, mask, twice):
        return torch.where(mask, q * torch.sigmoid(k) + v, 0) * scale + rest * twice


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = Mix()
        mix = self.mix
        self.call = lambda *inputs: mix(*inputs)

    def forward(self, x, scale, rest, mask):
        return self.call(*x.unbind(2), scale, rest, mask, rest)


def get_inputs():
    return [torch.randn(2, 6, 3, 8), torch.randn(6, 1).expand(6, 8), torch.randn(97, dtype=torch.float64)[1:].view(2, 6, 8),
            torch.ones(6, 20).bool()[:, 2:18:2]]
"""
SLOW = Device("slow", memory=1.0, products={"fp32": 1.0, "tf32": 1.0, "half": 1.0}, launch_us=2.0)


def loaded(name: str, **more: object) -> models.Loaded:
    return models.load(models.Wanted(str(MODELS / name), **more), "cpu")  # type: ignore[arg-type]


@pytest.fixture(scope="module", autouse=True)
def unplanned() -> Iterator[None]:
    """Planning takes seconds for each task; a test of its own does it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(tasks, "objection", lambda reference, task: "")
        yield


@pytest.fixture(scope="module")
def profiled(unplanned: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("profile") / "out"
    assert production(["profile", str(MODELS / "transformer.py"), "--out", str(out)]) == 0
    return out


def spots_of(loaded: models.Loaded) -> dict[str, hotspots.HotSpot]:
    return {spot.paths[0]: spot for spot in hotspots.hot_spots(graph.graph_of(loaded), device_of(ASSUMED))}


def test_repeated_modules_are_one_hot_spot_with_a_weight(profiled: Path) -> None:
    told = json.loads((profiled / "profile.json").read_text())
    by_path = {spot["paths"][0]: spot for spot in told["spots"]}
    in_blocks = [f"blocks.{at}.{name}" for at in (0, 1) for name in ("first", "second")]
    assert by_path["blocks.0.first"]["paths"] == [*in_blocks, "norm"]
    assert by_path["blocks.0.attention"]["paths"] == ["blocks.0.attention", "blocks.1.attention"]
    assert {task["name"]: task["weight"] for task in told["tasks"]} == {"norm": 5, "sequential": 2}
    assert told["spots"] == sorted(told["spots"], key=lambda spot: -spot["whole"])


def test_the_table_says_that_no_gpu_was_used(profiled: Path) -> None:
    table = (profiled / "profile.md").read_text()
    assert "an estimate by operator (no GPU here" in table or torch.cuda.is_available()
    assert "| Norm | 5 | 6 |" in table and "blocks.0.first and 4 more | norm |" in table


def test_each_task_is_one_that_kernelsmith_reads_and_equals_its_module(profiled: Path) -> None:
    for name, path in (("norm", "blocks.0.first"), ("sequential", "blocks.1.mlp")):
        folder = profiled / "tasks" / name
        assert ks.Task(folder).backend == "torch"
        made = executed((folder / "reference.py").read_text(), folder, name)
        model, module = made.Model(*made.get_init_inputs()).eval(), loaded("transformer.py").model.get_submodule(path)
        model.load_state_dict(module.state_dict())
        [x] = made.get_inputs()
        torch.testing.assert_close(model(x), module(x))


def test_weights_that_nobody_trained_are_drawn(profiled: Path) -> None:
    text = (profiled / "tasks" / "norm" / "reference.py").read_text()
    assert "drawn((64,), (1,), torch.float32, 0.5, 1.5)" in text
    assert "hidden" not in text and "_assert" not in text


def test_constants_are_named_and_become_arguments_if_they_can(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CONSTANTS)
    made = models.load(models.Wanted(str(tmp_path / "a.py")), "cpu")
    [task] = tasks.write_tasks(made, [spots_of(made)["norm"]], tmp_path / "tasks")
    assert task.folder is not None and made.model.norm.eps == 1e-6
    said = ks.Task(task.folder).description
    assert said.endswith("Constants: eps = 1e-06 (arguments); heads = 4 (kernels are for these values); "
                         "0.125 in mul (the module's code).")
    reference = executed((task.folder / "reference.py").read_text(), task.folder, "reference")
    assert reference.CONSTANTS == {"arguments": {"eps": "eps"}, "fixed": {"heads": 4}, "literals": ["0.125 in mul"]}
    assert reference.get_init_inputs() == [1e-6]
    x, other = torch.randn(2, 64), reference.Model(0.5).eval()
    made.model.norm.eps = 0.5
    other.load_state_dict(made.model.norm.state_dict())
    torch.testing.assert_close(other(x), made.model.norm(x))


def test_tensors_without_values_are_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(CONSTANTS.replace("Norm(1e-6)", "Norm(1e-6).to('meta')"))
    with pytest.raises(ks.Error, match="tensors are on the device meta, so they have no values: norm.weight"):
        models.load(models.Wanted(str(tmp_path / "a.py")), "cpu")


def test_inputs_lie_as_they_were_met(tmp_path: Path) -> None:
    (tmp_path / "views.py").write_text(VIEWS)
    met = models.load(models.Wanted(str(tmp_path / "views.py")), "cpu")
    [task] = tasks.write_tasks(met, [spots_of(met)["mix"]], tmp_path)
    assert task.folder is not None, task.why_not
    drawn = executed((task.folder / "reference.py").read_text(), task.folder, "reference").get_inputs()
    q, k, v = met.args[0].unbind(2)
    assert lies_of(drawn) == lies_of([q, k, v, *met.args[1:], met.args[2]])
    assert drawn[3].stride() == (1, 0) and drawn[1].data_ptr() == drawn[0].data_ptr() + 32 and drawn[4].dtype == torch.float64


def test_a_model_in_another_dtype_is_made_again(tmp_path: Path) -> None:
    """A copy would hold the submodule of the original in its closure."""
    (tmp_path / "closure.py").write_text(VIEWS.replace("self.mix = Mix()", "self.mix = Mix()\n        self.mix.weight = "
                                         "torch.nn.Parameter(torch.randn(8))").replace("rest * twice", "rest * self.weight"))
    met = models.load(models.Wanted(str(tmp_path / "closure.py")), "cpu")
    with torch.no_grad():
        met.model.mix.weight.add_(1)
        own, wide = met.run(), whole._cast(met, torch.float64)
        assert torch.allclose(wide.run(), own.double(), atol=1e-5)
        wide.model.mix.weight.zero_()
        assert not torch.allclose(wide.run(), own.double(), atol=1e-5) and torch.equal(met.run(), own)
    assert [each.stride() for each in wide.args] == [each.stride() for each in met.args]


def test_a_convolutional_network(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert production(["profile", str(MODELS / "convolutions.py"), "--out", str(out)]) == 0
    told = json.loads((out / "profile.json").read_text())
    assert sorted(task["name"] for task in told["tasks"]) == ["gate", "stage", "stage_2"]
    assert not any(task["why_not"] for task in told["tasks"])
    reference = (out / "tasks" / "stage" / "reference.py").read_text()
    assert "getattr(self, '1').running_var" in reference and "self.at1__momentum, self.at1__eps)" in reference


def test_what_operators_compute_and_move() -> None:
    operators = {each.name: each for each in graph.graph_of(loaded("transformer.py")).operators}
    linear = [each for each in graph.graph_of(loaded("transformer.py")).operators if each.name == "aten.linear.default"][0]
    assert linear.flops == {"fp32": 2 * 16 * 64 * 192} and linear.moved == 4 * (16 * 64 + 64 * 192 + 16 * 192)
    assert operators["aten.permute.default"].kernels == 0 and operators["aten.permute.default"].moved == 0
    assert operators["aten.scaled_dot_product_attention.default"].flops == {"fp32": 4 * 4 * 16 * 16 * 16}
    convolution = [each for each in graph.graph_of(loaded("convolutions.py")).operators if "conv2d" in each.name][0]
    assert convolution.flops == {"tf32": 2 * 2 * 16 * 32 * 32 * 3 * 9}


@pytest.mark.parametrize(("allowed", "precision"), [(True, "tf32"), (False, "fp32")])
def test_a_task_has_the_precision_that_its_module_was_met_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, allowed: bool,
                                                              precision: str) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", allowed)
    monkeypatch.setattr(constants, "_read", lambda module, call: {})  # each costs an export
    made = loaded("convolutions.py")
    spots = {spot.paths[0]: spot for spot in hotspots.hot_spots(graph.graph_of(made), device_of(ASSUMED))}
    tasks.write_tasks(made, [spots["stages.0"], spots["gate"]], tmp_path)
    assert f"precision: {precision} " in (tmp_path / "stage" / "task.yaml").read_text()
    assert "precision: fp32 " in (tmp_path / "gate" / "task.yaml").read_text()


def test_a_bound_counts_what_comes_from_outside() -> None:
    spot = hotspots.hot_spots(graph.graph_of(loaded("transformer.py")), SLOW)
    [norm] = [each for each in spot if each.kind == "Norm"]
    assert norm.bound_us == 5 * 4 * (2 * 16 * 64 + 64) and norm.bound == "memory"


def test_amdahl() -> None:
    assert amdahl(0.5, 2) == pytest.approx(4 / 3) and amdahl(0, 9) == 1 and amdahl(1, 9) == pytest.approx(9)


def test_measured_times_take_the_place_of_estimates() -> None:
    times = {"": 100.0, "norm": 20.0, "blocks.0.first": 10.0}
    spots = hotspots.hot_spots(graph.graph_of(loaded("transformer.py")), device_of(ASSUMED), times)
    [norm] = [each for each in spots if each.kind == "Norm"]
    assert norm.time_us == 30 and norm.share == pytest.approx(0.3) and norm.headroom == pytest.approx(30 / norm.bound_us)


def event(name: str, parent: object = None, *kernels: float) -> SimpleNamespace:
    made = [SimpleNamespace(name="kernel", duration=each) for each in kernels]
    return SimpleNamespace(name=name, cpu_parent=parent, kernels=made)


def test_kernels_are_their_modules() -> None:
    step = event("kernelsmith:")
    block = event("kernelsmith:blocks.0", step)
    first = event("kernelsmith:blocks.0.first", event("aten::x", block))
    launches = [event("aten::mul", first, 3.0, 1.0), event("aten::add", block, 2.0), event("aten::fill_", None, 9.0)]
    first.kernels.append(SimpleNamespace(name=first.name, duration=50.0))  # the range, as the GPU's timeline shows it
    events = [step, block, first, *launches]
    assert gpu_times.by_module(events, gpu_times.of_kernels) == {"": 6.0, "blocks.0": 6.0, "blocks.0.first": 4.0}


def test_ranges_of_the_profiler_are_named_after_modules() -> None:
    model = loaded("convolutions.py")
    with gpu_times.marked(model), torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        model.run()
    times = gpu_times.by_module(profiler.events(), lambda each: each.self_cpu_time_total)
    assert times["stages.0"] > times["stages.0.0"] > 0 and times["gate"] > times["gate.weigh"]
    assert not model.model.gate._forward_hooks


def test_a_hot_spot_that_is_no_task_is_named(tmp_path: Path) -> None:
    source = tmp_path / "counts.py"
    source.write_text(COUNTS)
    assert production(["profile", str(source), "--out", str(tmp_path / "out")]) == 0
    [task] = json.loads((tmp_path / "out" / "profile.json").read_text())["tasks"]
    assert task["why_not"] == "the module writes to its inputs or buffers"
    assert not (tmp_path / "out" / "tasks" / "inner").exists()


def test_a_task_that_does_not_equal_its_module_is_not_written() -> None:
    made = loaded("transformer.py")
    call = tasks.recorded(made, ["norm"])["norm"][0]
    program = graph.exported(made.model.norm, call.args, call.kwargs, "norm").run_decompositions({})
    text, _ = constants.with_constants(made.model.norm, call, lambda: task_text.reference_of(program, list(call.args), "Norm", "here"))
    tasks.check(text, program, list(call.args), call, Path("reference.py"))
    with pytest.raises(ks.Error, match="does not equal its module"):
        tasks.check(text.replace("1e-05", "1e-01"), program, list(call.args), call, Path("reference.py"))


@pytest.mark.slow
def test_a_transformers_configuration(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    configuration = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 32,
                     "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
                     "vocab_size": 50}
    (tmp_path / "config.json").write_text(json.dumps(configuration))
    made = models.load(models.Wanted(str(tmp_path), batch=2, length=8, dtype="bf16"), "cpu")
    assert made.tokens == 16 and made.run().logits.dtype == torch.bfloat16
    assert any(path.endswith("self_attn") for path in spots_of(made))


@pytest.mark.parametrize(("model", "text", "message"), [
    ("nowhere.py", None, "the file cannot be read"),
    ("a.py", "import nothing_of_this_name", "the file raised ModuleNotFoundError"),
    ("a.py", "x = 1", "the file defines no Model"),
    ("a.bin", None, "this is not a model"),
    ("config.json", "{", "the configuration cannot be read"),
    ("a.py", DECIDES, "the model cannot be exported"),
])
def test_models_that_cannot_be_profiled(tmp_path: Path, model: str, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / model).write_text(text)
    with pytest.raises(ks.Error, match=message):
        production(["profile", str(tmp_path / model), "--out", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


def test_a_class_needs_inputs_and_a_gpu_a_name(tmp_path: Path) -> None:
    with pytest.raises(ks.Error, match="a class has no inputs of its own"):
        models.load(models.Wanted("torch.nn:Linear"), "cpu")
    (tmp_path / "inputs.py").write_text("import torch\ndef get_init_inputs():\n    return [4, 3]\n"
                                        "def get_inputs():\n    return {'input': torch.ones(2, 4)}\n")
    assert models.load(models.Wanted("torch.nn:Linear", tmp_path / "inputs.py"), "cpu").run().shape == (2, 3)
    with pytest.raises(ks.Error, match="the peaks of 'GPU X' are unknown"):
        device_of("GPU X")


def test_a_module_with_keywords_and_a_tuple_becomes_a_task(tmp_path: Path) -> None:
    made = loaded("transformer.py")
    [spot] = [each for each in hotspots.hot_spots(graph.graph_of(made), device_of(ASSUMED)) if each.kind == "Attention"]
    [task] = tasks.write_tasks(made, [spot], tmp_path)
    text = (tmp_path / "attention" / "reference.py").read_text()
    assert task.folder == tmp_path / "attention" and "def forward(self, x):" in text
    assert "torch.nn.functional.scaled_dot_product_attention(" in text and "True" in text
    assert "torch.reshape(" in text and "aten.view" not in text  # fp64 attention on a GPU is not laid out like bf16's


def test_a_hot_spot_that_cannot_be_planned_stops_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "objection", lambda reference, task: "not_allowed: it draws" if "name: gate" in task else "")
    monkeypatch.setattr(constants, "_read", lambda module, call: {})  # each costs an export
    made = loaded("convolutions.py")
    spots = {spot.paths[0]: spot for spot in hotspots.hot_spots(graph.graph_of(made), device_of(ASSUMED))}
    gate, stage = tasks.write_tasks(made, [spots["gate"], spots["stages.0"]], tmp_path)
    assert gate.folder is None and gate.why_not == "it cannot be planned: not_allowed: it draws"
    assert not (tmp_path / "gate").exists() and stage.folder == tmp_path / "stage"


@pytest.mark.slow
@pytest.mark.skipif(not (Path(ks.__file__).parent / "bin" / "kernelsmith").exists(), reason="the executable is missing")
def test_a_hot_spot_that_cannot_be_planned_is_named() -> None:
    reference = DECIDES + "\n\ndef get_init_inputs():\n    return []\n"
    about = _core.problem_yaml("a", policy="any")
    assert plannable.objection(reference, about).startswith("plan_failed: ")
    made = loaded("transformer.py")
    call = tasks.recorded(made, ["blocks.0.attention"])["blocks.0.attention"][0]
    program = graph.exported(made.model.blocks[0].attention, call.args, call.kwargs, "attention").run_decompositions({})
    text, _ = constants.with_constants(made.model.blocks[0].attention, call,
                                       lambda: task_text.reference_of(program, list(call.args), "Attention", "here"))
    assert plannable.objection(text, about) == ""
