"""Task folders: run(), evaluate(), Run, prompt() and extract(). What evaluates needs the sandbox."""

import json
import os
import shutil
import sqlite3
import sys

import kernelsmith as ks
import numpy
import pytest
from support import SEED, command, environment, hill, tell_next

BETTER = SEED.replace("k0 = 0", "k0 = 7")


def test_a_task_says_what_it_is(task):
    loaded = ks.Task(task)
    assert (loaded.name, loaded.backend, loaded.seed.text) == ("hill", "command", SEED)
    assert loaded.folder == task and repr(loaded) == "<Task hill, backend command>"
    assert ks.Task(str(task)).digest == loaded.digest and len(loaded.digest) == 64


def test_a_wrong_task_is_told_with_its_line(task):
    with pytest.raises(ks.Error) as raised:
        ks.Task(task / "nowhere")
    assert raised.value.code == "not_found"
    (task / "task.yaml").write_text("version: 1\nname: hill\nbakend: command\n")
    with pytest.raises(ks.Error) as raised:
        ks.Task(task)
    assert raised.value.code == "bad_input" and raised.value.where.endswith("task.yaml:3")
    assert "backend" in str(raised.value)


def test_evaluate_scores_a_candidate(task, sandboxed):
    assert ks.evaluate(task, BETTER).fitness == 7
    evaluation = ks.evaluate(ks.Task(task), {"seed.txt": SEED}, quick=True)
    assert evaluation.accepted and evaluation.fitness == 0


def test_evaluate_rejects_what_the_command_rejects(task, sandboxed):
    (task / "score.sh").write_text("echo wrong >&2; exit 3\n")
    evaluation = ks.evaluate(task, SEED)
    assert evaluation.code == "command_failed" and "wrong" in evaluation.diagnostics


@pytest.fixture
def scored_by_python(tmp_path):
    """A task whose evaluator is a Python function."""
    folder = tmp_path / "points"
    folder.mkdir()
    (folder / "task.yaml").write_text("version: 1\nname: points\nbackend: python\nevaluator: evaluator.py\n"
                                      "files: {seed: initial_program.py}\n")
    (folder / "evaluator.py").write_text(
        "import runpy\ndef evaluate(path):\n    values = [value for name, value in runpy.run_path(path).items()\n"
        "              if name.startswith('k')]\n    return {'combined_score': sum(values), 'count': len(values)}\n")
    (folder / "initial_program.py").write_text(SEED)
    return folder


def test_a_python_evaluator_scores_a_task(scored_by_python, tmp_path, sandboxed):
    evaluation = ks.evaluate(scored_by_python, BETTER)
    assert evaluation.fitness == 7 and evaluation.features["count"] == 6
    assert ks.evaluate(scored_by_python, "1 / 0").code == "raised"
    outcome = ks.run(scored_by_python, iterations=20, out=tmp_path / "a.run")
    assert outcome.best.fitness > 0
    assert ks.Run.open(tmp_path / "a.run").best.source == outcome.best.source

    def propose(request):
        return BETTER

    outcome = ks.run(scored_by_python, proposer=propose, iterations=1, out=tmp_path / "b.run",
                     evaluator={"parallel": 1})
    assert outcome.best.fitness == 7


def test_evaluate_takes_settings(task):
    with pytest.raises(ks.Error, match="sandbox"):
        ks.evaluate(task, SEED, evaluator={"sandbx": "none"})


def test_run_searches_a_task(task, tmp_path, monkeypatch, sandboxed):
    monkeypatch.chdir(tmp_path)
    commits = []
    outcome = ks.run(task, iterations=40, progress=commits.append)
    assert outcome.counts["iterations"] == 40 and outcome.best.fitness > 10
    assert any(commit.new_best for commit in commits)
    assert ks.Run.open("hill-1.run").best.source == outcome.best.source
    ks.run(ks.Task(task), iterations=3)
    assert ks.Run.open("hill-2.run").counts["iterations"] == 3


def test_a_run_of_a_task_is_gone_on_with(task, tmp_path, sandboxed):
    out = tmp_path / "a.run"
    ks.run(task, out=out, iterations=5)
    outcome = ks.run(task, out=out, iterations=12)
    assert outcome.counts["iterations"] == 12
    assert [event["event"] for event in ks.Run.open(out).events()].count("session_started") == 2


