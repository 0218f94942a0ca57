"""run_evolution() and similar functions, with OpenEvolve 0.4.1's signatures."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import os
import pickle
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import _tables
from .._errors import Error
from .._files import write
from .config import Config, load_config
from .programs import Program
from .search import search
from .task import read_inputs

_START, _END = "# EVOLVE-BLOCK-START\n", "\n# EVOLVE-BLOCK-END\n"


@dataclass
class EvolutionResult:
    """The result of a search. `output_dir` is None if it was temporary."""

    best_program: Program | None
    best_score: float
    best_code: str
    metrics: dict[str, Any]
    output_dir: str | None

    def __repr__(self) -> str:
        return f"EvolutionResult(best_score={self.best_score:.4f})"

    def _repr_html_(self) -> str:
        return _tables.evolution(self)


def run_evolution(initial_program: str | os.PathLike[str] | list[str],
                  evaluator: str | os.PathLike[str] | Callable[[str], Any],
                  config: str | os.PathLike[str] | Config | None = None, iterations: int | None = None,
                  output_dir: str | None = None, cleanup: bool = True, target_score: float | None = None,
                  checkpoint_path: str | None = None, island_selector: Any = None,
                  population_strategy: Any = None) -> EvolutionResult:
    """Evolves a program.

    `initial_program` is a file, a text, or a list of lines. `evaluator` is a file, a function of a program's
    path, or the text of a module with evaluate(program_path). Texts may be indented as a whole. `config` is a
    file, a Config (also one of OpenEvolve), or None for the defaults. Evaluations run in other processes, so
    a function is pickled, with cloudpickle if it is installed. Without `output_dir` the results are in a
    temporary folder and deleted with it; with `cleanup=False` they stay in openevolve_output. A second call
    with the same arguments continues in `output_dir`. Raises Error.
    """
    _require("initial_program", initial_program, str, os.PathLike, list)
    if not callable(evaluator):
        _require("evaluator", evaluator, str, os.PathLike)
    _require("iterations", iterations, int, type(None))
    _require("target_score", target_score, int, float, type(None))
    _require("checkpoint_path", checkpoint_path, str, os.PathLike, type(None))
    for name, value in (("island_selector", island_selector), ("population_strategy", population_strategy)):
        if value is not None:
            raise Error("the engine decides this itself", "invalid_argument", name,
                        "leave it out; docs/openevolve.md says which keys database.* of the configuration may set")
    configured = _config_from(config)
    if iterations is not None:
        configured.max_iterations = iterations
    temporary = output_dir is None and cleanup
    folder = Path(tempfile.mkdtemp(prefix="kernelsmith-")) if temporary else Path(output_dir or "openevolve_output")
    try:
        inputs = read_inputs(_program_in(folder, initial_program, configured), _evaluator_in(folder, evaluator), configured)
        found = search(inputs, configured, folder, target=target_score, checkpoint=checkpoint_path)
    finally:
        if temporary:
            shutil.rmtree(folder, ignore_errors=True)
    best = found.best
    return EvolutionResult(best, found.fitness, best.code if best else "", best.metrics if best else {},
                           None if cleanup else str(folder))


def evolve_function(func: Callable[..., Any], test_cases: list[tuple[Any, Any]], iterations: int = 100,
                    **kwargs: Any) -> EvolutionResult:
    """Evolves a function of one argument until it gives the expected answer for all (input, expected) pairs;
    `combined_score` is the share of right answers. Inputs and answers are written into the evaluator with
    repr(). **kwargs are run_evolution's."""
    _require("func", func, Callable)
    _require("test_cases", test_cases, list, tuple)
    evaluator = _TESTS.format(name=func.__name__, cases=test_cases)
    return run_evolution(_marked(func), evaluator, iterations=iterations, **kwargs)


def evolve_algorithm(algorithm_class: type, benchmark: Callable[..., Any], iterations: int = 100,
                     **kwargs: Any) -> EvolutionResult:
    """Evolves a class. `benchmark` takes an instance and returns metrics or a number. Its source is copied,
    so it must import all that it uses. **kwargs are run_evolution's."""
    _require("algorithm_class", algorithm_class, type)
    _require("benchmark", benchmark, Callable)
    evaluator = _BENCHMARK.format(name=algorithm_class.__name__, function=benchmark.__name__,
                                  source=textwrap.dedent(inspect.getsource(benchmark)))
    return run_evolution(_marked(algorithm_class), evaluator, iterations=iterations, **kwargs)


def evolve_code(initial_code: str, evaluator: Callable[[str], dict[str, Any]], iterations: int = 100,
                **kwargs: Any) -> EvolutionResult:
    """run_evolution() for a text."""
    return run_evolution(initial_code, evaluator, iterations=iterations, **kwargs)


