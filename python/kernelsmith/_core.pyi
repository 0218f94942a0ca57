"""The engine in C++. Use its names through `kernelsmith`; what is not there is the package's own."""

# metaclass=type stands for pybind11's own, which has no name.

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Never, TypeVar, final

_Item = TypeVar("_Item")
_Files = str | Mapping[str, str]

__version__: str

@final
class Source(metaclass=type):
    """A candidate's files: texts by path, in order. Immutable; equal sources have equal paths and texts."""

    def __init__(self, files: Source | _Files) -> None:
        """From a text, which becomes candidate.txt, or a dict of texts by relative path. Raises Error `bad_input` for
        a path that is absolute, leads out of the folder or comes twice."""
    @property
    def files(self) -> dict[str, str]:
        """Texts by path. Bytes that are no UTF-8 are surrogates, as with errors="surrogateescape"."""
    @property
    def text(self) -> str:
        """The first file's text; empty if there is no file."""
    @property
    def digest(self) -> str:
        """SHA-256 of paths and texts, in hexadecimal."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes, /) -> None: ...
    def __len__(self) -> int:
        """The number of files."""

@final
class Measurement(metaclass=type):
    """A number with its confidence interval. Immutable."""

    def __init__(self, median: float, low: float | None = None, high: float | None = None, samples: int = 1,
                 unit: str = "") -> None:
        """An exact number if low and high are left out."""
    @property
    def median(self) -> float:
        """The number itself, in `unit`."""
    @property
    def low(self) -> float:
        """Lower end of the 95 % interval, in `unit`."""
    @property
    def high(self) -> float:
        """Upper end of the 95 % interval, in `unit`."""
    @property
    def samples(self) -> int:
        """How many samples it is the median of."""
    @property
    def unit(self) -> str:
        """Such as "us"; empty for a ratio."""
    def __float__(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes, /) -> None: ...

@final
class Evaluation(metaclass=type):
    """What became of a candidate: accepted with a fitness, or rejected with a reason. Immutable."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @staticmethod
    def accept(fitness: float | Measurement, features: Mapping[str, float] = {},
               report: str | None = None) -> Evaluation:
        """An acceptance; a rejection (`bad_metrics`) if fitness is not finite. `report` is JSON as to_json() has it
        under "report"."""
    @staticmethod
    def reject(diagnostics: str, code: str = "raised", stage: str = "run") -> Evaluation:
        """A rejection with a code and a stage of docs/errors.md. Raises Error for others."""
    @property
    def accepted(self) -> bool:
        """Whether there is a fitness."""
    @property
    def fitness(self) -> float | None:
        """The median, higher is better; for kernels the speedup over the baseline. None if rejected."""
    @property
    def measurement(self) -> Measurement | None:
        """The fitness with its interval; None if rejected."""
    @property
    def features(self) -> dict[str, float]:
        """What the archive's axes may read, by name; with static features of the source, such as "tokens"."""
    @property
    def speedup(self) -> float | None:
        """baseline/candidate, geometric mean over the timed shapes; None for what is no kernel."""
    @property
    def stage(self) -> str | None:
        """Where it was rejected: parse, static_check, compile, plan, run, correctness, integrity, timing."""
    @property
    def code(self) -> str | None:
        """Why it was rejected, a code of docs/errors.md."""
    @property
    def diagnostics(self) -> str | None:
        """A rejection in words: a compiler's messages, a traceback."""
    @property
    def report(self) -> Any:
        """All that was measured, as plain dicts and lists (docs/formats.md); times in microseconds (`_us`)."""
    def to_json(self) -> str:
        """As it stands in the journal (docs/formats.md)."""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getstate__(self) -> bytes: ...
    def __setstate__(self, state: bytes, /) -> None: ...
    def _repr_html_(self) -> str: ...

