"""Signals, forks, the end of the interpreter, and what an import brings with it: each in a program of its own."""

import doctest
import importlib
import pkgutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import kernelsmith as ks
import pytest
import support

HILL = """\
import os, signal, sys, threading, time
import kernelsmith as ks
from support import hill, nudge, score, tell_next

def tell(word):
    print(word, flush=True)
"""


def told(process, word):
    """Reads up to a line that is the word."""
    for line in process.stdout:
        if line.strip() == word:
            return
    raise AssertionError(f"the program ended before it said {word!r}: {process.stderr.read()}")


def interrupt(process):
    process.send_signal(signal.SIGINT)


def end_of(process):
    """(exit status, the rest of its output, its errors)"""
    out, err = process.communicate(timeout=support.PATIENCE_S)
    return process.returncode, out, err


def check(process):
    status, out, err = end_of(process)
    assert status == 0, out + err
    return out


@pytest.mark.parametrize("kind", ["function", "coroutine", "proposer", "progress"])
def test_ctrl_c_ends_in_order(script, tmp_path, kind):
    folder = tmp_path / "hill.run"
    process = script(HILL + """
import asyncio
folder, kind = sys.argv[1:]
begun = []

def slowly(what, name):
    def call(argument):
        begun.append(argument)
        if kind == name and len(begun) > 5:
            tell("in the middle")
            time.sleep(0.2)
        return what(argument)
    return call

async def coroutine(source):
    begun.append(source)
    if len(begun) > 5:
        tell("in the middle")
        await asyncio.sleep(1000)
    return score(source)

outcome = ks.run(out=folder, seed="0 0", proposer=slowly(nudge, "proposer"), iterations=10**6,
                 evaluator=coroutine if kind == "coroutine" else slowly(score, "function"),
                 progress=slowly(lambda commit: None, "progress"))
assert outcome.reason == "stopped", outcome
tell(outcome.counts["evaluations"])
""", folder, kind)
    told(process, "in the middle")
    interrupt(process)
    evaluations = int(check(process).split()[-1])
    stored = ks.Run.open(folder)
    assert stored.counts["evaluations"] == evaluations > 0 and stored.ended is None and not stored.in_use
    with support.hill(folder, iterations=evaluations + 5, evaluator=support.score) as engine:
        assert engine.run().reason == "budget"


@pytest.mark.parametrize("evaluator", ["time.sleep(1000)", "while True: pass", "threading.Event().wait()"])
def test_a_second_ctrl_c_is_immediate(script, tmp_path, evaluator):
    process = script(HILL + f"""
def evaluate(source):
    tell("begun")
    {evaluator}

notice = threading.Thread(target=lambda: (signalled.wait(), tell("interrupted once")))
signalled = threading.Event()
signal.signal(signal.SIGINT, lambda *_: (signalled.set(), signal.default_int_handler(*_)))
notice.start()
try:
    ks.run(out=sys.argv[1], seed="0 0", evaluator=evaluate, proposer=nudge, iterations=10)
except KeyboardInterrupt:
    tell("raised")
    raise
""", tmp_path / "hill.run")
    told(process, "begun")
    interrupt(process)
    told(process, "interrupted once")
    interrupt(process)
    told(process, "raised")
    status, _, err = end_of(process)
    assert status in (-signal.SIGINT, 130), err
    assert err.count("Traceback") == 1 and err.strip().endswith("KeyboardInterrupt")
    assert not ks.Run.open(tmp_path / "hill.run").in_use


@pytest.mark.parametrize("call", ["ks.evaluate(task, 'x = 1')", "ks.run(task, out=task + '/a.run', iterations=1)"])
def test_ctrl_c_gives_up_what_is_being_prepared(script, tmp_path, call):
    """The import never ends: whoever waits for it raises something else."""
    (tmp_path / "task.yaml").write_text("version: 1\nname: import\nbackend: python\nevaluator: evaluator.py\n"
                                        "sandbox: false\nfiles: {seed: seed.py}\n")
    (tmp_path / "seed.py").write_text("x = 0  # @tune 0 1\n")
    begun = tmp_path / "begun"
    (tmp_path / "evaluator.py").write_text(f"import time\nopen({str(begun)!r}, 'w').close()\ntime.sleep(1000)\n")
    process = script(HILL + f"""
task = sys.argv[1]
try:
    {call}
except KeyboardInterrupt:
    tell("raised")
""", tmp_path)
    while not begun.exists() and process.poll() is None:
        time.sleep(0.01)
    interrupt(process)
    assert check(process) == "raised\n"
    assert not (tmp_path / "a.run").exists()


def test_ctrl_c_while_logging(script):
    check(script(HILL + """
import logging

def note(record):
    signal.raise_signal(signal.SIGINT)
    return True

def evaluate(source):
    raise ks.Error("no luck")

logging.getLogger("kernelsmith").addFilter(note)
assert hill(evaluator=evaluate, limits={"errors_in_a_row": 100}).run().reason == "stopped"
"""))


