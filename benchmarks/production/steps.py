"""Steps of a check: processes with limits, a line for each result, and the results as JSON. No failure ends the others."""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass
class Steps:
    """`limit_s` is the whole's; a step that begins after it is not run. `file` has what came out so far. `patience` stretches the
    limits of steps on machines that the limits were not made for. Thread-safe."""

    limit_s: float
    file: Path | None = None
    patience: float = 1
    results: list[dict[str, Any]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    _lock: Any = field(default_factory=threading.Lock)

    def left_s(self) -> float:
        return self.limit_s - (time.monotonic() - self.began)

    def say(self, what: str, ok: bool, words: str, **figures: Any) -> bool:
        with self._lock:
            at = time.monotonic() - self.began
            self.results.append({"what": what, "ok": ok, "words": words, "at_s": round(at, 1), **figures})
            if self.file is not None:
                self.file.write_text(json.dumps(self.results, indent=1) + "\n")
            print(f"{at:5.0f} s  {'ok  ' if ok else 'FAIL'}  {what}: {words}", flush=True)
        return ok

    def ran(self, what: str, *command: object, limit_s: float, where: Path | None = None,
            environment: dict[str, str] | None = None) -> str | None:
        """What it printed; None if it failed, which is said."""
        limit = min(self.patience * limit_s, self.left_s())
        if limit < 5:
            self.say(what, False, "not run: no time is left")
            return None
        began = time.monotonic()
        process = subprocess.Popen(list(map(str, command)), cwd=where, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment, start_new_session=True)
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            out, err = process.communicate()
            self.say(what, False, f"stopped after {limit:.0f} s: {_end(err or out)}")
            return None
        if process.returncode != 0:
            self.say(what, False, f"exit status {process.returncode} after {time.monotonic() - began:.0f} s: {_end(err or out)}")
            return None
        return out

    @property
    def failed(self) -> list[str]:
        return [result["what"] for result in self.results if not result["ok"]]


def side_by_side(calls: Iterable[Callable[[], Any]], at_once: int) -> list[Any]:
    """Their answers, in order."""
    with ThreadPoolExecutor(at_once) as pool:
        return [future.result() for future in [pool.submit(call) for call in calls]]


def _end(text: str) -> str:
    return text.strip()[-1500:]
