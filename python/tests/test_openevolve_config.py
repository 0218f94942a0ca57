"""OpenEvolve's configuration as kernelsmith.openevolve reads it, and the table of its keys."""

from __future__ import annotations

import dataclasses
import os
import re
from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="OpenEvolve's configurations need PyYAML: pip install PyYAML")

import kernelsmith as ks
from kernelsmith.openevolve.axes import axes_for, cell_of
from kernelsmith.openevolve.config import Config, load_config, models_of
from kernelsmith.openevolve.host import difference
from kernelsmith.openevolve.keys import KEYS, MODEL_KEYS
from kernelsmith.openevolve.sections import LLMModelConfig
from kernelsmith.openevolve.settings import settings_for

SOURCE = Path(os.environ.get("KERNELSMITH_SOURCE", Path(__file__).resolve().parent.parent.parent))


def read(tmp_path: Path, text: str) -> Config:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    return load_config(file)


def test_what_a_file_leaves_out_has_openevolves_default() -> None:
    config = Config()
    assert (config.max_iterations, config.llm.temperature, config.database.feature_dimensions) == (
        10000, 0.7, ["complexity", "diversity"])
    config.database.feature_dimensions.append("changed")
    assert Config().database.feature_dimensions == ["complexity", "diversity"]


def test_keys_that_do_nothing_are_named_once_with_their_line(tmp_path: Path) -> None:
    config = read(tmp_path, """\
max_iterations: 7
evaluator:
  cpu_limit: 2.0
  distributed: false
database:
  num_islnds: 3
llm:
  models:
    - name: a
      retry_delay: 9
      nonsense: 1
""")
    file = tmp_path / "config.yaml"
    assert config.max_iterations == 7
    assert config.warnings == [
        f"{file}:3: 'evaluator.cpu_limit' does nothing here: evaluator.timeout",
        f"{file}:6: unknown key 'database.num_islnds': did you mean database.num_islands?",
        f"{file}:10: 'retry_delay' of a model does nothing here: pauses grow from 1 s with jitter, and a server's own "
        "Retry-After is kept",
        f"{file}:11: unknown key 'llm.models.0.nonsense': OpenEvolve 0.4.1 has no such key either; take it out"]


@pytest.mark.parametrize(("text", "line", "says"), [
    ("llm: {model: x}", 1, "llm.primary_model"),
    ("a: 1\nmax_iterations: many", 2, "a number"),
    ("diff_pattern: '('", None, "regular expression"),
    ("full_rewrite_probability: 2", None, "from 0 to 1"),
    ("database:\n  num_islands: 0", None, "at least 1"),
    ("database: 3", 1, "a section"),
    ("llm:\n  models:\n  - weight: 2", 3, "a name"),
    ("a: [1", 1, "not YAML"),
    ("prompt: {island_system_messages: [a, b, c, d, e, f]}", None, "num_islands"),
    ("evolution_trace: {format: hdf5}", None, "jsonl and json"),
])
def test_what_is_wrong_is_said_with_its_place(text: str, line: int | None, says: str, tmp_path: Path) -> None:
    with pytest.raises(ks.Error) as caught:
        read(tmp_path, text)
    assert caught.value.code == "bad_input"
    assert says in f"{caught.value.message} {caught.value.hint}"
    if line is not None:
        assert caught.value.where == f"{tmp_path / 'config.yaml'}:{line}"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ks.Error) as caught:
        load_config(tmp_path / "none.yaml")
    assert caught.value.code == "not_found"


def test_models_take_what_the_section_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY_OF_TESTS", "secret")
    config = read(tmp_path, """\
llm:
  api_base: http://localhost:1/v1
  api_key: ${A_KEY_OF_TESTS}
  temperature: 0.1
  primary_model: p
  secondary_model: s
  models:
    - {name: m, weight: 3, temperature: 0.9, api_base: "http://localhost:2/v1"}
""")
    found = [(one.name, one.weight, one.temperature, one.api_base, one.api_key, one.max_tokens)
             for one in models_of(config)]
    assert found == [("m", 3, 0.9, "http://localhost:2/v1", "secret", 4096),
                     ("p", 1.0, 0.1, "http://localhost:1/v1", "secret", 4096),
                     ("s", 0.2, 0.1, "http://localhost:1/v1", "secret", 4096)]
    monkeypatch.delenv("A_KEY_OF_TESTS")
    with pytest.raises(ks.Error, match="A_KEY_OF_TESTS"):
        models_of(config)


