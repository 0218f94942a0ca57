"""The sandbox's program: evaluate() takes a file of modules, one per line, and gives an answer for each
(kernelsmith.synthesis.sandbox)."""

# mypy: ignore-errors
from __future__ import annotations

import json
import time
from typing import Any

from box import children, layout, probe, trial
from box.graph import MOST_OPERATORS, graph
from box.limits import BATCH_S, MOST_ANSWER, MOST_ANSWERS
from kernelsmith_process.descendants import take_orphans
from kernelsmith_process.framing import Failure
from kernelsmith_torch import plan_format, planner
from kernelsmith_torch.surroundings import Surroundings

planner._warm()
_PLAN_S = 20
_MOST_TRIALS = 3  # of one module; each repeats the search


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
    """The answer. If other inputs may pass the trial, the search goes on after those that did not."""
    first = made = _found(task, surroundings)
    for skip in range(1, _MOST_TRIALS):
        if "reference" in task or made.get("refused") not in trial.OTHER_INPUTS:
            break
        more = {"below": made["below"]} if "below" in made else {"skip": skip}
        made = _found({**task, **more}, surroundings)
        if "refused" not in made:
            return made
    return first


def _found(task: dict[str, Any], surroundings: Surroundings) -> dict[str, Any]:
    found, small = dict(task), task.get("reference", "")
    if "reference" not in task:
        found = children.asked(lambda: probe.probe(task), task.get("cpu_s", children.CPU_S))
        if "refused" in found:
            return found
        try:
            arguments = list(found["arguments"])
            found["reference"] = layout.reference(task["code"], arguments, list(found["inputs"]))
            small = layout.reference(task["code"], arguments, list(found.pop("small")))
        except (SyntaxError, ValueError, TypeError, KeyError) as error:
            return {"refused": "ends_process", "message": f"its answer cannot be read: {error}"}
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
    bad = {} if task.get("only_plan") else children.asked(lambda: trial.tried(small), task.get("cpu_s", trial.CPU_S))
    return bad or {**found, **made, "launches": reply["plans"][0]["summary"]["launches"]}


def _bounded(answer: dict[str, Any]) -> dict[str, Any]:
    if len(answer.get("operators", ())) > MOST_OPERATORS:
        return {"refused": "too_large", "message": f"{len(answer['operators'])} operators"}
    if len(json.dumps(answer)) > MOST_ANSWER:
        return {"refused": "too_large", "message": "its answer is too long"}
    if "message" in answer:
        answer["message"] = str(answer["message"])[:400]
    return answer
