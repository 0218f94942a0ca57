"""Inputs of a call as mutable specifications: a tensor by kind and sizes, a number, a text, a list of tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BATCH, LENGTH, SIDE = 16, 256, 32
FLOATS, IDS, BOOLS, TEXT, LIST = "rand", "ids", "bools", "text", "list"


@dataclass(frozen=True)
class Spec:
    """`sizes` of a tensor; `text` of anything else; `most` bounds ids; `parts` of a list."""

    kind: str
    sizes: tuple[int, ...] = ()
    text: str = ""
    most: int = 100
    parts: tuple[Spec, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.kind in (FLOATS, IDS, BOOLS)

    def resized(self, sizes: tuple[int, ...]) -> Spec:
        return Spec(self.kind, sizes, self.text, self.most, self.parts)

    def source(self) -> str:
        """The expression that get_inputs() has."""
        shape = ", ".join(map(str, self.sizes))
        if self.kind == FLOATS:
            return f"torch.rand({shape})" if self.sizes else "torch.rand(())"
        if self.kind == IDS:
            return f"torch.randint(0, {self.most}, ({shape}{',' if len(self.sizes) == 1 else ''}))"
        if self.kind == BOOLS:
            return f"torch.ones({shape}, dtype=torch.bool)"
        if self.kind == LIST:
            return "[" + ", ".join(part.source() for part in self.parts) + "]"
        return self.text

    def made(self, torch: Any) -> Any:
        """Evaluated as get_inputs() does it, in the mode that is entered."""
        return eval(self.source(), {"torch": torch})  # noqa: S307 - our own text, in the sandbox


def standard(rank: int, channels: int) -> Spec:
    """The usual tensor with this many dimensions: channels last up to three, after the batch from four on."""
    sizes = {0: (), 1: (BATCH,), 2: (BATCH, channels), 3: (BATCH, LENGTH, channels), 4: (BATCH, channels, SIDE, SIDE),
             5: (BATCH // 4, channels, 8, SIDE, SIDE), 6: (2, 4, channels, 8, SIDE, SIDE)}[min(rank, 6)]
    return Spec(FLOATS, sizes)


def parsed(text: str, first: Spec, most: int) -> Spec:
    """A guess of guesses.of_input()."""
    kind, _, rest = text.partition(" ")
    named = {"B": BATCH, "L": LENGTH}
    sizes = tuple(named[one] for one in rest.split() if one in named)
    batch = first.sizes[0] if first.sizes else BATCH
    sizes = tuple(batch if size == BATCH else size for size in sizes)
    if kind == "":
        return first
    if kind == "ids":
        return Spec(IDS, sizes, most=most)
    if kind == "bools":
        return Spec(BOOLS, sizes)
    if kind == "vector":
        return Spec(FLOATS, sizes)
    if kind == "list":
        channels = first.sizes[1] if len(first.sizes) > 3 else 64
        return Spec(LIST, parts=tuple(Spec(FLOATS, (BATCH, channels, side, side)) for side in (64, 32, 16)))
    if kind == "edges":
        return Spec(IDS, (2, 4096), most=BATCH)
    return Spec(TEXT, text=rest)
