"""Exports of real runs: what stands in the files, and the command."""

import hashlib
import json
import re
import sys

import kernelsmith as ks
import pytest
import support
from dataset_runs import MIT, RELU, lines, searched, task_facts
from kernelsmith.learning.dataset import Settings, export, journal
from kernelsmith.learning.dataset.bar import Bar
from kernelsmith.learning.dataset.card import _cell
from kernelsmith.learning.dataset.columns import COLUMNS
from kernelsmith.learning.dataset.plain import plain, plain_reply

KINDS = ["sft", "rl", "multiturn", "preference"]


@pytest.fixture
def relu(monkeypatch):
    """Every run is of the task relu, a PyTorch module."""
    monkeypatch.setattr(journal, "read_task", lambda run, seed: task_facts())


@pytest.mark.parametrize("kind", KINDS)
def test_rows_have_the_columns_of_their_kind_and_what_the_model_saw(runs, tmp_path, kind):
    rows = lines(runs, tmp_path / "rows", kind, per_task=3)
    assert rows and all(list(row) == list(COLUMNS[kind]) for row in rows)
    stored = {run.id: run for run in map(ks.Run.open, runs)}
    for row in rows:
        reply = plain_reply(stored[row["run"]].replies([row["ticket"]])[0])
        prompt = [("system", reply["system"]), ("user", reply["user"])]
        said = [(one["role"], one["content"]) for one in row.get("messages") or row["prompt"] + row.get("chosen", [])]
        if kind == "multiturn":
            assert [role for role, _ in said] == ["system"] + ["user", "assistant"] * row["turns"]
            assert said[-1] == ("assistant", reply["text"]) and '"status": "completed"' in said[-2][1]
            first = plain_reply(stored[row["run"]].replies([row["turn_tickets"][0]])[0])
            assert said[:2] == [("system", first["system"]), ("user", first["user"])]
        else:
            assert said == prompt + [("assistant", reply["text"])] * (kind != "rl")


def test_gains_agree_with_the_journal(runs, tmp_path):
    programs = {(run.id, row["id"]): row for run in map(ks.Run.open, runs) for row in run.programs()}
    rows = lines(runs, tmp_path / "rows", "sft")
    for row in rows:
        child = programs[row["run"], row["ticket"]]
        parent = programs[row["run"], child["parents"][0]]
        assert child["accepted"] and child["low"] > parent["high"]
        if row["gain_by"] == "yardstick":
            assert row["gain"] == pytest.approx(child["fitness"] / parent["fitness"])
    assert "yardstick" in {row["gain_by"] for row in rows}


def test_rl_rows_are_verl_s_and_trl_s(runs, tmp_path, relu):
    row = lines(runs, tmp_path / "rows", "rl")[0]
    assert row["data_source"] == "kernel_rl" and row["agent_name"] == "ks_kernel" and row["ability"] == "kernel_optimization"
    assert row["reward_model"]["style"] == "rule"
    assert json.loads(row["reward_model"]["ground_truth"]) == {"reference_code": row["reference_code"]} == {
        "reference_code": RELU}
    extra = row["extra_info"]
    assert set(extra) == {"entry_point", "parent_code", "parent_speedup", "parent_binary", "uuid", "task", "index", "split"}
    assert extra["parent_code"] == row["parent_code"] and row["parent_code"] in row["prompt"][1]["content"]
    assert float(row["parent_code"].split()[2]) == row["parent_speedup"] and extra["index"] == 0
    assert row["parent_binary"] == extra["parent_binary"] == hashlib.sha256(row["parent_code"].encode()).hexdigest()


def test_rl_rows_of_three_runs_start_from_accelerated_parents(tmp_path):
    three = [searched(tmp_path / f"{name}.run", 60, name=name) for name in "abc"]
    best = lines(three, tmp_path / "best", "rl")
    assert [row["parent_speedup"] >= 1.2 and row["speedup_low"] > row["parent_speedup"] for row in best] == [True] * 3
    initial = lines(three, tmp_path / "initial", "rl", steps="initial")
    gains = {row["run"]: row["gain_low"] for row in best}
    assert all(row["gain_low"] >= gains[row["run"]] for row in initial) and any(row["parent_speedup"] < 1.2 for row in initial)


def test_programs_that_repeat_a_binary_are_in_no_row(tmp_path):
    run = searched(tmp_path / "a.run", 100, equal_binaries=True)
    programs = {row["id"] for row in ks.Run.open(run).programs()}
    evaluated = {event["program"] for event in ks.Run.open(run).events() if event.get("source") == "evaluated"}
    assert programs < evaluated, "the journal says of some that they were evaluated, although they repeat a binary"
    for kind in KINDS:
        assert {row["ticket"] for row in lines([run], tmp_path / kind, kind, per_task=9)} <= programs