def test_an_own_proposer_searches_a_task(task, tmp_path, sandboxed):
    def propose(request):
        return request.parent.source.text.replace("= 0", f"= {request.rng.below(8)}", 1)

    outcome = ks.run(task, out=tmp_path / "a.run", proposer=propose, iterations=10)
    assert outcome.best.fitness > 0 and outcome.best.origin == "rewrite"


def test_settings_of_a_task_are_checked(task, tmp_path):
    with pytest.raises(ks.Error, match="workers"):
        ks.run(task, out=tmp_path / "a.run", workrs=3)
    with pytest.raises(ks.Error, match="exhaustive"):
        ks.run(task, out=tmp_path / "a.run", proposer=ks.Tuner(exhaustiv=True))


@pytest.fixture
def run(tmp_path):
    """A run with a rejection, a refusal and a lineage, of a search that is not over."""
    folder = tmp_path / "hill.run"
    with hill(folder, random_seed=3, archive={"axes": "kernel-smith"}) as engine:
        for _ in range(8):
            tell_next(engine)
        ticket = engine.ask()
        engine.tell(ticket, "9 9", ks.Evaluation.reject("it hangs", "timed_out"))
        engine.tell(engine.ask(), ks.Refusal("no idea"))
        best = engine.outcome.best
    return folder, best


def test_a_run_folder_is_read(run):
    folder, best = run
    stored = ks.Run.open(str(folder))
    assert stored.folder == folder and len(stored.id) == 32 and stored.ended is None and not stored.in_use
    assert stored.counts["rejected"] == 1 and stored.counts["refused"] == 1
    assert stored.best.id == best.id and stored.best_evaluation.fitness == best.fitness
    assert stored.program(0).source.text == "0 0" and stored.elapsed_s >= 0
    with pytest.raises(KeyError):
        stored.program(4711)
    assert len(stored.digest) == 64 and stored.digest == ks.Run(folder).digest
    assert repr(stored) == f"<Run {folder}, 9 iterations>"


def test_rows_are_plain(run):
    stored = ks.Run.open(run[0])
    rows = stored.programs()
    assert [row["id"] for row in rows] == sorted(row["id"] for row in rows) and len(rows) == 9
    assert rows[0]["origin"] == "seed" and rows[0]["low"] <= rows[0]["fitness"] <= rows[0]["high"]
    [rejected] = [row for row in rows if not row["accepted"]]
    assert (rejected["fitness"], rejected["code"], rejected["stage"]) == (None, "timed_out", "run")
    assert rejected["diagnostics"] == "it hangs"
    assert stored.failures() == [{"stage": "run", "code": "timed_out", "count": 1}]
    lineage = stored.lineage()
    assert lineage[0]["id"] == 0 and lineage[-1]["id"] == stored.best.id
    assert all(row["diff"].startswith("---") for row in lineage[1:])
    for row, child in zip(lineage, lineage[1:]):
        assert child["parents"][0] == row["id"]
    assert stored.cost() == []
    events = stored.events()
    assert events[0]["event"] == "session_started"
    json.dumps([rows, lineage, events, stored.counts, stored.archive.statistics])


def test_pandas_takes_the_rows(run):
    pandas = pytest.importorskip("pandas")
    assert len(pandas.DataFrame(ks.Run.open(run[0]).programs())) == 9


def test_a_stored_archive_is_that_of_the_search(run):
    stored = ks.Run.open(run[0])
    with hill(run[0], random_seed=3, archive={"axes": "kernel-smith"}) as engine:
        archive = engine.archive
        assert len(archive) > 1 and numpy.array_equal(stored.archive.cells, archive.cells)
        assert numpy.array_equal(stored.archive.fitness, archive.fitness)
        assert ks.Run.open(run[0]).in_use


def test_what_is_no_run_is_told(tmp_path, run):
    with pytest.raises(ks.Error) as raised:
        ks.Run.open(tmp_path / "nowhere")
    assert raised.value.code == "not_found"
    with sqlite3.connect(run[0] / "run.db") as database:
        database.execute("pragma user_version = 99")
    with pytest.raises(ks.Error) as raised:
        ks.Run.open(run[0])
    assert raised.value.code == "version"


