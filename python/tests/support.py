"""Searches and texts of the tests. Names here are what programs of their own import, too."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import kernelsmith as ks

# Longer than anything here takes, however busy the machine is.
PATIENCE_S = 120

TASK = """\
version: 1
name: hill
backend: command
files: {seed: seed.txt, also: score.sh}
command: [sh, score.sh, "{candidate}", "{answer}"]
"""

# Adds up the digits of the candidate's knobs.
SCORE = """\
sum=0
while read -r name equals value rest; do
  case "$equals" in =) sum=$((sum + value)) ;; esac
done < "$1"
echo "{\\"fitness\\": $sum}" > "$2"
"""

SEED = "".join(f"k{i} = 0  # @tune 0 1 2 3 4 5 6 7\n" for i in range(6))


def write_task(folder, score=SCORE, seed=SEED):
    """A task folder whose fitness is what the shell script says."""
    folder.mkdir(exist_ok=True)
    for name, text in (("task.yaml", TASK), ("score.sh", score), ("seed.txt", seed)):
        (folder / name).write_text(text)
    return folder


def environment():
    """That of a program which imports what this one does."""
    paths = [str(Path(ks.__file__).absolute().parent.parent), str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def command(*words, **options):
    """`python -m kernelsmith ...`, run to its end."""
    usual = {"env": environment(), "capture_output": True, "text": True, "stdin": subprocess.DEVNULL, "timeout": PATIENCE_S}
    return subprocess.run([sys.executable, "-m", "kernelsmith", *map(str, words)], **{**usual, **options})


def score(source):
    """A hill with its top, 10, at (3, -2)."""
    x, y = map(float, source.text.split())
    return 10 - ((x - 3) ** 2 + (y + 2) ** 2) ** 0.5


def nudge(request):
    x, y = map(float, request.parent.source.text.split())
    return f"{x + request.rng.normal()} {y + request.rng.normal()}"


def hill(folder=None, **settings):
    """An engine over the hill that can be asked by hand or run."""
    arguments = {"seed": "0 0", "evaluator": score, "proposer": nudge, "iterations": 20}
    return ks.Engine(folder, **{**arguments, **settings})


def tell_next(engine):
    """Asks and answers one ticket, and returns it; None if there is nothing to ask."""
    ticket = engine.ask()
    if ticket is None:
        return None
    if ticket.kind == "propose":
        child = ks.Source(nudge(ticket.request))
        engine.tell(ticket, child, score(child))
    else:
        engine.tell(ticket, score(ticket.source))
    return ticket


def in_thread(call):
    """The result of call() on another thread."""
    found = []
    thread = threading.Thread(target=lambda: found.append(call()))
    thread.start()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    return found[0]