def _require(name: str, value: Any, *types: Any) -> None:
    if not isinstance(value, types):
        words = " or ".join("None" if one is type(None) else one.__name__ for one in types)
        raise TypeError(f"{name} is {words}, not {type(value).__name__}")


def _config_from(config: Any) -> Config:
    if isinstance(config, Config):
        return copy.copy(config)
    if config is None or isinstance(config, (str, os.PathLike)):
        return load_config(config)
    if dataclasses.is_dataclass(config) and hasattr(config, "llm"):
        return Config.from_object(config)
    raise TypeError(f"a config is a file, a Config or None, not {type(config).__name__}")


def _marked(thing: Any) -> str:
    source = textwrap.dedent(inspect.getsource(thing)).rstrip("\n")
    return source + "\n" if "EVOLVE-BLOCK-START" in source else _START + source + _END


def _program_in(folder: Path, program: Any, config: Config) -> Path:
    """The program's file. A text is written into the folder, as one EVOLVE-BLOCK if it marks no block."""
    if isinstance(program, (str, os.PathLike)) and _is_file(program):
        return Path(program)
    code = _dedented("\n".join(program) if isinstance(program, list) else str(program))
    if "EVOLVE-BLOCK-START" not in code:
        code = _START + code.rstrip("\n") + _END
    return _written(folder / "inputs" / ("initial_program" + config.file_suffix), code.encode())


def _evaluator_in(folder: Path, evaluator: Any) -> Path:
    if isinstance(evaluator, (str, os.PathLike)) and _is_file(evaluator):
        return Path(evaluator)
    file = folder / "inputs" / "evaluator.py"
    if not callable(evaluator):
        if "def evaluate" not in str(evaluator):
            raise Error("this is neither a file nor the text of a module with evaluate(program_path)", "not_found",
                        str(evaluator).split("\n")[0][:200])
        return _written(file, _dedented(str(evaluator)).encode())
    pickled = _written(file.with_suffix(".pickle"), _pickled(evaluator))
    return _written(file, _CALLS.format(file=str(pickled.absolute()), paths=[one for one in sys.path if one]).encode())


def _dedented(text: str) -> str:
    """Removes the common indentation of a text in indented code."""
    return textwrap.dedent(text).lstrip("\n")


def _pickled(function: Callable[..., Any]) -> bytes:
    try:
        import cloudpickle  # type: ignore[import-not-found,import-untyped,unused-ignore]

        data: bytes = cloudpickle.dumps(function)
        return data
    except ImportError:
        pass
    try:
        if getattr(function, "__module__", "") == "__main__":
            raise pickle.PicklingError("it is defined in the program itself")
        return pickle.dumps(function)
    except Exception as wrong:
        raise Error(f"the evaluator cannot be handed to another process: {wrong}", "invalid_argument", "evaluator",
                    f"{sys.executable} -m pip install cloudpickle, or put evaluate() into a file and name it") from None


def _is_file(name: str | os.PathLike[str]) -> bool:
    try:
        return Path(name).is_file()
    except (OSError, ValueError):  # a text that is not a file name
        return False


def _written(file: Path, data: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    write(file, data)
    return file


_CALLS = '''\
import pickle
import sys

sys.path += [one for one in {paths!r} if one not in sys.path]
with open({file!r}, "rb") as file:
    evaluate = pickle.load(file)
'''

_LOADS = '''\
import importlib.util


def _loaded(program_path):
    spec = importlib.util.spec_from_file_location("evolved", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, {name!r})

'''

_TESTS = _LOADS + '''
CASES = {cases!r}


def evaluate(program_path):
    import copy

    function = _loaded(program_path)
    passed, errors = 0, []
    for given, expected in CASES:
        try:
            answer = function(copy.deepcopy(given))
        except Exception as raised:
            errors.append(f"{{given!r}}: {{raised!r}}")
            continue
        passed += answer == expected
        if answer != expected:
            errors.append(f"{{given!r}}: {{answer!r}} and not {{expected!r}}")
    share = passed / len(CASES) if CASES else 0.0
    return {{"combined_score": share, "score": share, "test_pass_rate": share, "tests_passed": passed,
            "total_tests": len(CASES), "errors": errors[:3]}}
'''

_BENCHMARK = _LOADS + '''
{source}

def evaluate(program_path):
    metrics = {function}(_loaded(program_path)())
    metrics = dict(metrics) if isinstance(metrics, dict) else {{"score": metrics}}
    metrics.setdefault("combined_score", metrics.get("score", 0.0))
    return metrics
'''
