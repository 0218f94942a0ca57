"""One clear error for each bad input."""

import sys
from dataclasses import replace

import kernelsmith as ks
import pytest
from dataset_runs import MIT, files, lines, searched, task_facts
from kernelsmith.learning.dataset import Settings, export, journal


def fails(code, words, runs, out, **options):
    with pytest.raises(ks.Error, match=words) as failed:
        export(runs, out, Settings(**{"kind": "sft", "format": "jsonl", "licences": MIT, **options}))
    assert failed.value.code == code and failed.value.where
    return failed.value


def test_a_run_without_texts_is_one_error(tmp_path):
    run = searched(tmp_path / "a.run", 5, text=False)
    assert "proposer.keep.text" in fails("bad_input", "kept no replies", [run], tmp_path / "out").hint
    assert not (tmp_path / "out").exists()


def test_mixed_hardware_is_an_error_unless_it_is_asked_for(runs, tmp_path):
    more = [runs[1], searched(tmp_path / "gpu.run", 12, hardware="GPU")]
    assert "--mixed-hardware" in fails("bad_input", r"different hardware: CPU \(.*; GPU \(", more, tmp_path / "out").hint
    assert {row["hardware"] for row in lines(more, tmp_path / "out", "sft", mixed_hardware=True)} == {"CPU", "GPU"}


def test_a_reference_without_a_licence_is_an_error_and_a_named_one_stands(runs, tmp_path, monkeypatch):
    assert "--licence 'python=...'" in fails("bad_input", "task's program names no licence", runs, tmp_path,
                                             licences={}).hint
    rows = lines(runs, tmp_path / "rows", "sft", licences={"": "MIT", "python": "CC-BY-4.0"})
    assert {row["licence"] for row in rows} == {"CC-BY-4.0"}
    monkeypatch.setattr(journal, "read_task", lambda run, seed: task_facts())
    assert {row["licence"] for row in lines(runs, tmp_path / "own", "sft", licences={"": "other"})} == {"MIT"}


def test_a_task_without_a_baseline_cannot_be_compared_with_one(runs, tmp_path, monkeypatch):
    read = journal._verdict
    monkeypatch.setattr(journal, "_verdict", lambda evaluation: replace(read(evaluation), speedup=None))
    assert "--over" in fails("bad_input", "task python: the task has no baseline", runs, tmp_path, over="baseline").hint
    assert lines(runs, tmp_path / "rows", "sft", over="parent")


def test_a_preset_without_its_columns_is_an_error(runs, tmp_path):
    fails("bad_input", "hold a PyTorch module", runs, tmp_path, preset="drkernel")
    assert fails("invalid_argument", "no columns for preference", runs, tmp_path, preset="kernel-smith", kind="preference")


def test_a_broken_parquet_file_is_one_error_and_is_written_anew_once_it_is_deleted(runs, tmp_path):
    pytest.importorskip("pyarrow")
    settings = {"format": "parquet", "shard_rows": 6}
    made = export(runs, tmp_path, Settings(kind="sft", licences=MIT, **settings))
    whole, broken = files(tmp_path), tmp_path / made.files[1]
    broken.write_bytes(broken.read_bytes()[:-20])
    assert "delete it" in fails("corrupt", "Parquet file is broken", runs, tmp_path, **settings).hint
    broken.unlink()
    export(runs, tmp_path, Settings(kind="sft", licences=MIT, **settings))
    assert files(tmp_path) == whole


def test_other_exports_and_other_files_are_not_written_over(runs, tmp_path):
    export(runs, tmp_path / "out", Settings(kind="sft", format="jsonl", licences=MIT))
    for changed in ({"kind": "preference"}, {"over": "baseline"}, {"licences": {"": "BSD"}}):
        fails("invalid_argument", "holds an export of other runs", runs, tmp_path / "out", **changed)
    fails("invalid_argument", "holds an export of other runs", runs[:1], tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "README.md").write_text("mine")
    fails("invalid_argument", "not empty", runs, tmp_path / "mine")


def test_wrong_use_is_an_error(runs, tmp_path):
    fails("invalid_argument", "these are one run", [runs[0], runs[0]], tmp_path)
    fails("invalid_argument", "no run is named", [], tmp_path)
    fails("not_found", "no run", [tmp_path / "none"], tmp_path)
    for wrong in ({"kind": "dpo"}, {"per_task": 0}, {"turns": 1}, {"test_share": 1}, {"similar": 0}, {"format": "csv"},
                  {"steps": "all"}, {"parent_speedup": 0}):
        fails("invalid_argument", "it is", runs, tmp_path, **wrong)


def test_no_rows_are_an_error_that_counts_the_rules(runs, tmp_path):
    fails("bad_input", r"no step passes the rules of multiturn \(.*\d+ no gain", [searched(tmp_path / "a.run", 4)],
          tmp_path / "out", kind="multiturn", any_form=True)


def test_parquet_without_pyarrow_says_what_to_install(runs, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "'.[learning]'" in fails("not_found", "needs pyarrow", runs, tmp_path, format="parquet").hint
    assert lines(runs, tmp_path / "lines", "sft")
