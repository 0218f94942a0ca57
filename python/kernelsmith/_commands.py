"""The commands written in Python: `plot`, `dataset`, `synthesize`, `openevolve`, `mcp`, `agent`, `profile`,
`publish`, `apply`, and `export --format trace`."""

from __future__ import annotations

import importlib
import io
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from . import plot
from ._command_line import Parser
from ._errors import Error
from ._run import Run
from ._files import write


def _plot(arguments: Sequence[str]) -> None:
    parser = Parser(prog="kernelsmith plot", description=_COMMANDS["plot"], allow_abbrev=False,
                     epilog="Needs matplotlib: pip install matplotlib")
    parser.add_argument("RUN", help="the run folder; another process may be writing it")
    parser.add_argument("-o", "--out", metavar="FILE.{svg,png}", type=Path, required=True,
                        help="the picture; an existing file is replaced")
    options = parser.parse_args(arguments)
    # Names of models or folders may have letters that the font lacks; boxes replace them.
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    _draw(options.RUN, options.out)


def _draw(run: str, out: Path) -> None:
    kind = out.suffix[1:].lower()
    if kind not in ("svg", "png"):
        raise Error("a picture is .svg or .png", "invalid_argument", str(out), "name a file that ends with one of them")
    made = plot.figure(Run.open(run))
    file = io.BytesIO()
    made.savefig(file, format=kind, dpi=160, metadata={"Date": None} if kind == "svg" else None)
    write(out, file.getvalue())


_COMMANDS = {
    "plot": "Draw a run: best so far, lineage of the best, archive, cost, failures",
    "dataset": "Make training data from runs (docs/datasets.md)",
    "synthesize": "Make tasks from the PyTorch modules of repositories (docs/synthesis.md)",
    "openevolve": "Run an unchanged OpenEvolve task (docs/openevolve.md)",
    "mcp": "Serve a run to agents by the Model Context Protocol (docs/agents.md)",
    "agent": "Let a model work on a run with tools (docs/agents.md)",
    "profile": "Find a model's hot spots, and make tasks from them (docs/production.md)",
    "publish": "Make a package of runs' confirmed bests (docs/production.md)",
    "apply": "Put a package into a model, check and measure the whole (docs/production.md)",
    "export --format trace": "Print a run as OpenEvolve's evolution trace",
}

# The commands' functions, imported when needed. Those in .production also receive the command's name.
_HOMES = {
    "dataset": (".learning.dataset.command", "dataset"), "synthesize": (".synthesis.command", "command"),
    "openevolve": (".openevolve.command", "openevolve"), "export": (".openevolve.command", "export_trace"),
    "mcp": (".agents.command", "mcp"), "agent": (".agents.loop", "agent"),
    **dict.fromkeys(("profile", "publish", "apply"), (".production.command", "production")),
    **dict.fromkeys(("show", "suite"), (".production.after", "followed")),
}


def listed() -> str:
    """The list of this module's commands, in the format of the executable's own list."""
    return "\nWith python -m kernelsmith:\n" + "\n".join(f"  {name:<27} {about}" for name, about in _COMMANDS.items())


def _exports_trace(arguments: Sequence[str]) -> bool:
    pairs = zip(arguments, [*arguments[1:], ""], strict=True)
    return arguments[0] == "export" and any(pair == ("--format", "trace") or pair[0] == "--format=trace" for pair in pairs)


def _reports_held_out(arguments: Sequence[str]) -> bool:
    if arguments[0] not in ("show", "suite"):
        return False
    from .production.after import wanted

    return wanted(arguments)


def _profiles_a_candidate(arguments: Sequence[str]) -> bool:
    """Whether this is the executable's `profile TASK FILE`, and not `profile MODEL` with options."""
    words = arguments[1:3]
    return arguments[0] == "profile" and ("--no-evaluation" in arguments or any(one.startswith("--json") for one in arguments)
                                          or (len(words) == 2 and not any(one.startswith("-") for one in words)))


def knows(arguments: Sequence[str]) -> bool:
    """Whether the arguments are for a command of this module."""
    if _profiles_a_candidate(arguments):
        return False
    return arguments[0] in _COMMANDS or _exports_trace(arguments) or _reports_held_out(arguments)


def run(arguments: Sequence[str]) -> int:
    """Runs the command that the first argument names. Returns the exit status. Raises Error."""
    name = arguments[0]
    if name == "plot":
        _plot(arguments[1:])
        return 0
    module, function = _HOMES[name]
    command: Callable[[Sequence[str]], int] = getattr(importlib.import_module(module, __package__), function)
    return command(arguments if module.startswith(".production") else arguments[1:])
