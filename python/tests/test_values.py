"""Sources, evaluations, random streams: what plain Python objects become, and the errors for wrong ones."""

import copy
import math
import pickle

import kernelsmith as ks
import pytest
import support
from kernelsmith import openevolve


def test_a_text_is_a_source_of_one_file():
    source = ks.Source("k = 1\n")
    assert source.text == "k = 1\n"
    assert source.files == {"candidate.txt": "k = 1\n"}
    assert len(source) == 1
    assert repr(source) == "<Source candidate.txt, 6 bytes>"


def test_sources_are_equal_by_content_and_hash_so():
    one, same, other = ks.Source({"a.py": "1"}), ks.Source({"a.py": "1"}), ks.Source({"b.py": "1"})
    assert one == same and hash(one) == hash(same) and one.digest == same.digest
    assert one != other and one.digest != other.digest
    assert one != "1"


def test_a_source_keeps_the_order_of_its_files():
    assert list(ks.Source({"z.h": "1", "a.c": "2"}).files) == ["z.h", "a.c"]


@pytest.mark.parametrize("text", ["", "grüße", "\0", "a\udcffb"])
def test_a_text_comes_back_as_it_was(text):
    assert ks.Source(text).text == text


@pytest.mark.parametrize("wrong, told", [
    (7, "not int"),
    (b"bytes", "not bytes"),
    (["a"], "not list"),
    ({"a.py": 3}, "not int for 'a.py'"),
    ({4: "text"}, "for 4"),
])
def test_what_is_no_source_is_told(wrong, told):
    with pytest.raises(TypeError, match=told):
        ks.Source(wrong)


@pytest.mark.parametrize("path", ["/etc/passwd", "../up", ""])
def test_a_path_out_of_the_folder_is_refused(path):
    with pytest.raises(ks.Error) as raised:
        ks.Source({path: "x"})
    assert raised.value.code == "bad_input"


def test_a_measurement_is_a_number_with_an_interval():
    measurement = ks.Measurement(2.0, 1.5, 2.5, samples=9, unit="x")
    assert float(measurement) == 2.0
    assert (measurement.low, measurement.high, measurement.samples, measurement.unit) == (1.5, 2.5, 9, "x")
    exact = ks.Measurement(3.0)
    assert (exact.low, exact.high, exact.samples) == (3.0, 3.0, 1)
    assert exact == ks.Measurement(3.0) and exact != measurement


def test_an_acceptance_says_fitness_and_features():
    evaluation = ks.Evaluation.accept(2, {"width": 4.0})
    assert evaluation.accepted and evaluation.fitness == 2.0 and evaluation.features == {"width": 4.0}
    assert evaluation.measurement == ks.Measurement(2.0)
    assert (evaluation.stage, evaluation.code, evaluation.diagnostics) == (None, None, None)


def test_a_rejection_says_why():
    evaluation = ks.Evaluation.reject("it does not compile", code="compile_failed", stage="compile")
    assert not evaluation.accepted and evaluation.fitness is None and evaluation.features == {}
    assert (evaluation.stage, evaluation.code) == ("compile", "compile_failed")
    assert evaluation.diagnostics == "it does not compile"


@pytest.mark.parametrize("arguments, named", [({"code": "nonsense"}, "nonsense"), ({"stage": "lunch"}, "lunch")])
def test_an_unknown_code_is_told(arguments, named):
    with pytest.raises(ks.Error, match=named) as raised:
        ks.Evaluation.reject("x", **arguments)
    assert raised.value.code == "invalid_argument"


@pytest.mark.parametrize("fitness", [math.nan, math.inf, -math.inf])
def test_a_fitness_that_is_not_finite_is_a_rejection(fitness):
    assert ks.Evaluation.accept(fitness).code == "bad_metrics"


def test_a_refusal_has_a_code():
    assert (ks.Refusal("enough").code, ks.Refusal("enough").detail) == ("no_code", "enough")
    assert ks.Refusal(code="exhausted").code == "exhausted"
    with pytest.raises(ks.Error, match="nonsense"):
        ks.Refusal(code="nonsense")


def test_a_byte_order_mark_before_a_text_is_dropped():
    assert ks.Source("\ufeffx").text == ks.Source({"a.py": "\ufeffx"}).text == "x"


