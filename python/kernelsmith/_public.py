"""The names of the package, which the compiled module has or needs."""

from ._core import (Commit, Evaluation, Job, Measurement, Outcome, Program, Prompt, Refusal, Request, Rng, Source, Task,
                    Ticket, __version__)
from ._errors import Error
from ._proposers import Chat, ManualQueue, Tuner
from ._run import Archive, Run
from ._search import Engine, evaluate, extract, prompt, run

__all__ = [
    "Archive", "Chat", "Commit", "Engine", "Error", "Evaluation", "Job", "ManualQueue", "Measurement", "Outcome",
    "Program", "Prompt", "Refusal", "Request", "Rng", "Run", "Source", "Task", "Ticket", "Tuner", "__version__",
    "evaluate", "extract", "prompt", "run",
]
