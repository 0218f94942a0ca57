"""`kernelsmith agent`: a small agent of our own, a loop of model calls and tool calls over a run."""

from __future__ import annotations

import inspect
import json
import re
import sys
import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from .. import _core
from .._errors import Error
from .._search import prompt
from .._words import visible
from .answers import interval
from .command import Parser, add_run_options, desk_for, drive_beside, leave
from .desk import Desk
from .notes import RULES
from .tools import Tools

_KEPT_MESSAGES = 16  # of the conversation's end, beside the task
_FENCE = re.compile(r"^```json[ \t]*\n(.*?)^```", re.DOTALL | re.MULTILINE)

_PROTOCOL = """
# Tools

Every reply of yours is one tool call: a fenced block with the language json, such as

```json
{"tool": "history", "limit": 10}
```

For `evaluate` and `submit` of a new program leave `code` out and give the program in a fenced block of its own behind the
call. Say in a sentence or two before the call what you try and why.

"""


class Model:
    """A server's model, asked for one reply at a time. Raises Error."""

    def __init__(self, name: str, base_url: str, max_tokens: int | None) -> None:
        self._name = name
        self._max_tokens = max_tokens
        self._server = _core.Model(base_url, "", 600.0, 5, 1)

    def reply(self, messages: list[dict[str, str]]) -> str:
        """The text that the model answers with."""
        answered = threading.Event()
        answers: list[Any] = []

        def take(answer: Any) -> None:
            answers.append(answer)
            answered.set()

        self._server.start(self._name, messages, take, max_output_tokens=self._max_tokens)
        answered.wait()
        if isinstance(answers[0], Error):
            raise answers[0]
        return str(answers[0]["text"])


def described(tools: Tools) -> str:
    """The tools as a model reads them."""
    return "\n".join(f"- `{tool.__name__}{inspect.signature(tool)}`: {inspect.getdoc(tool)}".replace(" -> 'str'", "")
                     for tool in tools.all())


def call_in(reply: str, parent: _core.Program | None) -> tuple[str, dict[str, Any]]:
    """The tool call in a reply: its name and arguments. Raises Error, which says what a call is.

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
            raise Error(f"no program was found beside the call: {child.code}, {child.detail}", "bad_input", name,
                        "give the call as a json block, and the program in a block of its own")
        arguments["files"] = child.files
    _check_texts(arguments)
    return name, arguments


def _check_texts(arguments: dict[str, Any]) -> None:
    """Raises Error for a program that is no text. What else is of a wrong type the tools refuse themselves."""
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
    """The loop. Every step is a reply of the model and the answer of the tool that it calls."""

    def __init__(self, desk: Desk, model: Model) -> None:
        self._desk = desk
        self._model = model
        self._tools = Tools(desk)
        self._turns: list[dict[str, str]] = []

    def run(self, most_turns: int) -> None:
        """Until the run is over, or the turns are. Raises Error of the model's server."""
        by_name = {tool.__name__: tool for tool in self._tools.all()}
        for _ in range(most_turns):
            if self._desk.is_over():
                return
            try:
                request = self._desk.request()
                reply = self._model.reply(self._messages(request))
                self._turns.append({"role": "assistant", "content": reply})
                answer = self._answer(reply, by_name, request)
            except Error as error:
                if self._desk.is_over():
                    return
                raise error
            self._turns.append({"role": "user", "content": answer})
            said = f"{reply.strip()[:500]}\n--- {answer[:300]}\n"
            print("\n".join(visible(line) for line in said.split("\n")), file=sys.stderr, flush=True)

    def _messages(self, request: _core.Request) -> list[dict[str, str]]:
        task = prompt(request, self._desk.task, set="agent")
        shown = request.parent.source.files if request.parent else {}
        current = "\n".join(f"{path}:\n```\n{text}\n```" for path, text in shown.items())
        first = {"role": "user", "content": f"{task.user}\n\n# Program to begin with\n\n{current}"}
        system = {"role": "system", "content": RULES + "\n" + task.system + "\n" + _PROTOCOL + described(self._tools)}
        # An even number, so that the roles go on alternating behind the first message.
        return [system, first, *self._turns[-_KEPT_MESSAGES:]]

    def _answer(self, reply: str, by_name: dict[str, Any], request: _core.Request) -> str:
        try:
            name, arguments = call_in(reply, request.parent)
            if name not in by_name:
                raise Error(f"there is no tool {name}", "bad_input", "tool", f"the tools are {', '.join(by_name)}")
            try:
                inspect.signature(by_name[name]).bind(**arguments)
            except TypeError as wrong:
                raise Error(str(wrong), "bad_input", name) from None
            return str(by_name[name](**arguments))
        except Error as error:
            return f"error: {error}"
        except (TypeError, ValueError) as wrong:  # an argument of another type
            return f"error: {wrong}"


def agent(arguments: Sequence[str]) -> NoReturn:
    """Does what the arguments say, and ends the process. Raises Error for wrong use."""
    parser = Parser(prog="kernelsmith agent", allow_abbrev=False,
                    description="Let a model work on a run with the tools of `kernelsmith mcp` (docs/agents.md)")
    add_run_options(parser)
    parser.add_argument("--model", required=True, help="the model's name")
    parser.add_argument("--base-url", default="", help="the server, as in docs/llm.md; default: the environment's")
    parser.add_argument("--max-tokens", type=int, help="of a reply")
    parser.add_argument("--turns", type=int, default=200, help="replies of the model at most; default: 200")
    options = parser.parse_args(arguments)
    desk = desk_for(options)
    conversation = Conversation(desk, Model(options.model, options.base_url, options.max_tokens))
    print(f"kernelsmith: {desk.folder}", file=sys.stderr, flush=True)

    def work() -> None:
        outcome = drive_beside(desk, lambda: conversation.run(options.turns))
        if outcome.best is None:
            return
        shown = outcome.confirmation or outcome.best.evaluation
        if shown.measurement is not None:
            again = ", measured again" if outcome.confirmation else ""
            print(f"best: program {outcome.best.id}, fitness {interval(shown.measurement)}{again}; in {desk.folder / 'best'}")

    leave(work)