@final
class Program(metaclass=type):
    """A candidate with its evaluation. Immutable."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def id(self) -> int:
        """Its number in the run, which is that of its ticket."""
    @property
    def source(self) -> Source:
        """Its files."""
    @property
    def parents(self) -> list[int]:
        """Numbers of the programs that it was made from; empty for a seed."""
    @property
    def origin(self) -> str:
        """seed, translate, edit, rewrite, crossover, repair, tune or user."""
    @property
    def evaluation(self) -> Evaluation:
        """What became of it."""
    @property
    def accepted(self) -> bool:
        """evaluation.accepted"""
    @property
    def fitness(self) -> float | None:
        """evaluation.fitness"""
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __getstate__(self) -> tuple[int, Source, list[int], str, Evaluation]: ...
    def __setstate__(self, state: tuple[int, Source, list[int], str, Evaluation], /) -> None: ...
    def _repr_html_(self) -> str: ...

@final
class Rng(metaclass=type):
    """A stream of random numbers that is fixed by a seed and a ticket. One thread at a time may draw from it."""

    def __init__(self, seed: int, ticket: int = 0) -> None:
        """The stream that Request.rng is for such a ticket of a run with such a random_seed."""
    def random(self) -> float:
        """Uniform in [0, 1)."""
    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """Uniform between the two."""
    def normal(self, mean: float = 0.0, deviation: float = 1.0) -> float:
        """Gaussian."""
    def below(self, n: int) -> int:
        """Uniform in 0 .. n-1. Raises ValueError for 0."""
    def choice(self, items: Sequence[_Item]) -> _Item:
        """One of them, each equally likely. Raises ValueError if there is none."""

@final
class Refusal(metaclass=type):
    """A proposer's answer that is no child. Immutable."""

    def __init__(self, detail: str = "", code: str = "no_code") -> None:
        """With a refusal's code of docs/errors.md. Raises Error for others."""
    @property
    def code(self) -> str:
        """Such as "no_code" or "exhausted"."""
    @property
    def detail(self) -> str:
        """In words."""

@final
class Child(metaclass=type):
    """A proposer's answer that names the programs it was made from. Immutable."""

    def __init__(self, source: Source | _Files, parents: Sequence[int]) -> None:
        """A text, a dict of texts by path, or a Source; the numbers of programs of the run."""
    @property
    def source(self) -> Source:
        """Its files."""
    @property
    def parents(self) -> list[int]:
        """Numbers of the programs that it was made from."""

class Request(metaclass=type):
    """What a proposer is asked for: a child of `parent`. Immutable but for `rng`."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def ticket(self) -> int:
        """The number that the child will have."""
    @property
    def operator(self) -> str:
        """How the child is to be made: translate, edit, rewrite, crossover, repair or tune."""
    @property
    def model(self) -> str:
        """The model that the operator policy chose; empty if none is configured."""
    @property
    def parent(self) -> Program | None:
        """The program to start from; None before there is any."""
    @property
    def top(self) -> list[Program]:
        """Some of the island's best."""
    @property
    def inspirations(self) -> list[Program]:
        """Programs from other cells of the archive."""
    @property
    def failures(self) -> list[Program]:
        """Recent rejections, whose diagnostics tell what to avoid."""
    @property
    def tried(self) -> list[Program]:
        """The programs that attempt() made for this request in an earlier session, which ended before the answer."""
    def attempt(self, child: Source | _Files, parents: Sequence[int] | None = None) -> tuple[Program, bool]:
        """Has a child evaluated before the request is answered, and waits. It becomes a program of the run, made from
        `parents` (numbers; default: the request's parent), and uses up an evaluation. Returns the program, and whether it
        was there already and cost nothing. Any thread may call it while the request is open. Raises Error `over_budget`,
        `already_told`, `cancelled`, and `unsupported` in a deterministic search."""
    def confirm(self, program: int) -> Evaluation:
        """Measures an accepted program of the run again, with care and on fresh inputs, as attempt() does; one that is
        rejected there leaves the archive. Raises also `not_found` and `busy`."""
    def charge(self, model: str, usd: float | None, input_tokens: int, output_tokens: int) -> None:
        """Counts a call of a model among the run's cost, before the request is answered; `usd` is None for one without a
        price. Raises Error `unsupported` where a search is asked and told by hand."""
    @property
    def rng(self) -> Rng:
        """The ticket's own random numbers: a search that draws from nothing else can be repeated."""

