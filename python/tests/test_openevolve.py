"""`kernelsmith openevolve` and its functions, end to end with a scripted model."""

from __future__ import annotations

import json
import re
import shutil
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("yaml", reason="OpenEvolve's configurations need PyYAML: pip install PyYAML")

import openevolve_tasks as tasks
import support
from scripted_model import scripted

import kernelsmith as ks
from kernelsmith.openevolve import (Config, EvaluationResult, LLMModelConfig, evolve_algorithm, evolve_code, evolve_function,
                                    run_evolution)


def config_at(url: str, **values: Any) -> Config:
    config = Config()
    config.llm.models = [LLMModelConfig(name="scripted", api_base=url, api_key="none-needed", retries=0)]
    config.database.num_islands = 1
    config.evaluator.timeout = 10
    for path, value in values.items():
        config.put(path.replace("__", "."), value)
    return config


def test_a_search_leaves_openevolves_files(tmp_path: Path) -> None:
    folder, out = tasks.write(tmp_path / "task"), tmp_path / "out"
    with scripted(tasks.larger) as model:
        done = tasks.evolve(folder, out, model.url, "-i", 5)
    assert done.returncode == 0, done.stderr
    assert "5 iterations; ended: budget" in done.stdout
    assert sorted(one.name for one in (out / "checkpoints").iterdir()) == ["checkpoint_3", "checkpoint_5"]
    info = tasks.read(out / "best" / "best_program_info.json")
    code = (out / "best" / "best_program.py").read_text()
    value = int(re.findall(r"return (\d+)", code)[0])
    assert value >= 10 and info["metrics"] == {"combined_score": 1 - 1 / (1 + value), "size": value, "unit": "points"}
    last = out / "checkpoints" / "checkpoint_5"
    about, programs = tasks.read(last / "metadata.json"), tasks.programs(last)
    assert about["best_program_id"] == info["id"] and about["last_iteration"] == 5
    assert sorted(sum(about["islands"], [])) == sorted(programs) and set(about["archive"]) <= set(programs)
    best = programs[info["id"]]
    assert best["code"] == code == (last / "best_program.py").read_text()
    assert best["parent_id"] in programs and best["generation"] == programs[best["parent_id"]]["generation"] + 1
    assert best["prompts"]["diff_user"]["responses"][0].startswith("<<<<<<< SEARCH")
    assert f"the value was {value}" in json.loads(best["artifacts_json"])["notes"]
    assert [one for one in out.rglob("*") if one.name.startswith(".")] == []
    # What evaluate() printed and left is in the next prompt, its end kept.
    later = next(text for text in model.prompts if "the value was" in text)
    assert "x" * 50 not in later and "value 1" in later
    assert {one["model"] for one in model.asked} == {"scripted"} and all("seed" in one for one in model.asked)
    assert "the best so far" in next((out / "logs").iterdir()).read_text()


def test_the_same_command_goes_on_and_another_begins_anew(tmp_path: Path) -> None:
    folder, out = tasks.write(tmp_path / "task"), tmp_path / "out"
    with scripted(tasks.larger) as model:
        assert tasks.evolve(folder, out, model.url, "-i", 2).returncode == 0
        assert len(model.asked) == 2
        again = tasks.evolve(folder, out, model.url, "-i", 2)
        assert again.returncode == 0 and len(model.asked) == 2, again.stderr
        assert tasks.evolve(folder, out, model.url, "-i", 4).returncode == 0
        assert len(model.asked) == 4
        assert tasks.read(out / "checkpoints" / "checkpoint_4" / "metadata.json")["last_iteration"] == 4
        (folder / "program.py").write_text(tasks.PROGRAM.replace("return 1", "return 2"))
        best = (out / "best" / "best_program.py").read_text()
        anew = tasks.evolve(folder, out, model.url, "-i", 1)
    assert (out / "run-1" / "run.db").exists() and len(model.asked) == 5
    assert (out / "best-1" / "best_program.py").read_text() == best
    assert sorted(one.name for one in (out / "checkpoints-1").iterdir()) == ["checkpoint_2", "checkpoint_3", "checkpoint_4"]
    assert [one.name for one in (out / "checkpoints").iterdir()] == ["checkpoint_1"]
    kept = "run-1, history-1.jsonl, best-1, checkpoints-1"
    assert f"(changed: the initial program); the old one is kept as {kept}" in anew.stderr