def test_another_exception_of_a_signal_handler_is_raised_after_the_end(script):
    check(script(HILL + """
def alarm(*_):
    raise TimeoutError("too long")

def evaluate(source):
    begun.append(source)
    if len(begun) == 10:
        os.kill(os.getpid(), signal.SIGUSR1)
    return score(source)

begun = []
signal.signal(signal.SIGUSR1, alarm)
engine = hill(evaluator=evaluate, iterations=10**6)
try:
    engine.run()
except TimeoutError:
    before = len(begun)
    engine.close()
    assert len(begun) == before
else:
    raise AssertionError
"""))


def test_ctrl_c_during_evaluate(script, task, sandboxed):
    (task / "score.sh").write_text("while true; do sleep 1; done\n")
    (task / "task.yaml").write_text(support.TASK + "timeout_s: 600\n")
    process = script(HILL + """
signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
signal.setitimer(signal.ITIMER_REAL, 0.5)
try:
    ks.evaluate(sys.argv[1], "k0 = 1")
except KeyboardInterrupt:
    tell("raised")
""", task)
    assert "raised" in check(process)


def test_the_interpreter_may_end_in_every_state(script):
    for state in ("engine = hill()", "engine = hill(); engine.ask()", "engine = hill(); engine.run()",
                  "engine = hill(); engine.cycle = [engine]",
                  "engine = hill(iterations=10**9); threading.Thread(target=engine.run, daemon=True).start(); time.sleep(.1)",
                  "hill(evaluator=slow).run(); tell('ran')"):
        status, out, err = end_of(script(HILL + "async def slow(source): return score(source)\n" + state))
        assert (status, err) == (0, ""), state


def test_a_forked_child_does_not_come_back_from_a_callback(script):
    status, out, err = end_of(script(HILL + """
def fork(source):
    if os.fork() == 0:
        return 99.0
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 1
    return score(source)

assert ks.run(seed="0 0", evaluator=fork, proposer=nudge, iterations=3).best.fitness < 11
print("whole")
"""))
    assert (status, out) == (0, "whole\n"), err
    assert "a forked child ends here" in err


def test_a_fork_leaves_the_search_to_its_parent(script, tmp_path):
    out = check(script(HILL + """
import gc

async def slow(source):
    return score(source)

engine = hill(sys.argv[1], evaluator=slow)
tell_next(engine)
assert hill(evaluator=slow).run().reason == "budget"
child = os.fork()
if child == 0:
    for call in (engine.ask, lambda: engine.done, lambda: engine.outcome, engine.run, lambda: engine.tell(0, 1)):
        try:
            call()
        except ks.Error as error:
            assert "fork" in str(error), error
        else:
            os._exit(3)
    engine.close()
    del engine
    gc.collect()
    assert hill(evaluator=slow).run().reason == "budget"
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert engine.run().reason == "budget"
tell("done")
""", tmp_path / "hill.run"))
    assert "done" in out


def test_an_import_is_light(script):
    heavy = ["numpy", "asyncio", "matplotlib", "pandas", "logging", "ssl"]
    out = check(script(f"import kernelsmith, sys\nprint([name for name in {heavy} if name in sys.modules])"))
    assert out == "[]\n"


@pytest.mark.parametrize("order", ["numpy, kernelsmith", "kernelsmith, numpy"])
def test_numpy_may_come_first_or_last(script, order):
    check(script(f"import {order}\nfrom support import hill\nengine = hill()\nengine.run()\n"
                 "assert engine.archive.grid.shape and float(numpy.float64(1)) == 1"))


def modules():
    package = [ks.__name__] + [f"{ks.__name__}.{module.name}" for module in pkgutil.iter_modules(ks.__path__)]
    return [name for name in package if not name.endswith("__main__")]


@pytest.mark.parametrize("name", modules())
def test_the_examples_in_docstrings_hold(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    try:
        module = importlib.import_module(name)
    except ImportError as missing:
        pytest.skip(f"an optional dependency is not installed: {missing}")
    assert doctest.testmod(module).failed == 0


def test_there_are_examples_in_docstrings(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert sum(doctest.testmod(importlib.import_module(name)).attempted for name in ("kernelsmith", "kernelsmith._search",
                                                                                     "kernelsmith._run")) > 10


def test_the_types_are_right(tmp_path):
    pytest.importorskip("mypy")
    package = Path(ks.__file__).absolute().parent
    assert "    def best(self) -> Program | None:\n" in (package / "_core.pyi").read_text()
    if "site-packages" in package.parts:
        pytest.skip("mypy takes no sources from site-packages: a build tree's are checked")
    # _core.pyi is generated: pybind11 gives `__eq__` its own class, and paths and sequences no type of item.
    (tmp_path / "mypy.ini").write_text("[mypy]\nstrict = True\n[mypy-kernelsmith._core]\n"
                                       "disallow_any_generics = False\ndisable_error_code = override\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--config-file", "mypy.ini", str(package)], cwd=tmp_path,
                          env=support.environment(), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
