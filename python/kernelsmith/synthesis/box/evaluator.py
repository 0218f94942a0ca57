"""The sandbox's program: evaluate() takes a file of modules, one per line, and gives an answer for each
(kernelsmith.synthesis.sandbox)."""

# mypy: ignore-errors
from __future__ import annotations

import json
import time
from typing import Any

from box import children, layout, probe
from box.graph import MOST_OPERATORS, graph
from box.limits import BATCH_S, MOST_ANSWER, MOST_ANSWERS
from kernelsmith_process.descendants import take_orphans
from kernelsmith_process.framing import Failure
from kernelsmith_torch import plan_format, planner
from kernelsmith_torch.surroundings import Surroundings

planner._warm()
_PLAN_S = 20


class Answer:
    """A result for the python backend."""

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        self.metrics = {"fitness": float(len(answers))}
        self.artifacts = {f"{at:04}": json.dumps(one) for at, one in enumerate(answers)}


def evaluate(path: str) -> Answer:
    take_orphans()
    surroundings = Surroundings(("/tmp", "/dev/shm"))  # noqa: S108 - the sandbox's own
    with open(path, encoding="utf-8") as file:
        tasks = [json.loads(line) for line in file]
    answers, printed, deadline = [], 0, time.monotonic() + BATCH_S
    for task in tasks:
        if printed > MOST_ANSWERS or time.monotonic() > deadline:
            break
        answers.append(_bounded(_one(task, surroundings)))
        text = json.dumps(answers[-1])
        print(f"{len(answers) - 1:04} {text}", flush=True)  # this output remains if the next module ends this process
        printed += len(text)
        if not surroundings.restore():
            answers[-1] = {"refused": "touches_sandbox", "message": "it changed data that it shares with other modules"}
            break
    return Answer(answers)


def _one(task: dict[str, Any], surroundings: Surroundings) -> dict[str, Any]:
    if "reference" not in task:
        found = children.asked(lambda: probe.probe(task), task.get("cpu_s", children.CPU_S))
        if "refused" in found:
            return found
        try:
            found["reference"] = layout.reference(task["code"], list(found["arguments"]), list(found["inputs"]))
        except (SyntaxError, ValueError, TypeError, KeyError) as error:
            return {"refused": "ends_process", "message": f"its answer cannot be read: {error}"}
    else:
        found = dict(task)
    try:
        reply, blob = planner._handle(
            {"do": "plan", "reference": found["reference"], "candidate": None, "timeout_s": _PLAN_S}, b"", surroundings)
        made = graph(plan_format.decode(blob)[0]) if "build" not in reply else None
    except Failure as failure:
        words = failure.as_reply()["error"]
        return {"refused": "plan_" + str(words["code"]), "message": f"{words['message']} {words.get('where', '')}"}
    except Exception as error:  # noqa: BLE001 - a plan contains text from foreign code
        return {"refused": "plan_unreadable", "message": f"{type(error).__name__}: {error}"}
    if made is None:
        return {"refused": "plan_extension", "message": "it builds an extension"}
    return {**found, **made, "launches": reply["summary"]["launches"]}


def _bounded(answer: dict[str, Any]) -> dict[str, Any]:
    if len(answer.get("operators", ())) > MOST_OPERATORS:
        return {"refused": "too_large", "message": f"{len(answer['operators'])} operators"}
    if len(json.dumps(answer)) > MOST_ANSWER:
        return {"refused": "too_large", "message": "its answer is too long"}
    if "message" in answer:
        answer["message"] = str(answer["message"])[:400]
    return answer
