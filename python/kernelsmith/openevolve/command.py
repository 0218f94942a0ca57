"""`kernelsmith openevolve`: OpenEvolve's command line, and `kernelsmith export --format trace`."""

from __future__ import annotations

import argparse
import json
import logging
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .._command_line import Parser
from .._errors import Error
from .._words import visible
from .config import Config, load_config
from .search import Found, search
from .task import read_inputs
from .trace import trace_of, write_trace

_LEVELS = ["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"]


def _parser() -> argparse.ArgumentParser:
    parser = Parser(prog="kernelsmith openevolve", allow_abbrev=False,
                    description="Run an unchanged OpenEvolve task (docs/openevolve.md)")
    parser.add_argument("initial_program", metavar="INITIAL", help="the program to begin with")
    parser.add_argument("evaluation_file", metavar="EVALUATOR", help="a Python file with evaluate(program_path)")
    parser.add_argument("-c", "--config", metavar="CONFIG", help="OpenEvolve's configuration, YAML")
    parser.add_argument("-o", "--output", metavar="OUT",
                        help="the folder for results; default: openevolve_output beside INITIAL")
    parser.add_argument("-i", "--iterations", metavar="N", type=int, help="overrides max_iterations")
    parser.add_argument("-t", "--target-score", metavar="TARGET", type=float,
                        help="end the search when the fitness reaches TARGET")
    parser.add_argument("-l", "--log-level", choices=_LEVELS, help="the level of messages on the screen and in OUT/logs")
    parser.add_argument("--logger-prefix", metavar="NAME", help="a prefix of the logger's name")
    parser.add_argument("--checkpoint", metavar="DIR",
                        help="continue from a checkpoint of OpenEvolve or of this command")
    parser.add_argument("--evaluator-args", metavar="JSON", help="an object of keyword arguments for evaluate()")
    parser.add_argument("--api-base", metavar="URL", help="the models' server; the URL ends with /v1")
    parser.add_argument("--primary-model", metavar="NAME",
                        help="use this model instead of the configured models")
    parser.add_argument("--secondary-model", metavar="NAME",
                        help="a second model, by default for one call in six")
    return parser


def openevolve(arguments: Sequence[str]) -> int:
    """Runs the command and returns the exit status: 0, or OpenEvolve's 1. Raises Error for wrong use."""
    options = _parser().parse_args(arguments)
    config = _configured(options)
    logger = logging.getLogger(f"{config.logger_prefix}.kernelsmith.openevolve" if config.logger_prefix
                               else "kernelsmith.openevolve")
    handler = _on_the_screen(logger, config.log_level)
    try:
        inputs = read_inputs(options.initial_program, options.evaluation_file, config)
        out = Path(options.output) if options.output else inputs.program.parent / "openevolve_output"
        found = search(inputs, config, out, target=options.target_score, checkpoint=options.checkpoint, logger=logger)
    except Error as error:
        _say(error)
        return 1
    finally:
        logger.removeHandler(handler)
    _print(found, out)
    return 0


def _configured(options: argparse.Namespace) -> Config:
    config = load_config(options.config)
    llm = config.llm
    if options.api_base:
        llm.api_base = options.api_base
    if options.primary_model or options.secondary_model:
        llm.models = []
        llm.primary_model = options.primary_model or llm.primary_model
        llm.secondary_model = options.secondary_model or llm.secondary_model
    if options.iterations is not None:
        if options.iterations < 1:
            raise Error(f"the number of iterations must be at least 1, not {options.iterations}", "invalid_argument", "-i")
        config.max_iterations = options.iterations
    config.log_level = options.log_level or config.log_level
    config.logger_prefix = options.logger_prefix or config.logger_prefix
    if options.evaluator_args is not None:
        config.evaluator.evaluator_args = _object(options.evaluator_args)
    return config


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as wrong:
        raise Error(f"this is not JSON: {wrong}", "invalid_argument", "--evaluator-args") from None
    if not isinstance(value, dict):
        raise Error("this is not a JSON object", "invalid_argument", "--evaluator-args", "write '{\"name\": value}'")
    return value


def _on_the_screen(logger: logging.Logger, level: str) -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    logger.setLevel(level)
    logger.propagate = False
    logger.addHandler(handler)
    return handler


def _say(error: Error) -> None:
    where = f"{error.where}: " if error.where else ""
    for kind, text in (("error", f"{where}{error.message} ({error.code})"), ("hint", error.hint)):
        if text:  # a server's message may have several lines
            print(visible(f"{kind}: " + " ".join(text.split())), file=sys.stderr)


def _print(found: Found, out: Path) -> None:
    print(f"{found.iterations} iterations; ended: {found.reason}")
    if found.best is not None:
        print(f"best program, fitness {found.fitness:.6g}: {out / 'best'}")
        for name, value in found.best.metrics.items():
            print(f"  {name}: {value:.4f}" if isinstance(value, float) else f"  {name}: {value}")
    if found.checkpoint is not None:
        print(f"checkpoint: {found.checkpoint}")
    print(f"how it came about: python -m kernelsmith show {shlex.quote(str(out / 'run'))}")


def export_trace(arguments: Sequence[str]) -> int:
    """`export RUN --format trace`: writes lines to the standard output or into a file."""
    parser = Parser(prog="kernelsmith export", allow_abbrev=False,
                    description="OpenEvolve's evolution trace of a run folder or of an output folder, as JSON lines")
    parser.add_argument("RUN", type=Path)
    parser.add_argument("--format", choices=["trace"], required=True)
    parser.add_argument("-o", "--out", type=Path, metavar="FILE.jsonl")
    options = parser.parse_args(arguments)
    rows = trace_of(options.RUN)
    if options.out is not None:
        write_trace(options.out, rows)
        return 0
    for row in rows:
        print(json.dumps(row, default=str))
    return 0
