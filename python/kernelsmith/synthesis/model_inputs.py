"""A language model writes get_inputs and get_init_inputs for modules for which the search found no inputs."""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from .. import _core
from .._errors import Error
from .._models import reply_of
from . import allowed
from .box.layout import reference
from .stages import Record

PROMPT = (Path(__file__).parent / "inputs_prompt.txt")
_FENCED = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)
_MOST_TOKENS = 2048
_TIMEOUT_S = 300


class Asker:
    """Asks the model. Does nothing if none is given. Replies are stored before use and never requested
    twice."""

    def __init__(self, model: str, journal: Path) -> None:
        self._model, self._journal = model, journal
        self._replies: dict[str, str] = {}
        self._server: Any = None
        if model and journal.exists():
            self._read()

    def _read(self) -> None:
        """Reads the stored replies, and cuts off an incomplete line."""
        whole = 0
        for number, line in enumerate(self._journal.read_bytes().splitlines(keepends=True), 1):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                kept = json.loads(line)
                self._replies[kept["prompt"]] = kept["reply"]
            except (ValueError, KeyError, TypeError):
                raise Error("this line is not a reply", "corrupt", f"{self._journal}:{number}",
                            "delete the line: its module is asked about again") from None
        os.truncate(self._journal, whole)

    def proposal(self, record: Record) -> Record | None:
        """A task for the sandbox, or None."""
        if not self._model:
            return None
        prompt = PROMPT.read_text().replace("{{code}}", record["code"]).replace("{{error}}", record["message"])
        made = parsed(self._reply(prompt), record["code"])
        if made is None:
            return None
        return {"reference": made, "origin": "model", "arguments": [], "inputs": [], "roofline_us": 0.0, "flops": 0, "bytes": 0,
                "state_bytes": 0}

    def _reply(self, prompt: str) -> str:
        key = hashlib.sha256(f"{self._model}\n{prompt}".encode()).hexdigest()
        if key not in self._replies:
            text = self._ask(prompt)
            with self._journal.open("a") as file:
                file.write(json.dumps({"prompt": key, "model": self._model, "reply": text}) + "\n")
            self._replies[key] = text
        return self._replies[key]

    def _ask(self, prompt: str) -> str:
        self._server = self._server or _core.Model("", "", float(_TIMEOUT_S), 4, 1)
        messages = [{"role": "user", "content": prompt}]
        return str(reply_of(self._server, self._model, messages, max_output_tokens=_MOST_TOKENS)["text"])


def parsed(reply: str, code: str) -> str | None:
    """The module with a reply's two functions. None if the reply has other code, or if the functions are not
    allowed in a task."""
    blocks = _FENCED.findall(reply)
    try:
        functions = {node.name: node for node in ast.parse(
            blocks[-1] if blocks else "").body if isinstance(node, ast.FunctionDef)}
        if set(functions) != {"get_inputs", "get_init_inputs"}:
            return None
        for node in functions.values():
            allowed.check(node)
        base = reference(code, [], []).partition("\n\ndef get_inputs():")[0]
        return base + "".join(f"\n\n\n{ast.unparse(functions[name])}" for name in ("get_inputs", "get_init_inputs")) + "\n"
    except (SyntaxError, ValueError, RecursionError, MemoryError, allowed.Refusal):
        return None