@final
class Job(metaclass=type):
    """What an evaluator's method `evaluate` is given. Immutable."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def candidate(self) -> int:
        """The program's number."""
    @property
    def attempt(self) -> int:
        """Counts evaluations of the same candidate, from 0."""
    @property
    def run(self) -> str:
        """The run's id, 32 hexadecimal digits; with candidate and attempt it names the job for ever."""
    @property
    def source(self) -> Source:
        """What to evaluate."""
    @property
    def why(self) -> str | None:
        """None for a new program; "duel" or "confirm" if it is measured again."""
    @property
    def rival(self) -> Source | None:
        """In a duel, what it is compared with."""

@final
class Ticket(metaclass=type):
    """A question of the engine's: tell() or give_back() answers it. Immutable; outlives its engine."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def id(self) -> int:
        """Its number, from 0."""
    @property
    def island(self) -> int:
        """Where the child will live, from 0."""
    @property
    def kind(self) -> str:
        """"propose" (tell a child and its score), "evaluate" or "remeasure" (tell the score of `source`)."""
    @property
    def request(self) -> Request | None:
        """What a child is asked for; None unless kind is "propose"."""
    @property
    def source(self) -> Source | None:
        """What is to be scored; None if kind is "propose"."""

@final
class Commit(metaclass=type):
    """A ticket that took effect. Immutable."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def ticket(self) -> int:
        """Its number."""
    @property
    def island(self) -> int:
        """The island's number, from 0."""
    @property
    def kind(self) -> str:
        """What came of the ticket: see docs/errors.md for refusals and errors."""
    @property
    def program(self) -> Program | None:
        """The program that the ticket was about; None if there is none."""
    @property
    def new_best(self) -> bool:
        """Whether it is the run's best from now on."""
    @property
    def demoted(self) -> bool:
        """Whether a second measurement took the best its place."""
    @property
    def refusal(self) -> Refusal | None:
        """Why there is no child."""
    @property
    def error(self) -> str | None:
        """Why the ticket was given back."""

@final
class Outcome(metaclass=type):
    """What a search found. Immutable."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def reason(self) -> str:
        """Why it ended: "budget", "flat", "exhausted", "refused", "errors", "stopped"; "unfinished" while there is more."""
    @property
    def budget(self) -> str | None:
        """Which budget was used up; None unless reason is "budget"."""
    @property
    def error(self) -> str | None:
        """In words, if reason is "errors" or "refused"."""
    @property
    def best(self) -> Program | None:
        """The program with the highest fitness; None if none was accepted."""
    @property
    def confirmation(self) -> Evaluation | None:
        """The best's evaluation when it was measured again at the end."""
    @property
    def counts(self) -> dict[str, int]:
        """iterations, evaluations, accepted, rejected, repeated, refused, repairs, remeasured, given_back, demoted."""
    @property
    def usd(self) -> float:
        """What calls to models cost."""
    @property
    def elapsed_s(self) -> float:
        """Wall time of all sessions."""
    def _repr_html_(self) -> str: ...