def test_an_ensemble_needs_models_that_can_be_asked() -> None:
    config = Config()
    with pytest.raises(ks.Error, match="--primary-model"):
        models_of(config)
    config.llm.models = [LLMModelConfig(name="a", provider="claude_code")]
    with pytest.raises(ks.Error, match="provider"):
        models_of(config)
    config.llm.models = [LLMModelConfig(name="a", weight=-1)]
    with pytest.raises(ks.Error, match="weight"):
        models_of(config)
    with pytest.raises(TypeError):
        LLMModelConfig(nome="a")


def test_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = read(tmp_path, "prompt: {template_dir: own}\ndatabase: {island_initial_programs: [null, b.py]}")
    assert config.prompt.template_dir == str(tmp_path / "own")
    assert config.database.island_initial_programs == [None, str(tmp_path / "b.py")]


def test_the_search_that_a_configuration_stands_for() -> None:
    config = Config()
    config.max_iterations = 1000
    settings = settings_for(config, [])
    assert (settings["random_seed"], settings["deterministic"], settings["islands"]["count"]) == (42, True, 5)
    assert settings["migration"] == {"kind": "best", "period": 0.25, "count": 5}
    assert settings["sampler"]["top"] == 5 and settings["sampler"]["weighted"] == pytest.approx(0.1)
    config.random_seed = config.database.random_seed = None
    assert settings_for(config, [])["deterministic"] is False


def test_the_documents_table_is_the_data() -> None:
    text = (SOURCE / "docs" / "openevolve.md").read_text(encoding="utf-8")
    told = dict(re.findall(r"^\| `([^`]+)` \|(.*)\|$", text, re.MULTILINE))
    wanted = {key.path: key.use for key in KEYS if key.use and key.honoured}
    assert {path: row.strip() for path, row in told.items() if "." in path or path in wanted} == wanted


def test_the_document_names_the_keys_without_an_effect() -> None:
    text = (SOURCE / "docs" / "openevolve.md").read_text(encoding="utf-8").split("keys without an effect |")[1]
    told = {(section.strip("`") + "." if section != "(none)" else "") + name
            for section, row in re.findall(r"^\| (\S+) \|(.*)\|$", text.split("All other keys")[0], re.MULTILINE)
            for name in re.findall("`([^`]+)`", row)}
    assert told == {key.path for key in KEYS if not key.honoured}


def test_small_edits_lie_in_different_cells() -> None:
    """A program of 60 lines, and children as models write them."""
    seed = "".join(f"    total += weight[{at}] * value\n" for at in range(60))
    axes = axes_for(Config(), seed, {})
    lines = seed.splitlines(keepends=True)
    children = [seed, "".join(["    total = 0\n", *lines[1:]]), "".join([*lines[:55], *["    pass\n"] * 5]),
                "".join([*lines, *["    if total > 9:\n", "        break\n"] * 4]), "".join(lines[:40]), "x = 1\n" * 60]
    cells = [cell_of(axes, {"ks_length": len(one), "ks_difference": difference(one, seed)}) for one in children]
    assert len(set(cells)) == len(children), cells
    assert all(edges == sorted(set(edges)) and len(edges) == 11 for edges in (axis["edges"] for axis in axes))


def test_an_axis_of_a_metric_is_finest_at_the_initial_programs_value() -> None:
    config = Config()
    config.database.feature_dimensions, config.database.feature_bins = ["speed", "loss", "share"], {"speed": 4, "loss": 1}
    speed, loss, share = axes_for(config, "", {"ks_speed": 200.0, "ks_loss": -3.0, "ks_share": 0.5})
    assert [round(edge) for edge in speed["edges"]] == [0, 169, 200, 231, 400]
    assert loss["edges"] == pytest.approx([-6.0, 0.0]) and share["edges"] == [at / 10 for at in range(11)]
    old = {"feature": "ks_speed", "scale": "logarithmic", "low": 1.0, "high": 16.0, "bins": 4}
    assert cell_of([old, speed], {"ks_speed": 5.0}) == "2-0"


def test_keys_and_defaults_are_openevolves() -> None:
    """With OpenEvolve 0.4.1 beside this package."""
    theirs = pytest.importorskip("openevolve.config", reason="needs openevolve==0.4.1")
    found = {}
    for one in dataclasses.fields(config := theirs.Config()):
        value = getattr(config, one.name)
        if dataclasses.is_dataclass(value):
            found |= {f"{one.name}.{inner.name}": getattr(value, inner.name) for inner in dataclasses.fields(value)}
        else:
            found[one.name] = value
    assert {key.path: key.default for key in KEYS} == {
        path: value for path, value in found.items() if not path.startswith("llm._")}
    assert {key.path for key in MODEL_KEYS} == {
        one.name for one in dataclasses.fields(theirs.LLMModelConfig) if not one.name.startswith("_")}
