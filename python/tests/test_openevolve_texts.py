"""Prompts, replies and the evaluator that a task gets: what kernelsmith.openevolve makes of texts."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import support

import kernelsmith as ks
from kernelsmith.openevolve.config import Config
from kernelsmith.openevolve.host import difference, fitness_of
from kernelsmith.openevolve.programs import Program
from kernelsmith.openevolve.prompts import Prompts
from kernelsmith.openevolve.replies import STANDARD, Child, child_of, kept_outside
from kernelsmith.openevolve.shown import filtered, tail
from kernelsmith.openevolve.task import evaluator_text, language_of, read_inputs
from kernelsmith.openevolve.terms import in_users_terms

FORMS = [("# ", ""), ("// ", ""), ("-- ", ""), ("/* ", " */"), ("<!-- ", " -->"), ("(* ", " *)")]


def program(id: str, code: str = "x = 1\n", **values: Any) -> Program:
    return Program(id=id, code=code, **values)


def prompt(config: Config, parent: Program, **values: Any) -> str:
    top = [(program("a", "a()\n", metrics={"speed": 0.95}, metadata={"changes": "unrolled", "parent_metrics": {"speed": 0.5}}), 0.95),
           (program("b", "b()\n", metrics={"speed": 0.2}), 0.2)]
    return Prompts(config, "python").build(parent, 0.3, top, [(program("c", "c()\n"), 0.1)], draws=ks.Rng(1),
                                           **{"diff": True, "island": 0, **values})["user"]


def test_the_default_prompt_shows_the_parent_its_scores_and_the_others() -> None:
    text = prompt(Config(), program("p", "p()\n", metrics={"speed": 0.3}, complexity=900.0, diversity=0.25,
                                    artifacts_json='{"stderr": "a warning"}'))
    for part in ("p()", "a()", "b()", "c()", "Fitness: 0.3000", "a warning", "unrolled", "<<<<<<< SEARCH", "all scores rose"):
        assert part in text
    assert "{" not in text and "Features: complexity=900, diversity=0.25\n" in text


def test_a_template_folder_has_its_way(tmp_path: Path) -> None:
    (tmp_path / "full_rewrite_user.txt").write_text(
        "{metrics}|{improvement_areas}|{current_program}|{language}|{artifacts}|{fitness_score}|{feature_dimensions}|{mood}")
    (tmp_path / "fragments.json").write_text('{"artifact_title": "OUTPUT", "no_feature_coordinates": "nowhere"}')
    config = Config()
    config.prompt.template_dir = str(tmp_path)
    config.prompt.template_variations = {"mood": ["calm"]}
    config.database.feature_dimensions = ["colour"]
    parent = program("p", "p()", metrics={"speed": 0.3, "name": "x"}, artifacts_json='{"log": "line"}')
    assert prompt(config, parent, diff=False) == (
        "- speed: 0.3000\n- name: x|- Fitness rose from 0.2000 to 0.3000\n- nowhere|p()|python|"
        "## OUTPUT\n\n### log\n```\nline\n```|0.3000|colour|calm")


def test_a_placeholder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "diff_user.txt").write_text("{curent_program}")
    config = Config()
    config.prompt.template_dir = str(tmp_path)
    with pytest.raises(ks.Error, match=r"diff_user.txt.*curent_program"):
        prompt(config, program("p"))


def test_system_messages_are_names_of_templates_or_texts() -> None:
    config = Config()
    config.prompt.island_system_messages = [None, "Island one."]

    def system(island: int) -> str:
        return Prompts(config, "python").build(program("p"), 0, [], [], diff=True, island=island, draws=ks.Rng(1))["system"]

    assert "improve programs" in system(0) and system(1) == "Island one."
    config.prompt.system_message = "Be brief."
    assert system(0) == "Be brief."


def test_of_long_artifacts_the_end_is_kept() -> None:
    assert tail("abc", 3) == "abc"
    assert tail("x" * 90 + "error: here", 11) == "[90 bytes left out]\nerror: here"
    config = Config()
    config.prompt.max_artifact_bytes = 40
    text = prompt(config, program("p", artifacts_json=json.dumps({"stderr": "y" * 500 + "the error"})))
    assert "the error" in text and "y" * 60 not in text


def test_secrets_are_taken_out_and_digests_stay() -> None:
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    text = filtered(f"\x1b[31mred\x1b[0m password=hunter2 api_key: abcdef sk-{'a' * 30} {digest}")
    assert text == f"red password=[redacted] api_key: [redacted] [redacted] {digest}"


PARENT = "# EVOLVE-BLOCK-START\na = 1\nb = 2\n# EVOLVE-BLOCK-END\nrun(a)\n"


def child(reply: str, parent: str = PARENT, **values: Any) -> Child | ks.Refusal:
    return child_of(reply, parent, **{"diff": True, "pattern": STANDARD, "language": "python", "most": 1000, **values})


def edit(search: str, replace: str) -> str:
    return f"<<<<<<< SEARCH\n{search}\n=======\n{replace}\n>>>>>>> REPLACE\n"


def test_edits_are_laid_at_the_first_place_where_they_fit() -> None:
    found = child("Two edits.\n" + edit("a = 1", "a = 3") + edit("b = 2  ", "b = 4") + edit("c = 9", "c = 0"))
    assert isinstance(found, Child)
    assert found.code == PARENT.replace("a = 1", "a = 3").replace("b = 2", "b = 4")
    assert found.changes.startswith("Change 1: 'a = 1' to 'a = 3'")


def test_what_stands_outside_of_the_blocks_is_put_back() -> None:
    found = child(edit("run(a)", "print('cheat')") + edit("a = 1", "a = 7"))
    assert isinstance(found, Child) and found.code == PARENT.replace("a = 1", "a = 7")
    only_outside = child(edit("run(a)", "print('cheat')"))
    assert isinstance(only_outside, ks.Refusal) and only_outside.code == "unchanged"
    assert "put back" in only_outside.detail


def test_another_pattern_of_edits() -> None:
    found = child("<old>a = 1</old><new>a = 5</new>", pattern=r"<old>(.*?)</old><new>(.*?)</new>")
    assert isinstance(found, Child) and "a = 5" in found.code


def test_a_whole_program_and_its_limits() -> None:
    whole = PARENT.replace("b = 2", "b = 8")
    for reply in (f"```python\n{whole}```", f"Here:\n```\n{whole}\n```\nDone.", whole):
        found = child(reply, diff=False)
        assert isinstance(found, Child) and (found.code, found.changes) == (whole, "Full rewrite")
    text = child("be kind", "be brief", diff=False, language="text")
    assert isinstance(text, Child) and text.code == "be kind"
    for reply, code, values in (("```python\n" + PARENT + "```", "unchanged", {"diff": False}),
                                (edit("zzz", "y"), "edit_unmatched", {}), ("no idea", "no_code", {}),
                                (edit("a = 1", "a = " + "1" * 2000), "too_large", {})):
        refused = child(reply, **values)
        assert isinstance(refused, ks.Refusal) and refused.code == code, reply


@pytest.mark.parametrize(("opening", "closing"), FORMS)
def test_markers_of_every_comment_form(opening: str, closing: str) -> None:
    def text(inside: str, outside: str) -> str:
        return f"{outside}\n{opening}EVOLVE-BLOCK-START{closing}\n{inside}\n{opening}EVOLVE-BLOCK-END{closing}\nend\n"

    assert kept_outside(text("old", "head"), text("new", "other")) == text("new", "head")
    assert kept_outside(text("old", "head"), "new") is None
    whole = ks.extract("```\n" + text("new", "head") + "```", ks.Source(text("old", "head")))
    assert isinstance(whole, ks.Source) and whole.text == text("new", "head")
    frozen = ks.extract("```\n" + text("new", "other") + "```", ks.Source(text("old", "head")))
    assert isinstance(frozen, ks.Refusal)


@pytest.mark.parametrize(("metrics", "fitness"), [
    ({"combined_score": 2.5, "a": 0}, 2.5), ({"a": 1.0, "b": 3, "flag": True, "name": "x"}, 2.0),
    ({"a": 1.0, "size": 100}, 1.0), ({"size": 100}, 100.0), ({}, 0.0), ({"combined_score": "high", "a": 4}, 4.0),
    ({"a": float("nan"), "b": 1.0}, 1.0), ({"combined_score": "0.5"}, 0.5), ({"combined_score": True, "a": 3}, 1.0)])
def test_fitness_is_openevolves(metrics: dict[str, Any], fitness: float) -> None:
    assert fitness_of(metrics, ["size"]) == fitness


def test_difference_is_a_share_of_lines() -> None:
    assert (difference("a\nb", "a\nb"), difference("a\nb", "c\nd"), difference("a\nc", "a\nb")) == (0, 1, 0.5)


EVALUATORS = {
    "dict": ("def evaluate(path):\n    return {'combined_score': 0.5, 'note': 'fine', 'flag': True}",
             {"combined_score": 0.5, "note": "fine", "flag": True}),
    "result": ("from openevolve.evaluation_result import EvaluationResult\n"
               "def evaluate(path):\n    return EvaluationResult(metrics={'a': 1.0}, artifacts={'log': b'bytes', 'n': 3})",
               {"a": 1.0}),
    "coroutine": ("async def evaluate(path):\n    return {'a': 4}", {"a": 4}),
    "numbers of others": ("import numpy as np\ndef evaluate(path):\n"
                          "    return {'combined_score': np.float32(.5), 'n': np.int64(3), 'at': np.array(.25), 'list': [1]}",
                          {"combined_score": 0.5, "n": 3, "at": 0.25, "list": [1]}),
    "arguments": ("def evaluate(path, weight):\n    return {'a': weight}", {"a": 7}),
    "neighbour": ("from beside import VALUE\ndef evaluate(path):\n    return {'a': VALUE}", {"a": 11}),
    "stages": ("def evaluate(path):\n    raise AssertionError('stages are called')\n"
               "def evaluate_stage1(path):\n    return {'a': 0.6, 'error': 0.0}\n"
               "def evaluate_stage2(path):\n    return {'b': 0.2}\n"
               "def evaluate_stage3(path):\n    raise AssertionError('0.4 is below the threshold')", {"a": 0.6, "b": 0.2})}


@pytest.mark.parametrize("name", EVALUATORS)
def test_the_tasks_evaluator_calls_the_users(name: str, tmp_path: Path) -> None:
    text, metrics = EVALUATORS[name]
    (tmp_path / "its").mkdir()
    (tmp_path / "its" / "evaluator.py").write_text(text)
    (tmp_path / "its" / "beside.py").write_text("VALUE = 11\n")
    (tmp_path / "program.py").write_text("x = 1\n")
    config = Config()
    config.evaluator.evaluator_args = {"weight": 7} if name == "arguments" else None
    inputs = read_inputs(tmp_path / "program.py", tmp_path / "its" / "evaluator.py", config)
    (tmp_path / "hosted.py").write_text(evaluator_text(inputs, config))
    asked = textwrap.dedent("""\
        import json, sys, types
        package, module = types.ModuleType("openevolve"), types.ModuleType("openevolve.evaluation_result")
        from kernelsmith.openevolve.results import EvaluationResult
        module.EvaluationResult = EvaluationResult
        sys.modules |= {"openevolve": package, "openevolve.evaluation_result": module}
        import hosted
        stages = [getattr(hosted, f"evaluate_stage{n}") for n in (1, 2, 3) if hasattr(hosted, f"evaluate_stage{n}")]
        for stage in stages or [hosted.evaluate]:
            found = stage("program.py")
        print(json.dumps([found.metrics, {name: str(text) for name, text in found.artifacts.items()}]))""")
    done = subprocess.run([sys.executable, "-B", "-c", asked], cwd=tmp_path, env=support.environment(),
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    numbers, artifacts = json.loads(done.stdout)
    told = json.loads(artifacts["openevolve.json"])
    assert told["metrics"] == metrics
    assert numbers["fitness"] == fitness_of(metrics, []) and numbers["ks_difference"] == 0
    if name == "result":
        assert (artifacts["log"], artifacts["n"]) == ("b'bytes'", "3")


def test_errors_of_calls_name_this_configurations_keys() -> None:
    error = in_users_terms(ks.Error("no complete reply in time (proposer.limits.total_s)", "timeout", "",
                                    "export K=..., or name another variable: --set 'proposer.key=${NAME}'"), Path("e.py"))
    assert str(error) == ("no complete reply in time (llm.timeout) (timeout)\n"
                          "hint: export K=..., or name another variable: llm.api_key")


def test_languages_are_told_by_their_lines() -> None:
    assert [language_of(text) for text in ("import os", "package a;\nimport b;", "#include <x>", "fn main() {}", "hello")] == [
        "python", "java", "cpp", "rust", "unknown"]
