"""Imports the evaluator of a task as OpenEvolve does: as `evaluation_module`, its folder first on sys.path."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from typing import Any, Callable, List, Optional

from kernelsmith_process.framing import Failure

from . import results, traces

MODULE = "evaluation_module"
_MOST_WORDS = 8000


class Evaluator:
    """The functions of an evaluator, and the thresholds between its stages."""

    def __init__(self, module: Any, cascade: Optional[List[float]]) -> None:
        self.evaluate: Callable[[str], Any] = module.evaluate
        stages = [getattr(module, "evaluate_stage%d" % n, None) for n in (1, 2, 3)]
        # The first missing stage ends the list.
        self.stages = stages[:stages.index(None)] if None in stages else stages
        self.cascade = cascade or []


def load(path: str, cascade: Optional[List[float]]) -> Evaluator:
    """Imports the file. Raises a Failure of the task if that fails or the file has no evaluate()."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(path))
    sys.argv = [path]
    results.provide_openevolve()
    try:
        spec = importlib.util.spec_from_file_location(MODULE, path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[MODULE] = module
        spec.loader.exec_module(module)
    except BaseException as error:  # noqa: BLE001 - sys.exit() at import is as bad as any exception
        raise _failure("the evaluator cannot be imported: %s: %s" % (type(error).__name__, error),
                       _place_of(error, path), traces.current()) from None
    if not callable(getattr(module, "evaluate", None)):
        raise _failure("the evaluator has no function evaluate(program_path)", path + ":1")
    return Evaluator(module, cascade)


def _failure(message: str, where: str, words: str = "") -> Failure:
    sys.stderr.write(words)
    sys.stderr.flush()
    return Failure("task", "run", "refused", traces.plain(message)[:_MOST_WORDS],
                   "it is run by %s, with its own folder first on sys.path" % sys.executable, traces.plain(where))


def _place_of(error: BaseException, path: str) -> str:
    """FILE:LINE of the error in the evaluator itself, or else in the module that it called."""
    if isinstance(error, SyntaxError) and error.filename:
        return "%s:%s" % (error.filename, error.lineno)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    return "%s:%d" % (path, lines[-1] if lines else 1)
