"""A model client of your own: the engine says what to ask, this program asks, the engine reads the reply.

    python own_client.py                                   a function stands in for the model
    python own_client.py http://localhost:8000/v1 my-model  any server with /chat/completions; OPENAI_API_KEY is its key
"""

import json
import os
import random
import re
import sys
import urllib.request

import kernelsmith as ks

SEED = "# EVOLVE-BLOCK-START\nx = 0.0\ny = 0.0\n# EVOLVE-BLOCK-END\n"


def score(source):
    """The score of a program that says where it is; the top, 10, is at (3, -2). The candidate is read, never executed."""
    at = {name: float(value) for name, value in re.findall(r"^([xy]) = (-?[\d.]+)$", source.text, re.MULTILINE)}
    return 10 - ((at["x"] - 3) ** 2 + (at["y"] + 2) ** 2) ** 0.5


def ask_server(url, model, messages):
    """The reply of a server that speaks the protocol of OpenAI's chat completions."""
    request = urllib.request.Request(
        url.rstrip("/") + "/chat/completions", json.dumps({"model": model, "messages": messages}).encode(),
        {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ.get("OPENAI_API_KEY", "none")})
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)["choices"][0]["message"]["content"]


def ask_nobody(parent, rng=random.Random(1)):
    """What a model could say: the parent with other numbers, or, now and then, nothing useful."""
    if rng.random() < 0.1:
        return "I would rather talk about the weather."
    moved = re.sub(r"= (-?[\d.]+)", lambda number: f"= {float(number[1]) + rng.gauss(0, 0.5):.4f}", parent.text)
    return f"I move a little.\n```python\n{moved}```\n"


def main(url=None, model="default"):
    with ks.Engine(seed={"place.py": SEED}, iterations=20 if url else 300) as engine:
        for ticket in engine:
            if ticket.kind != "propose":
                engine.tell(ticket, score(ticket.source))
                continue
            parent = ticket.request.parent.source
            messages = ks.prompt(ticket).messages
            try:
                reply = ask_server(url, model, messages) if url else ask_nobody(parent)
            except OSError as broken:
                engine.give_back(ticket, str(broken))
                continue
            child = ks.extract(reply, parent)
            if isinstance(child, ks.Refusal):
                engine.tell(ticket, child)
            else:
                engine.tell(ticket, child, evaluate(child))
        outcome = engine.outcome
    print(outcome.counts)
    print(f"best {outcome.best.fitness:.3f}\n{outcome.best.source.text}", end="")


def evaluate(child):
    """A number, or a rejection that the next prompts show."""
    try:
        return score(child)
    except (KeyError, ValueError) as wrong:
        return ks.Evaluation.reject(f"no place: {wrong!r}", code="bad_metrics")


if __name__ == "__main__":
    main(*sys.argv[1:])
