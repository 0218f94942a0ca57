"""`kernelsmith agent`: our own small agent, a loop of model calls and tool calls for a run."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, get_args, get_type_hints

from .. import _core
from .._command_line import Parser
from .._errors import Error
from .._models import reply_of
from .._run import Run
from .._search import prompt
from .._words import visible
from .command import add_run_options, desk_for, drive_beside, leave, say_best
from .desk import Desk
from .notes import RULES
from .tools import Tools

_KEPT_TURNS = 8  # at the conversation's end; the task is always kept, too
_PRICES = "prices.yaml"  # in the run's folder: its prices hold until --price-file names others
_SILENT_TURNS = 2  # replies in a row without a tool call or a program, after which the model is done
_FENCE = re.compile(r"^```json[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)

_TOOLS = """
Call a tool in every reply, and say in a sentence or two what you try and why. When you have nothing more to try, call `finish`.
"""

_PROTOCOL = """
# Tools

Each of your replies is one tool call: a fenced block with the language json, such as

```json
{"tool": "history", "limit": 10}
```

To `evaluate` or `submit` a new program, leave `code` out and give the program in a second fenced block after the call.
Before the call, say in a sentence or two what you try and why.

"""


class Model:
    """A server's model, which gives one reply at a time. Raises Error.

    max_usd  the limit of the run's cost: `is_spent` says whether another call at the highest cost so far
             would exceed it
    """

    def __init__(self, name: str, base_url: str, max_tokens: int | None, price_file: str = "", max_usd: float | None = None) -> None:
        self.name = name
        self.takes_tools = True  # until the server refuses them, which it does at once
        self._has_answered = False
        self._max_tokens = max_tokens
        self._max_usd = max_usd
        self._server = _core.Model(base_url, "", 600.0, 5, 1, price_file, say)
        if max_usd is not None and not self._server.has_price(name):
            raise Error(f"a limit of money needs the price of {visible(name)}", "invalid_argument", "--max-usd",
                        "--price-file names a file with it (docs/llm.md)")

    def reply(self, messages: Callable[[], list[dict[str, Any]]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        """The model's reply, as _core.Model.start gives it. `messages` may depend on takes_tools."""
        try:
            answer = self._asked(messages(), tools if self.takes_tools else [])
        except Error as error:
            if error.code != "invalid_argument" or self._has_answered:
                raise
            self.takes_tools = False
            answer = self._asked(messages(), [])
        self._has_answered = True
        return answer

    def is_spent(self, run: Run) -> str:
        """The reason why the run's budget allows no further call; empty if it allows one."""
        spent = sum(row["usd"] for row in run.cost())
        if self._max_usd is None or (spent < self._max_usd and spent + dearest(run) <= self._max_usd):
            return ""
        return f"the money is used up, or the rest does not pay for another call: {spent:.4g} of {self._max_usd:g} USD"

    def _asked(self, messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> dict[str, Any]:
        return reply_of(self._server, self.name, messages, max_output_tokens=self._max_tokens,
                        extra_body=json.dumps({"tools": tools}) if tools else "")


def dearest(run: Run) -> float:
    """The cost of the agents' most expensive call in this run, including earlier sessions."""
    return max((event["cost"].get("usd", 0.0) for event in run.events() if event["event"] == "call_failed"), default=0.0)


def say(line: str) -> None:
    """Prints a message to the user."""
    print(f"kernelsmith: {visible(line)}", file=sys.stderr, flush=True)


_TYPES = {str: {"type": "string"}, int: {"type": "integer"}, bool: {"type": "boolean"},
          dict[str, str]: {"type": "object", "additionalProperties": {"type": "string"}}}


def schema_of(tool: Callable[..., str]) -> dict[str, Any]:
    """The declaration of a tool for Chat Completions.

    >>> def look(at: int, closely: bool = False) -> str:
    ...     'Look at it.'
    >>> schema_of(look)["function"]["parameters"]
    {'type': 'object', 'properties': {'at': {'type': 'integer'}, 'closely': {'type': 'boolean'}}, 'required': ['at']}
    """
    hints = get_type_hints(tool)
    properties: dict[str, Any] = {}
    required = []
    for name, parameter in inspect.signature(tool).parameters.items():
        [kind] = [one for one in get_args(hints[name]) if one in _TYPES] if hints[name] not in _TYPES else [hints[name]]
        properties[name] = _TYPES[kind]
        if parameter.default is parameter.empty:
            required.append(name)
    return {"type": "function", "function": {"name": tool.__name__, "description": inspect.getdoc(tool),
                                             "parameters": {"type": "object", "properties": properties, "required": required}}}


def described(tools: Tools) -> str:
    """The tools' descriptions for a model."""
    return "\n".join(f"- `{tool.__name__}{inspect.signature(tool)}`: {inspect.getdoc(tool)}".replace(" -> 'str'", "")
                     for tool in tools.all())


def call_in(reply: str, parent: _core.Program | None) -> tuple[str, dict[str, Any]] | None:
    """The tool call in a reply's text: its name and arguments; None if there is neither a call nor a program.
    Raises an Error that explains the form of a call.

    >>> call_in('Let me look.\\n```json\\n{"tool": "history", "limit": 5}\\n```', None)
    ('history', {'limit': 5})
    """
    found = [(match, one) for match in _FENCE.finditer(reply) if (one := _object(match.group(1))) is not None]
    if found:
        match, arguments = found[-1]
        name = str(arguments.pop("tool"))
        rest = reply[:match.start()] + reply[match.end():]
    else:
        name, arguments, rest = "evaluate", {}, reply
    if name in ("evaluate", "submit") and not {"code", "files", "program"} & set(arguments):
        child = _core.extract(rest, parent.source if parent else "", False)
        if isinstance(child, _core.Refusal):
            if not found and child.code in ("no_code", "empty_reply"):
                return None
            raise Error(f"no program was found besides the call: {child.code}, {child.detail}", "bad_input", name,
                        "give the call as a json block, and the program in a block of its own")
        arguments["files"] = child.files
    _check_texts(arguments)
    return name, arguments


def _check_texts(arguments: dict[str, Any]) -> None:
    """Raises Error for a program that is not a text. The tools refuse other wrong types themselves."""
    code, files = arguments.get("code"), arguments.get("files")
    if code is not None and not isinstance(code, str):
        raise Error("`code` is the whole program as one string", "bad_input", "code")
    if files is not None and not (isinstance(files, dict) and all(isinstance(text, str) for text in files.values())):
        raise Error("`files` is an object with a string, the whole text, for each path", "bad_input", "files")


def _object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and "tool" in value else None


class Conversation:
    """The loop. Each step is a reply of the model and the answers of the tools that the model calls."""

    def __init__(self, desk: Desk, model: Model) -> None:
        self._desk = desk
        self._model = model
        self._tools = Tools(desk)
        self._by_name = {tool.__name__: tool for tool in self._tools.all()}
        self._schemas = [schema_of(tool) for tool in self._tools.all()]
        self._turns: list[list[dict[str, Any]]] = []
        self._silent = 0
        self._asks = False  # a call is under way
        desk.cut_off = self._cut_off

    def run(self, most_turns: int) -> None:
        """Runs until the run or the turns end, the model is done, or the money is used up. Raises the errors
        of the model's server."""
        for _ in range(most_turns):
            if self._desk.is_over():
                return
            try:
                request = self._desk.request()
                why = "the model is done" if self._silent == _SILENT_TURNS else self._model.is_spent(self._desk.run())
                if why:
                    say(why)
                    return self._desk.finish(why)
                self._asks = True
                reply = self._model.reply(partial(self._messages, request), self._schemas)
                self._charge(request, reply)
                self._asks = False
                turn = self._turn(reply, request)
            except Error as error:
                if self._desk.is_over():
                    return
                raise error
            self._turns.append(turn)
            said = [reply["text"].strip()[:500], *(f"{one['function']['name']} {one['function']['arguments'][:500]}"
                                                   for one in reply["tool_calls"])]
            said += [f"--- {one['content'][:300]}" for one in turn[1:]]
            print("\n".join(visible(line) for line in "\n".join(filter(None, said)).split("\n")) + "\n", file=sys.stderr, flush=True)

    def _charge(self, request: _core.Request, reply: dict[str, Any]) -> None:
        usage = reply["usage"] or {"prompt_tokens": 0, "completion_tokens": 0}
        request.charge(self._model.name, reply["usd"], usage["prompt_tokens"], usage["completion_tokens"])

    def _cut_off(self, request: _core.Request) -> None:
        """A call that Ctrl-C interrupts may be billed for an unknown amount, so it counts as much as the most
        expensive call so far."""
        if self._asks:
            usd = dearest(self._desk.run())
            request.charge(self._model.name, usd, 0, 0)
            say(f"a call was cut off: it counts as {usd:.4g} USD, as much as the dearest call before it")

    def _messages(self, request: _core.Request) -> list[dict[str, Any]]:
        task = prompt(request, self._desk.task, set="agent")
        shown = request.parent.source.files if request.parent else {}
        current = "\n".join(f"{path}:\n```\n{text}\n```" for path, text in shown.items())
        first = {"role": "user", "content": f"{task.user}\n\n# Program to begin with\n\n{current}"}
        how = _TOOLS if self._model.takes_tools else _PROTOCOL + described(self._tools)
        system = {"role": "system", "content": RULES + "\n" + task.system + "\n" + how}
        # Complete turns: a tool's answer follows its call, and roles alternate.
        return [system, first, *(message for turn in self._turns[-_KEPT_TURNS:] for message in turn)]

    def _turn(self, reply: dict[str, Any], request: _core.Request) -> list[dict[str, Any]]:
        """Adds the reply and the answer to it."""
        said: dict[str, Any] = {"role": "assistant", "content": reply["text"]}
        if reply["tool_calls"]:
            said["tool_calls"] = reply["tool_calls"]
            return [said, *({"role": "tool", "tool_call_id": call["id"], "content": self._answer(partial(named, call))}
                            for call in reply["tool_calls"])]
        return [said, {"role": "user", "content": self._answer(partial(call_in, reply["text"], request.parent))}]

    def _answer(self, find: Callable[[], tuple[str, dict[str, Any]] | None]) -> str:
        try:
            if (found := find()) is None:
                self._silent += 1
                return f"No tool was called. If you have nothing more to try, call `finish`.\n{_PROTOCOL}{described(self._tools)}"
            self._silent = 0
            name, arguments = found
            if name not in self._by_name:
                raise Error(f"there is no tool {name}", "bad_input", "tool", f"the tools are {', '.join(self._by_name)}")
            try:
                inspect.signature(self._by_name[name]).bind(**arguments)
            except TypeError as wrong:
                raise Error(str(wrong), "bad_input", name) from None
            return str(self._by_name[name](**arguments))
        except Error as error:
            return f"error: {error}"
        except (TypeError, ValueError) as wrong:  # an argument of another type
            return f"error: {wrong}"


def named(call: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The name and arguments of a call in the protocol's form. Raises Error."""
    function = call["function"]
    try:
        arguments = json.loads(function["arguments"] or "{}")
    except (ValueError, RecursionError):
        arguments = None
    if not isinstance(arguments, dict):
        raise Error("the arguments are not a JSON object", "bad_input", function["name"])
    _check_texts(arguments)
    return function["name"], arguments


def agent(arguments: Sequence[str]) -> NoReturn:
    """Runs the command and ends the process. Raises Error for wrong use."""
    parser = Parser(prog="kernelsmith agent", allow_abbrev=False,
                    description="Let a model work on a run with the tools of `kernelsmith mcp` (docs/agents.md)")
    add_run_options(parser)
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--base-url", default="",
                        help="the server, as in docs/llm.md; default: the server that the environment names")
    parser.add_argument("--max-tokens", type=int, help="the largest number of tokens in a reply")
    parser.add_argument("--max-usd", metavar="X", type=float,
                        help="end the run when the model's calls have cost this much in all; needs --price-file")
    parser.add_argument("--price-file", default="", metavar="FILE",
                        help="the model's prices, as in docs/llm.md")
    parser.add_argument("--turns", type=int, default=200, help="the largest number of replies of the model; default: 200")
    options = parser.parse_args(arguments)
    desk = desk_for(options, "agent")
    kept = desk.folder / _PRICES
    price_file = options.price_file or (str(kept) if kept.is_file() else "")
    prices = Path(price_file).read_bytes() if price_file else b""
    conversation = Conversation(desk, Model(options.model, options.base_url, options.max_tokens, price_file, options.max_usd))
    say(str(desk.folder))
    turns_end = False

    def converse() -> None:
        nonlocal turns_end
        desk.request()
        if options.price_file:
            kept.write_bytes(prices)
        conversation.run(options.turns)
        turns_end = True

    def work() -> None:
        outcome = drive_beside(desk, converse)
        say_best(desk, outcome)
        if outcome.reason == "stopped" and not turns_end:
            raise KeyboardInterrupt


    leave(work)