def test_a_stream_is_fixed_by_its_seed():
    def draws(seed, ticket):
        rng = ks.Rng(seed, ticket)
        return [rng.random(), rng.normal(), rng.normal(100, 0.001), rng.below(1000), rng.choice("abcdef"),
                rng.uniform(-3, -2), rng.uniform()]

    assert draws(1, 2) == draws(1, 2) != draws(1, 3)
    uniform, normal, far, below, letter, between, also = draws(4, 5)
    assert -3 <= between < -2 and 0 <= also < 1
    assert 0 <= uniform < 1 and abs(normal) < 10 and abs(far - 100) < 1 and 0 <= below < 1000 and letter in "abcdef"
    with pytest.raises(ValueError):
        ks.Rng(1).below(0)
    with pytest.raises(ValueError):
        ks.Rng(1).choice([])


def test_an_error_says_what_where_and_what_to_do():
    error = ks.Error("no such task", "not_found", "a/task.yaml", "begin one")
    assert str(error) == "a/task.yaml: no such task (not_found)\nhint: begin one"
    assert (error.message, error.code, error.where, error.hint) == error.args
    assert str(ks.Error("bad luck")) == "bad luck (tool_failed)"


def a_program():
    with support.hill() as engine:
        engine.tell(engine.ask(), 1.0)
        [commit] = engine.tell(engine.ask(), {"b.py": "2 2", "a.py": ""}, (2.0, {"width": 3}))
        return commit.program


VALUES = {
    "source": lambda: ks.Source({"z.py": "a\udcffb", "a.py": "grüße\0"}),
    "no source": lambda: ks.Source({}),
    "measurement": lambda: ks.Measurement(0.1, -0.0, math.inf, samples=9, unit="us"),
    "acceptance": lambda: ks.Evaluation.accept(ks.Measurement(2.0, 1.5, 2.5), {"width": 0.1}),
    "rejection": lambda: ks.Evaluation.reject("line 1\nline 2 \udcff", code="compile_failed", stage="compile"),
    "program": a_program,
}


@pytest.mark.parametrize("name", VALUES)
def test_values_can_be_copied_pickled_and_looked_up(name):
    value, same = VALUES[name](), VALUES[name]()
    for copied in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value), same):
        assert copied == value and not copied != value and hash(copied) == hash(value)
        assert repr(copied) == repr(value)
    assert value in {same} and value != repr(value)
    assert all(value != make() for other, make in VALUES.items() if other != name)


def test_a_copied_program_is_whole():
    program = a_program()
    copied = pickle.loads(pickle.dumps(program))
    assert (copied.id, copied.parents, copied.origin, copied.source) == (1, [0], program.origin, program.source)
    assert list(copied.source.files) == ["b.py", "a.py"] and copied.evaluation.to_json() == program.evaluation.to_json()
    assert program != ks.Evaluation.accept(2.0)


def test_equal_measurements_have_equal_hashes():
    assert ks.Measurement(0.0) == ks.Measurement(-0.0) and hash(ks.Measurement(0.0)) == hash(ks.Measurement(-0.0))


def test_results_are_tables_in_which_foreign_texts_are_escaped():
    rejected = ks.Evaluation.reject("<script>alert(1)</script> & \u202e", code="raised")._repr_html_()
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; " in rejected
    assert "<script" not in rejected and "\u202e" not in rejected
    accepted = ks.Evaluation.accept(ks.Measurement(2.0, 1.5, 2.5), {"<b>": 3})._repr_html_()
    assert accepted.startswith("<table>") and "2 [1.5, 2.5]" in accepted
    assert "&lt;b&gt;" in accepted and "<b>" not in accepted
    program = a_program()._repr_html_()
    assert "Program 1" in program and "b.py, a.py" in program and "width" in program
    outcome = ks.run(seed="<i>", evaluator=lambda source: 3, proposer=lambda request: None, iterations=2)._repr_html_()
    assert "program 0, seed" in outcome and ("exhausted" in outcome or "budget" in outcome)
    long = ks.Evaluation.reject("\n".join(f"line {at}" for at in range(1000)))._repr_html_()
    assert "line 999" in long and len(long) < 1000
    evolved = openevolve.EvolutionResult(None, 0.5, "", {"<m>": 2}, None)._repr_html_()
    assert "best score" in evolved and "&lt;m&gt;" in evolved and "<m>" not in evolved


@pytest.mark.parametrize("name", [name for name in ks.__all__ if not name.startswith("__")])
def test_every_public_name_has_a_docstring(name):
    thing = getattr(ks, name)
    assert thing.__doc__ and "pybind11" not in thing.__doc__
    members = [member for member in vars(thing) if not member.startswith("_")] if isinstance(thing, type) else []
    bare = [member for member in members if callable(getattr(thing, member)) and not getattr(thing, member).__doc__]
    assert bare == []