def test_a_search_from_a_checkpoint_of_its_own_folder_goes_on(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task", config=tasks.CONFIG + "evolution_trace: {enabled: true}\n")
    out = tmp_path / "out"
    with scripted(tasks.larger) as model:
        assert tasks.evolve(folder, out, model.url, "-i", 4).returncode == 0
        trace = (out / "evolution_trace.jsonl").read_text()
        begins = ("--checkpoint", out / "checkpoints" / "checkpoint_3")
        assert tasks.evolve(folder, out, model.url, "-i", 1, *begins).returncode == 0
        again = tasks.evolve(folder, out, model.url, "-i", 2, *begins)
    assert again.returncode == 0 and len(model.asked) == 6, again.stderr
    assert sorted(one.name for one in (out / "checkpoints-1").iterdir()) == ["checkpoint_3", "checkpoint_4"]
    assert sorted(one.name for one in (out / "checkpoints").iterdir()) == ["checkpoint_3", "checkpoint_4", "checkpoint_5"]
    assert (out / "evolution_trace-1.jsonl").read_text() == trace and not (out / "run-2").exists()


def test_the_same_seed_gives_the_same_search(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task", config=tasks.CONFIG + "max_code_length: 500\n")

    def by_prompt(asked: dict[str, Any], _: int) -> str:
        return tasks.larger(asked, asked["seed"] % 1000)

    found = []
    for name in ("a", "b"):
        with scripted(by_prompt) as model:
            assert tasks.evolve(folder, tmp_path / name, model.url).returncode == 0
        programs = tasks.programs(tmp_path / name / "checkpoints" / "checkpoint_6")
        found.append({id: (one["code"], one["parent_id"], one["metrics"]) for id, one in programs.items()})
    assert found[0] == found[1] and len(found[0]) == 7


def test_a_search_that_is_killed_is_the_same_in_the_end(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")

    def reply(asked: dict[str, Any], _: int) -> str:
        time.sleep(0.05)
        return tasks.larger(asked, asked["seed"] % 1000 + 1)

    found = []
    with scripted(reply) as model:
        for name, kills in (("killed", 2), ("whole", 0)):
            out = tmp_path / name
            for at in range(kills):
                begun = tasks.begin(folder, out, model.url)
                tasks.wait_until(lambda: (out / "history.jsonl").exists()
                                 and (out / "history.jsonl").read_text().count("\n") > 2 * at + 1)
                begun.kill()
                begun.wait()
            assert tasks.evolve(folder, out, model.url).returncode == 0
            programs = tasks.programs(out / "checkpoints" / "checkpoint_6")
            found.append({id: (one["code"], one["parent_id"], one["iteration_found"]) for id, one in programs.items()})
    assert found[0] == found[1] and len(found[0]) == 7


def rows_of(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "history.jsonl").read_text().splitlines() if line.endswith("}")]


def told(out: Path) -> list[tuple[Any, ...]]:
    rows = [(row, row.get("program", {})) for row in rows_of(out)]
    return [(row["ticket"], row["iteration"], row["kind"], row["island"], row.get("refusal"), row.get("fitness"), made.get("id"),
             made.get("parent_id"), made.get("iteration_found"), made.get("code")) for row, made in rows]


@pytest.mark.parametrize("imported", [False, True])
def test_lines_of_the_history_that_a_kill_took_come_from_the_journal(imported: bool, tmp_path: Path) -> None:
    folder, out = tasks.write(tmp_path / "task"), tmp_path / "out"
    kept = checkpoint_of(tmp_path / "kept", {f"p{at}": tasks.PROGRAM.replace("1", str(at)) for at in range(2, 6)})
    more = ("--checkpoint", kept) if imported else ()
    replies = {1: "no program", 3: "```python\n" + tasks.PROGRAM.replace("1", "3") + "```"}
    with scripted(lambda asked, number: replies.get(number) or tasks.larger(asked, number)) as model:
        assert tasks.evolve(folder, out, model.url, "-i", 4, *more).returncode == 0
        whole, lines = told(out), (out / "history.jsonl").read_text().splitlines(keepends=True)
        for cut in (1, 3, 5, len(lines)):
            (out / "history.jsonl").write_text("".join(lines[:-cut]) + lines[-cut][:50])
            done = tasks.evolve(folder, out, model.url, "-i", 4, *more)
            assert done.returncode == 0 and len(model.asked) == 4 and told(out) == whole, done.stderr
        assert tasks.evolve(folder, out, model.url, "-i", 5, *more).returncode == 0
    assert [one[:2] for one in told(out)[:-1]] == [one[:2] for one in whole] and len(model.asked) == 5


def test_ctrl_c_ends_it_in_order(tmp_path: Path) -> None:
    folder, asked = tasks.write(tmp_path / "task"), threading.Event()

    def reply(request: dict[str, Any], number: int) -> str:
        if number > 1:
            asked.set()
            time.sleep(3600)
        return tasks.larger(request, number)

    with scripted(reply) as model:
        begun = tasks.begin(folder, tmp_path / "out", model.url)
        assert asked.wait(support.PATIENCE_S)
        begun.send_signal(signal.SIGINT)
        assert begun.wait(support.PATIENCE_S) == 0
    assert (tmp_path / "out" / "checkpoints" / "checkpoint_1" / "metadata.json").exists()


def test_a_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")
    with scripted(tasks.larger) as model:
        assert tasks.evolve(folder, tmp_path / "a", model.url, "-i", 4).returncode == 0
        kept = tmp_path / "a" / "checkpoints" / "checkpoint_4"
        before = tasks.read(kept / "best_program_info.json")
        with scripted(lambda asked, number: "nothing useful") as mute:
            done = tasks.evolve(folder, tmp_path / "b", mute.url, "-i", 2, "--checkpoint", kept)
            assert done.returncode == 0, done.stderr
            assert len(mute.asked) == 2
    after = tmp_path / "b" / "checkpoints" / "checkpoint_6"
    assert tasks.read(after / "best_program_info.json")["id"] == before["id"]
    old, new = tasks.programs(kept), tasks.programs(after)
    assert {one["code"] for one in old.values()} == {one["code"] for one in new.values()}
    assert new[before["id"]]["parent_id"] == old[before["id"]]["parent_id"]


def checkpoint_of(folder: Path, codes: dict[str, str]) -> Path:
    """Programs by their names, the later the fitter."""
    (folder / "programs").mkdir(parents=True)
    for at, (id, code) in enumerate(codes.items()):
        (folder / "programs" / f"{id}.json").write_text(json.dumps({"id": id, "code": code, "metrics": {"combined_score": at}}))
    (folder / "metadata.json").write_text(json.dumps({"best_program_id": list(codes)[-1], "last_iteration": 5}))
    return folder


def test_programs_of_a_checkpoint_enter_whatever_stands_around_their_blocks(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")
    kept = checkpoint_of(tmp_path / "kept", {
        "first": tasks.PROGRAM, "other": tasks.PROGRAM.replace("1", "2").replace("math", "os"), "none": "x = 1\n",
        "best": tasks.PROGRAM.replace("1", "3").rstrip()})
    (kept / "programs" / "broken.json").write_text('{"id": "bro')
    with scripted(tasks.larger) as model:
        done = tasks.evolve(folder, tmp_path / "out", model.url, "-i", 1, "--checkpoint", kept)
    assert done.returncode == 0 and "rejected" not in done.stderr, done.stderr
    warned = [line for line in done.stderr.splitlines() if line.startswith("WARNING")]
    assert len(warned) == 2 and "broken.json" in warned[0] and "none.json" in warned[1], done.stderr
    found = tasks.programs(tmp_path / "out" / "checkpoints" / "checkpoint_6")
    assert {id: found[id]["code"] for id in ("first", "other", "best")} == {
        "first": tasks.PROGRAM, "other": tasks.PROGRAM.replace("1", "2"), "best": tasks.PROGRAM.replace("1", "3")}


def test_a_best_program_of_a_checkpoint_without_its_marker_is_named(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")
    kept = checkpoint_of(tmp_path / "kept", {"best": tasks.PROGRAM.replace("# EVOLVE-BLOCK-END\n", "")})
    done = tasks.evolve(folder, tmp_path / "out", "http://127.0.0.1:9/v1", "--checkpoint", kept)
    assert done.returncode == 1 and f"error: {kept / 'programs' / 'best.json'}: the best program" in done.stderr, done.stderr
    (kept / "metadata.json").write_text(json.dumps({"best_program_id": "gone", "last_iteration": 5}))
    done = tasks.evolve(folder, tmp_path / "out", "http://127.0.0.1:9/v1", "--checkpoint", kept)
    assert "metadata.json: the best program, gone, is not among the programs" in done.stderr, done.stderr


def test_islands_may_begin_with_programs_of_their_own(tmp_path: Path) -> None:
    text = tasks.CONFIG.replace("num_islands: 2", "num_islands: 2, island_initial_programs: [null, other.py]")
    folder = tasks.write(tmp_path / "task", config=text)
    (folder / "other.py").write_text(tasks.PROGRAM.replace("return 1", "return 3"))
    with scripted(tasks.larger) as model:
        for count in (1, 2):
            assert tasks.evolve(folder, tmp_path / "out", model.url, "-i", count).returncode == 0
            assert len(model.asked) == count
    found = tasks.programs(tmp_path / "out" / "checkpoints" / "checkpoint_2")
    assert found["island-1"]["metrics"]["size"] == 3 and len(found) == 4


def test_a_target_and_patience_end_it(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task", config=tasks.CONFIG + "early_stopping_patience: 2\n")
    with scripted(tasks.larger) as model:
        done = tasks.evolve(folder, tmp_path / "a", model.url, "-t", "0.9")
        assert "1 iterations; ended: the target 0.9 is reached" in done.stdout, done.stdout + done.stderr
    with scripted(lambda asked, number: "no program") as model:
        done = tasks.evolve(folder, tmp_path / "b", model.url)
        assert "ended: no gain in 2 iterations" in done.stdout, done.stdout + done.stderr


def test_failures_are_told_in_one_place_each(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")
    wrong = tasks.write(tmp_path / "wrong", evaluator="def evaluate(path):\n    raise ValueError('out of order')\n")
    with scripted(tasks.larger) as model:
        cases = [(tasks.evolve(wrong, tmp_path / "out", model.url), 1, "ValueError: out of order"),
                 (tasks.command(folder / "none.py", folder / "evaluator.py"), 1, "none.py"),
                 (tasks.command(folder / "program.py", folder / "evaluator.py"), 1, "no model is configured"),
                 (tasks.evolve(folder, tmp_path / "out", model.url, "--checkpoint", tmp_path), 1, "metadata.json"),
                 (tasks.evolve(folder, tmp_path / "out", model.url, "-i", "none"), 2, "-i"),
                 (tasks.command(folder / "program.py"), 2, "EVALUATOR"),
                 (tasks.evolve(folder, tmp_path / "out", model.url, "--evaluator-args", "[1]"), 2, "--evaluator-args")]
    absent = tasks.write(tmp_path / "absent", evaluator="import os\nimport no_such_module.part\n" + tasks.EVALUATOR)
    done = tasks.evolve(absent, tmp_path / "o", "http://127.0.0.1:9/v1")
    cases.append((done, 1, f"{absent / 'evaluator.py'}:2: the evaluator cannot be imported: ModuleNotFoundError"))
    assert "hint: " in done.stderr and "-m pip install no_such_module\n" in done.stderr, done.stderr
    for done, status, says in cases:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
        assert (done.returncode, len(errors)) == (status, 1), done.stderr
        assert says in errors[0]


def test_a_server_that_fails_ends_it_and_the_same_command_goes_on(tmp_path: Path) -> None:
    folder = tasks.write(tmp_path / "task")
    done = tasks.evolve(folder, tmp_path / "out", "http://127.0.0.1:9/v1", "-i", 2)
    assert done.returncode == 1 and "(network)" in done.stderr, done.stderr
    assert "\\x0a" not in done.stderr and done.stderr.endswith("network; the same command goes on then\n"), done.stderr
    assert (tmp_path / "out" / "checkpoints" / "checkpoint_0" / "metadata.json").exists()


def test_the_trace_in_openevolves_fields(tmp_path: Path) -> None:
    text = tasks.CONFIG + "evolution_trace: {enabled: true, include_code: true, include_failures: true}\n"
    folder, out = tasks.write(tmp_path / "task", config=text), tmp_path / "out"
    with scripted(lambda asked, number: "nothing" if number == 2 else tasks.larger(asked, number)) as model:
        assert tasks.evolve(folder, out, model.url, "-i", 3).returncode == 0
    rows = [json.loads(line) for line in (out / "evolution_trace.jsonl").read_text().splitlines()]
    assert rows and rows[0]["child_metrics"]["size"] == 10 and rows[0]["parent_metrics"]["size"] == 1
    assert rows[0]["improvement_delta"]["size"] == 9 and "return 10" in rows[0]["child_code"]
    assert set(rows[0]["prompt"]) == {"system", "user"} and rows[0]["llm_response"].startswith("<<<<<<<")
    failures = [json.loads(line) for line in (out / "evolution_trace_failures.jsonl").read_text().splitlines()]
    assert failures[0]["llm_response"] == "nothing"
    for where in (out, out / "run"):
        done = support.command("export", where, "--format", "trace", check=True)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert [one["child_metrics"] for one in lines] == [one["child_metrics"] for one in rows]


@pytest.mark.parametrize(("name", "reply", "least"), [
    ("function_minimization", "<<<<<<< SEARCH\n    best, where = float(\"inf\"), (0.0, 0.0)\n=======\n"
     "    best, where = function(0, 0), (0.0, 0.0)  # {number}\n>>>>>>> REPLACE", 0.8),
    ("bin_packing", "```python\n# {number}\n# EVOLVE-BLOCK-START\ndef choose(item, room):\n"
     "    fits = [(left, at) for at, left in enumerate(room) if item <= left]\n"
     "    return min(fits)[1] if fits else None  # {number}\n# EVOLVE-BLOCK-END\n```", 0.8),
    ("date_regex", "```\n\\d{{4}}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])(?#{number})\n```", 1.0)])
def test_the_examples(name: str, reply: str, least: float, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(tasks.EXAMPLES / name, folder)
    program = next(folder.glob("initial_*"))
    with scripted(lambda asked, number: reply.format(number=number)) as model:
        done = tasks.command(program, folder / "evaluator.py", "-c", folder / "config.yaml", "-o", tmp_path / "out", "-i", 3,
                             "--api-base", model.url)
    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower(), done.stderr
    best = tasks.read(tmp_path / "out" / "best" / "best_program_info.json")
    assert best["metrics"]["combined_score"] >= least and best["parent_id"] is not None
    assert (tmp_path / "out" / "best" / f"best_program{program.suffix}").exists()
    if name == "bin_packing":
        assert {one["model"] for one in model.asked} <= {"large-model", "small-model"}
        assert "Packings of the last program" in model.prompts[0] and "items 120" in model.prompts[0]


def test_evolving_a_function() -> None:
    def double(x):  # type: ignore[no-untyped-def]
        return x

    with scripted(lambda asked, number: f"```python\n# EVOLVE-BLOCK-START\ndef double(x):\n    return 2 * x  # {number}\n"
                                        "# EVOLVE-BLOCK-END\n```") as model:
        found = evolve_function(double, [(1, 2), (4, 8), ([1], [1, 1])], iterations=2,
                                config=config_at(model.url, diff_based_evolution=False))
    assert found.best_score == 1.0 and "2 * x" in found.best_code and found.output_dir is None
    assert found.metrics["tests_passed"] == 3 and repr(found) == "EvolutionResult(best_score=1.0000)"


def test_an_indented_text_and_a_lambda(tmp_path: Path) -> None:
    pytest.importorskip("cloudpickle", reason="pip install cloudpickle")
    factor = 3
    with scripted(tasks.larger) as model:
        found = run_evolution(
            initial_program='''
            def value():
                return 1
            ''',
            evaluator=lambda path: {"score": factor * int(re.findall(r"return (\d+)", Path(path).read_text())[0])},
            iterations=1, config=config_at(model.url))
    assert found.best_score == 30 and "\ndef value():\n    return 10" in found.best_code


class Counter:
    def count(self) -> int:
        return 1


def measured(counter):  # type: ignore[no-untyped-def]
    return {"score": counter.count()}


def test_evolving_a_class_and_a_text(tmp_path: Path) -> None:
    with scripted(tasks.larger) as model:
        found = evolve_algorithm(Counter, measured, iterations=1, config=config_at(model.url), output_dir=str(tmp_path / "a"),
                                 cleanup=False)
        assert found.best_score == 10 and found.output_dir == str(tmp_path / "a")
        (tmp_path / "scoring.py").write_text("def score(path):\n    return {'n': len(open(path).read())}\n")
        sys.path.insert(0, str(tmp_path))
        try:
            import scoring  # type: ignore[import-not-found]
        finally:
            sys.path.remove(str(tmp_path))
        sys.path.append(str(tmp_path))
        try:
            other = evolve_code("def f():\n    return 1", scoring.score, iterations=1, config=config_at(model.url))
        finally:
            sys.path.remove(str(tmp_path))
    assert other.best_program is not None and "EVOLVE-BLOCK-START" in other.best_code
    with pytest.raises(ks.Error, match="neither a file nor"):
        evolve_code("x", "no such file", config=config_at(""))  # type: ignore[arg-type]


def test_the_help_lists_it() -> None:
    done = support.command("--help", check=True)
    assert "\n  openevolve " in done.stdout and "\n  run " in done.stdout


def test_a_result_tells_its_artifacts_sizes() -> None:
    result = EvaluationResult({"a": 1}, {"t": "é", "b": b"123"})
    assert (result.get_artifact_size("t"), result.get_total_artifact_size(), result.has_artifacts()) == (2, 5, True)
    assert EvaluationResult.from_dict({"a": 1}).get_artifact_keys() == [] and result.to_dict() == {"a": 1}
