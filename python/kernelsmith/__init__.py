"""kernelsmith: a search engine for fast kernels whose results were checked in every timed call.

    >>> import kernelsmith as ks
    >>> def score(source):
    ...     x, y = map(float, source.text.split())
    ...     return 10 - ((x - 3) ** 2 + (y + 2) ** 2) ** 0.5
    >>> def nudge(request):
    ...     x, y = map(float, request.parent.source.text.split())
    ...     return f"{x + request.rng.normal()} {y + request.rng.normal()}"
    >>> result = ks.run(seed="0 0", evaluator=score, proposer=nudge, iterations=500)
    >>> result.best.fitness > 9
    True

docs/python.md is the guide.
"""

from ._core import (Child, Commit, Evaluation, Job, Measurement, Outcome, Program, Prompt, Refusal, Request, Rng, Source, Task,
                    Ticket, __version__)
from ._errors import Error
from ._proposers import Chat, ManualQueue, Tuner
from ._run import Archive, Run
from ._search import Engine, evaluate, extract, prompt, run

__all__ = [
    "Archive", "Chat", "Child", "Commit", "Engine", "Error", "Evaluation", "Job", "ManualQueue", "Measurement", "Outcome",
    "Program", "Prompt", "Refusal", "Request", "Rng", "Run", "Source", "Task", "Ticket", "Tuner", "__version__",
    "evaluate", "extract", "prompt", "run",
]
