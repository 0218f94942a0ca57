"""Recorded replies as the model of a run, through the folder of `--manual`.

FOLDER/first/PROBLEM_*.txt answer requests for a first program, in the order of their names. FOLDER/second/PROBLEM_*.txt answer all
other requests: PROBLEM_000006.txt first of all that of ticket 6, and edits first of all a request that shows the lines that they
replace. Each is used once in a run. A request for which none is left gets a reply without a program, which counts as a call and is
refused.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

_LOOK_S = 0.05
NOTHING_LEFT = "No recorded reply is left."


def _kept(path: Path) -> str | None:
    """The text of a file that the run may move away at any moment."""
    try:
        return path.read_text()
    except FileNotFoundError:
        return None


def _fits(reply: str, shown: str) -> bool:
    """Whether the text that each edit searches for is in the prompt. A rewrite always fits."""
    return all(searched in shown for searched in re.findall(r"^<{7} SEARCH\n(.*?)^={7}$", reply, re.S | re.M))


class Recorded:
    """The replies of one run. Those that an earlier session used lie in the queue, so that a killed run goes on with the others."""

    def __init__(self, queue: Path, folder: Path, problem: str):
        self._queue = queue
        used = {json.loads(text)["text"] for path in queue.rglob("*.reply.json") if (text := _kept(path))}
        self._left = {kind: [path for path in sorted((folder / kind).glob(f"{problem}_*.txt")) if path.read_text() not in used]
                      for kind in ("first", "second")}

    def reply(self, request: dict) -> str:
        left = self._left["first" if request["operator"] == "translate" else "second"]
        if not left:
            return NOTHING_LEFT
        shown = "".join(message["content"] for message in request["messages"])
        chosen = min(left, key=lambda path: (not _fits(path.read_text(), shown), not path.stem.endswith(f"_{request['ticket']:06}")))
        left.remove(chosen)
        return chosen.read_text()

    def answer_all(self) -> None:
        for path in sorted(self._queue.glob("*.request.json")):
            stem = path.name.removesuffix(".request.json")
            text = None if (self._queue / f"{stem}.reply.json").exists() else _kept(path)
            # The run puts a request away before its reply.
            if text is None or not path.exists():
                continue
            fresh = self._queue / "being-written"
            fresh.write_text(json.dumps({"text": self.reply(json.loads(text))}))
            fresh.rename(self._queue / f"{stem}.reply.json")


@contextlib.contextmanager
def answering(queue: Path, folder: Path, problem: str) -> Iterator[None]:
    """Answers the requests in `queue` until the end of the block."""
    recorded, ended = Recorded(queue, folder, problem), threading.Event()

    def work() -> None:
        while not ended.wait(_LOOK_S):
            recorded.answer_all()

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