def test_a_prompt_shows_the_parent_and_the_task(task):
    engine = hill(seed={"k.py": "answer = 41\n"})
    engine.tell(engine.ask(), 1.0)
    ticket = engine.ask()
    prompt = ks.prompt(ticket)
    assert "answer = 41" in prompt.user and prompt.tokens > 0
    assert prompt.messages == [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    assert ks.prompt(ticket.request).user == prompt.user
    (task / "task.yaml").write_text((task / "task.yaml").read_text() + "description: climb the hill\n")
    assert "climb the hill" in ks.prompt(ticket, ks.Task(task)).user
    assert ks.prompt(ticket, budget_tokens=1000).tokens <= 1000
    with pytest.raises(ks.Error):
        ks.prompt(ticket, set="no-such-set")


def test_a_ticket_without_a_request_has_no_prompt():
    with pytest.raises(ks.Error, match="asks for no child"):
        ks.prompt(hill().ask())


def test_extract_takes_programs_edits_and_nothing_else():
    parent = {"k.py": "a = 1\nb = 2\n"}
    whole = ks.extract("Here:\n```python\na = 3\n```\n", parent)
    assert whole.files == {"k.py": "a = 3\n"}
    edit = "<<<<<<< SEARCH\na = 1\n=======\na = 5\n>>>>>>> REPLACE\n"
    assert ks.extract(edit, ks.Source(parent)).text == "a = 5\nb = 2\n"
    refusal = ks.extract("I would rather not.", parent)
    assert isinstance(refusal, ks.Refusal) and refusal.code == "no_code"
    wrong = ks.extract(edit.replace("a = 1", "c = 1"), parent)
    assert isinstance(wrong, ks.Refusal) and wrong.code != "no_code"
    assert isinstance(ks.extract("```python\na = 3\n```\n", parent, edits_only=True), ks.Refusal)


def test_extract_takes_a_program_as_parent():
    with hill() as engine:
        program = engine.run().best
    assert ks.extract("```\n7 7\n```", program).files == {"candidate.txt": "7 7\n"}


def test_a_run_of_another_task_is_not_gone_on_with(task, sandboxed, tmp_path):
    folder = tmp_path / "one.run"
    ks.run(task, iterations=2, out=folder)
    (task / "seed.txt").write_text(SEED.replace("k0 = 0", "k0 = 1"))
    with pytest.raises(ks.Error, match="another task: hill, not hill as it stands now"):
        ks.run(task, iterations=3, out=folder)
    (task / "seed.txt").write_text(SEED)
    assert ks.run(task, iterations=3, out=folder).counts["iterations"] == 3


def test_a_run_with_a_proposer_of_ones_own_is_read_by_the_command(task, sandboxed, tmp_path):
    folder = tmp_path / "own.run"

    ks.run(task, proposer=lambda request: BETTER, iterations=1, out=folder)
    for reader in ("show", "export", "prompt"):
        done = command(reader, folder)
        assert done.returncode == 0, done.stderr
    done = command("resume", folder, "--iterations", "2")
    assert done.returncode == 3 and "kernelsmith.run('RUN/task', proposer=..., out='RUN')" in done.stderr


def plan(source, example, candidate, **more):
    return command("plan", example, f"{example}/{candidate}", cwd=source, env={**environment(), **more})


def test_the_package_holds_what_the_gpu_backends_need(sandboxed):
    # Says something of an installed wheel alone: in a build tree the programs are found where they were built.
    source = os.environ["KERNELSMITH_SOURCE"]
    if shutil.which("nvcc") or os.path.exists("/usr/local/cuda/bin/nvcc"):
        planned = plan(source, "examples/softmax_cuda", "seed.cu")
        assert planned.returncode == 0 and "softmax" in planned.stdout, planned.stderr
    # This Python has no PyTorch: the files that ask it are found, and tell so.
    refused = plan(source, "examples/torch/level1/softmax", "seed.py", KERNELSMITH_TORCH_PYTHON=sys.executable)
    assert "PyTorch" in refused.stderr and "are not found" not in refused.stderr