def test_no_selected_prompt_holds_a_selected_child(runs, tmp_path):
    rows = lines(runs, tmp_path / "rows", "rl", per_task=20)
    stored = {run.id: run for run in map(ks.Run.open, runs)}
    children = [stored[row["run"]].program(row["ticket"]).source.text.strip() for row in rows]
    assert len(rows) >= 4
    for row in rows:
        shown = "".join(message["content"] for message in row["prompt"])
        assert not any(child in shown for child in children)


def test_texts_are_what_the_model_wrote(runs, tmp_path):
    said = [row["messages"][-1]["content"] for row in lines(runs, tmp_path / "rows", "sft")]
    assert {text.split(":")[0] for text in said} == {"Ü", "base64"} and all("Ü: fewer passes." in text for text in said)
    assert plain("base64:/w==") == "\udcff" and plain("base64:YmFzZTY0Og==") == "base64:" and plain("text") == "text"


@pytest.mark.parametrize(("preset", "kind", "columns"), [
    ("kernel-smith", "sft", "_id messages"),
    ("kernel-smith", "rl", "data_source message reward_model extra_info"),
    ("drkernel", "rl", "data_source prompt ability reward_model extra_info"),
    ("drkernel", "multiturn", "messages uuid entry_point repo_name module_name final_speedup num_rounds "
                              "original_python_code best_round timestamp conversion_mode enable_thinking"),
])
def test_presets_have_the_published_columns(runs, tmp_path, relu, preset, kind, columns):
    row = lines(runs, tmp_path / "rows", kind, preset=preset)[0]
    assert list(row) == columns.split()
    if kind == "rl":
        assert set(row["extra_info"]) == set({
            "kernel-smith": "entry_point parent_code",
            "drkernel": "entry_point level module_name ops original_prompt repo_name type uuid"}[preset].split())


def test_parquet_holds_the_same_rows_as_json_lines(runs, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    for kind in KINDS:
        out = tmp_path / kind
        made = export(runs, out, Settings(kind=kind, format="both", licences=MIT, shard_rows=5, per_task=9))
        tables = [parquet.read_table(out / name) for name in made.files if name.endswith(".parquet")]
        assert len({table.schema for table in tables}) == 1 and all(table.num_rows <= 5 for table in tables)
        written = [row for name in made.files if name.endswith(".jsonl") for row in map(json.loads, (out / name).open())]
        assert [row for table in tables for row in table.to_pylist()] == written
        assert len(written) == sum(made.rows.values())


def test_splits_are_by_task(runs, tmp_path, monkeypatch):
    tasks = iter(range(1000))
    monkeypatch.setattr(journal, "read_task", lambda run, seed: task_facts(f"task {next(tasks)}"))
    rows = lines(runs, tmp_path / "some", "sft", test_share=0.5)
    splits = {}
    for row in rows:
        splits.setdefault(row["task"], set()).add(row["uuid"].split("-")[0])
    made = export(runs, tmp_path / "again", Settings(kind="sft", format="jsonl", licences=MIT, test_share=0.99))
    assert made.rows["train"] == 0 and made.rows["test"] == len(rows)
    assert all(len(found) == 1 for found in splits.values()) and len(splits) == 2


def test_tasks_of_a_benchmark_are_dropped_and_listed(runs, tmp_path, monkeypatch):
    facts = iter([task_facts(), task_facts("scan", RELU.replace("relu(x)", "cumsum(x.flip(0), 0)"))])
    monkeypatch.setattr(journal, "read_task", lambda run, seed: next(facts))
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "19_ReLU.py").write_text(RELU.replace("(x)", "(inputs)").replace(" x)", " inputs)"))
    rows = lines(runs, tmp_path / "rows", "sft", against=tmp_path / "bench")
    assert {row["task"] for row in rows} == {"scan"}
    [dropped] = map(json.loads, (tmp_path / "rows" / "dropped.jsonl").open())
    assert dropped["task"] == "relu" and dropped["file"] == "19_ReLU.py" and dropped["similarity"] == 1.0
    assert "1 task with" in (tmp_path / "rows" / "README.md").read_text()


def test_a_task_without_a_reference_has_no_level_and_is_not_compared(runs, tmp_path):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "19_ReLU.py").write_text(RELU)
    made = export(runs, tmp_path / "rows", Settings(kind="sft", format="jsonl", licences=MIT, against=tmp_path / "bench"))
    [row, *_] = [json.loads(line) for line in (tmp_path / "rows" / made.files[0]).open()]
    assert row["family"] is None and row["level"] is None and made.uncompared == 2
    card = (tmp_path / "rows" / "README.md").read_text()
    assert "Not compared: 2 tasks without a reference in" in card and f"| unknown | {made.rows['train']} |" in card