@final
class ArchiveView(metaclass=type):
    """What kernelsmith.Archive is made from."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def axes(self) -> list[dict[str, Any]]: ...
    @property
    def statistics(self) -> dict[str, Any]: ...
    @property
    def programs(self) -> list[Program]: ...
    @property
    def fitness(self) -> list[float]: ...
    @property
    def cells(self) -> list[list[int]]: ...

@final
class Search(metaclass=type):
    """What kernelsmith.Engine is made from."""

    def __init__(self, folder: os.PathLike[str] | str | None, seed: object, evaluator: object, proposer: object,
                 settings: str) -> None: ...
    def ask(self) -> Ticket | None: ...
    def tell(self, ticket: int, child: object, answer: object) -> list[Commit]: ...
    def give_back(self, ticket: int, reason: str) -> list[Commit]: ...
    def run(self, progress: Callable[[Commit], object] | None) -> Outcome: ...
    def done(self) -> bool: ...
    def outcome(self) -> Outcome: ...
    def archive(self) -> ArchiveView: ...
    def close(self) -> None: ...

@final
class StoredRun(metaclass=type):
    """What kernelsmith.Run is made from."""

    def __init__(self, folder: os.PathLike[str] | str) -> None: ...
    @property
    def folder(self) -> os.PathLike[str]: ...
    @property
    def id(self) -> str: ...
    @property
    def in_use(self) -> bool: ...
    @property
    def ended(self) -> str | None: ...
    @property
    def evaluations_left(self) -> int | None: ...
    @property
    def counts(self) -> dict[str, int]: ...
    @property
    def confirmed(self) -> list[int]: ...
    @property
    def best(self) -> Program | None: ...
    @property
    def best_evaluation(self) -> Evaluation | None: ...
    @property
    def elapsed_s(self) -> float: ...
    @property
    def digest(self) -> str: ...
    def program(self, id: int) -> Program: ...
    def programs(self) -> list[dict[str, Any]]: ...
    def lineage(self) -> list[dict[str, Any]]: ...
    def events(self) -> list[dict[str, Any]]: ...
    def replies(self, tickets: Sequence[int]) -> list[dict[str, Any] | None]: ...
    def cost(self) -> list[dict[str, Any]]: ...
    def failures(self) -> list[dict[str, Any]]: ...
    def archive(self) -> ArchiveView: ...

@final
class Model(metaclass=type):
    """A server of language models: what proposers in Python ask it with. Any thread may use it."""

    def __init__(self, base_url: str, key: str, timeout_s: float, attempts: int, concurrency: int, price_file: str = "",
                 tell: Callable[[str], object] | None = None) -> None:
        """An empty base_url or key is the environment's (docs/llm.md). `tell` is called on another thread with what a person
        should know, such as how long a call waits for the server, and why. Raises Error for a server that a key may not be
        sent to, and for a price file that cannot be read."""
    def has_price(self, model: str) -> bool:
        """Whether price_file names it."""
    def start(self, model: str, messages: list[dict[str, Any]], done: Callable[[Any], object], *,
              max_output_tokens: int | None = None, temperature: float | None = None, top_p: float | None = None,
              reasoning_effort: str = "", extra_body: str = "") -> Callable[[], None]:
        """Sends {"role", "content"} messages, with `tool_calls` and `tool_call_id` where they belong. `done` is called once, on
        another thread, with the reply as a dict (text, tool_calls, reasoning, finish, finish_detail, model, usage, usd) or with an
        Error. Returns a function that gives the call up."""

@final
class Task(metaclass=type):
    """A task folder, read and checked. Immutable."""

    def __init__(self, folder: os.PathLike[str] | str) -> None:
        """Reads FOLDER/task.yaml and the files that it names. Raises Error: `not_found`, `bad_input`."""
    @property
    def folder(self) -> os.PathLike[str]:
        """Absolute."""
    @property
    def name(self) -> str:
        """Runs are called after it."""
    @property
    def backend(self) -> str:
        """Such as "cpu" or "command"."""
    @property
    def description(self) -> str:
        """In words."""
    @property
    def seed(self) -> Source:
        """Where the search starts; no file if it starts from the reference."""
    @property
    def reference(self) -> Source:
        """What is correct."""
    @property
    def digest(self) -> str:
        """SHA-256 over the task, in hexadecimal."""

@final
class Prompt(metaclass=type):
    """What a language model is to be asked. Immutable."""

    def __init__(self, *args: Never, **kwargs: Never) -> None:
        """Made by the engine alone: raises TypeError."""
    @property
    def system(self) -> str:
        """The system message."""
    @property
    def user(self) -> str:
        """The user message."""
    @property
    def tokens(self) -> int:
        """The tokens of both, estimated."""
    @property
    def messages(self) -> list[dict[str, str]]:
        """Both as {"role", "content"}, the way servers take them."""

def run_task(task: os.PathLike[str] | str, folder: os.PathLike[str] | str, proposer: object, settings: str,
             progress: Callable[[Commit], object] | None) -> Outcome: ...
def evaluate(task: os.PathLike[str] | str, source: object, quick: bool, settings: str) -> Evaluation: ...
def prompt(request: Request, task: Task | None, set: str, budget_tokens: int) -> Prompt: ...
def check_frozen(original: Source, child: object) -> None: ...
def extract(reply: str, parent: object, edits_only: bool) -> Source | Refusal: ...
