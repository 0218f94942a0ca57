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

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._public import *

__all__ = [
    "Archive", "Chat", "Commit", "Engine", "Error", "Evaluation", "Job", "ManualQueue", "Measurement", "Outcome",
    "Program", "Prompt", "Refusal", "Request", "Rng", "Run", "Source", "Task", "Ticket", "Tuner", "__version__",
    "evaluate", "extract", "prompt", "run",
]


def __getattr__(name: str) -> Any:
    """Loads the compiled module at the first use of a name: `kernelsmith.learning` does without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import _public
    globals().update({public: getattr(_public, public) for public in __all__})
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