def test_a_reference_in_another_language_than_the_benchmark_s_is_not_compared(runs, tmp_path, monkeypatch):
    square = "float f(float x) { return x * x; }\n"
    monkeypatch.setattr(journal, "read_task", lambda run, seed: task_facts(f"square {seed[-2]}", square + f"// {seed}"))
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "19_ReLU.py").write_text(RELU)
    options = {"kind": "sft", "format": "jsonl", "licences": MIT, "against": tmp_path / "bench"}
    assert export(runs, tmp_path / "rows", Settings(**options)).uncompared == 2
    (tmp_path / "bench" / "cube.cpp").write_text("float f(float x, int n) { for (;;) x *= x * x; return x; }\n")
    assert export(runs, tmp_path / "more", Settings(**options)).uncompared == 0


@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_of_the_card_agree(runs, tmp_path, kind):
    made = export(runs, tmp_path / "rows", Settings(kind=kind, format="jsonl", licences=MIT))
    sums = {}
    card = (tmp_path / "rows" / "README.md").read_text()
    for part in card.split("\n## ")[1:]:
        title, *table = part.splitlines()
        sums[title] = sum(map(int, re.findall(r"\| (\d+) \|$", "\n".join(table), re.MULTILINE)))
    in_a_row = int(card.partition("| in a row | ")[2].partition(" ")[0])
    assert {sums[name] for name in ("Families", "Difficulty", "Hardware", "Toolchains", "Models")} == {in_a_row}
    assert sums["Steps by rule"] == in_a_row + sum(count for _, count in made.dropped)
    assert sums["Rows"] == sum(made.rows.values()) and sums["Versions of kernelsmith that searched"] == len(runs)


def test_another_benchmark_is_another_export(runs, tmp_path, monkeypatch):
    monkeypatch.setattr(journal, "read_task", lambda run, seed: task_facts() if seed.endswith("# a\n") else
                        task_facts("scan", RELU.replace("relu(x)", "cumsum(x, 0)")))
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "one.py").write_text(RELU)
    lines(runs, tmp_path / "rows", "sft", against=tmp_path / "bench")
    (tmp_path / "bench" / "one.py").rename(tmp_path / "bench" / "\udcff.py")
    with pytest.raises(ks.Error, match="an export of other runs, or with other options"):
        lines(runs, tmp_path / "rows", "sft", against=tmp_path / "bench")


def test_the_card_counts_every_step_once(runs, tmp_path):
    for kind in KINDS:
        lines(runs, tmp_path / kind, kind)
        card = (tmp_path / kind / "README.md").read_text()
        table = card.split("## Steps by rule")[1].split("\n## ")[0]
        counts = [int(line.split("|")[2]) for line in table.splitlines() if line.endswith(" |") and line[2:6] != "rule"]
        asked = [event for run in runs for event in ks.Run.open(run).events() if "op" in event]
        assert sum(counts) == len(asked)
        assert "| MIT | 2 |" in card and "| CPU |" in card and f"- kernelsmith {ks.__version__}" in card


def test_the_card_counts_what_pairs_are_worth(runs, tmp_path):
    rows = lines(runs, tmp_path / "pairs", "preference")
    card = (tmp_path / "pairs" / "README.md").read_text()
    same = sum(row["same_prompt"] for row in rows)
    for name, count in (("the same prompt", same), ("different prompts", len(rows) - same)):
        assert (f"| {name} | {count} |" in card) == (count > 0)
    chosen = card.split("## Chosen replies")[1].split("\n## ")[0].splitlines()
    assert sum(int(line.split("|")[2]) for line in chosen if line.endswith(" |") and "pairs" not in line) == len(rows)


def test_a_model_s_name_is_escaped_in_the_card():
    assert _cell("a|\x1b[2Jb\n\u202ec\x00") == "a\\|\\x1b[2Jb \\u202ec\\x00"


def test_the_command(runs, tmp_path):
    out = tmp_path / "out"
    words = ["dataset", *runs, "--kind", "sft", "--format", "jsonl"]
    ran = support.command(*words, "--licence", "MIT", "-o", out, check=True)
    assert ran.stderr == "" and f"{out}: train " in ran.stdout and " dropped: refused: no child" in ran.stdout
    assert {path.name for path in out.iterdir()} == {"README.md", "export.json", "train-00000-of-00001.jsonl"}
    wrong = support.command(*words, "-o", tmp_path / "no")
    assert wrong.returncode == 2 and wrong.stderr.startswith("error: task python: ") and "hint: " in wrong.stderr


def test_a_bar_is_drawn_on_a_terminal_only(monkeypatch, capsys):
    for is_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal, raising=False)
        with Bar("rows written", 4) as bar:
            bar.add(2)
        assert ("rows written 0/4" in capsys.readouterr().err) == is_terminal
