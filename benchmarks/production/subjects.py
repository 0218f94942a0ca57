"""What is searched: the examples, and the tasks that profiles of two models give, each with a good candidate."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


@dataclass(frozen=True)
class Example:
    """`small` are sizes for Triton's interpreter. `paper` is what Kernel-Smith gives for its case, beside its own baseline."""

    folder: str
    small: dict[str, int]
    paper: float | None = None

    @property
    def name(self) -> str:
        return self.folder.rpartition("/")[2]


@dataclass(frozen=True)
class Model:
    """`knows` are the constants of each task's candidate, by the task's name: names of `sizes`, or numbers. `rounds` are the
    tasks whose candidate rounds elsewhere than the reference, so that its outputs are judged as a whole."""

    name: str
    options: tuple[str, ...]
    sizes: dict[str, int]
    small: dict[str, int]
    knows: dict[str, dict[str, str | int]]
    rounds: tuple[str, ...] = ()


EXAMPLES = (
    Example("decode_metadata_torch", {"batch": 4, "most_requests": 4, "most_tokens": 64}, 4.78),
    Example("moe_routing_torch", {"tokens": 16, "experts": 16}, 1.36),
    Example("engram_torch", {"batch": 2, "length": 16, "width": 32, "entries": 101, "part": 8}, 14.59),
    Example("torch/level1/softmax", {"rows": 16, "columns": 64}),
)

MODELS = (
    Model("transformer", ("--dtype", "bf16", "--most-kernels", "24"),
          {"batch": 8, "length": 512, "width": 1024, "heads": 16, "inner": 2816},
          {"batch": 1, "length": 16, "width": 64, "heads": 4, "inner": 96},
          {"norm": {"SIZE": "width"}, "attention": {"WIDTH": "width", "HEADS": "heads", "LENGTH": "length"},
           "gated": {"WIDTH": "width", "INNER": "inner"}},
          rounds=("attention",)),
    Model("network", (), {"batch": 16, "size": 256}, {"batch": 1, "size": 16},
          {"stage": {"INNER": 3, "OUTER": 32}, "stage_2": {"INNER": 32, "OUTER": 64}, "gate": {"CHANNELS": 64}}),
)


def with_constants(text: str, values: dict[str, int]) -> str:
    """A Python file with other numbers at its top (`rows = 2048`, `WIDTH, HEADS = 1024, 16`)."""
    def changed(line: re.Match[str]) -> str:
        names = [name.strip() for name in line[1].split(",")]
        numbers = [str(values.get(name, old.strip())) for name, old in zip(names, line[2].split(","), strict=True)]
        return f"{', '.join(names)} = {', '.join(numbers)}"

    return re.sub(r"^(\w+(?:, \w+)*) = (\d+(?:, \d+)*)$", changed, text, flags=re.MULTILINE)


def candidate_of(model: Model, task: str, sizes: dict[str, int]) -> str:
    """The hand-written candidate of a task that a profile made. Raises KeyError if the profile chose another hot spot."""
    known = {name: sizes[value] if isinstance(value, str) else value for name, value in model.knows[task].items()}
    text = (HERE / "candidates" / f"{task.removesuffix('_2')}.py").read_text()
    return with_constants(text, known)


def made_of(model: Model, sizes: dict[str, int], file: Path) -> Path:
    file.write_text(with_constants((HERE / "models" / f"{model.name}.py").read_text(), sizes))
    return file


def example_at(example: Example, sizes: dict[str, int], folder: Path) -> Path:
    """A copy of its task with these sizes."""
    folder.mkdir(parents=True)
    for file in (ROOT / "examples" / example.folder).iterdir():
        (folder / file.name).write_text(file.read_text())
    (folder / "reference.py").write_text(with_constants((folder / "reference.py").read_text(), sizes))
    return folder


def seeded(task: Path, candidate: str, rounds: bool = False) -> Path:
    """The task with the candidate as its seed; `rounds` as in Model."""
    (task / "seed.py").write_text(candidate)
    text = (task / "task.yaml").read_text()
    (task / "task.yaml").write_text(text.replace("{reference: reference.py}", "{reference: reference.py, seed: seed.py}"))
    if rounds:
        with (task / "task.yaml").open("a") as about:
            about.write("tolerance: {policy: normwise}\n")
    return task
