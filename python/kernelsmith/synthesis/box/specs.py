"""The specifications of a call's inputs: a tensor by kind and sizes, a number, a text, or a list of
tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

BATCH, LENGTH, SIDE, NODES = 16, 256, 32, 1024
FLOATS, IDS, BOOLS, EDGES, TEXT, LIST = "rand", "ids", "bools", "edges", "text", "list"


@dataclass(frozen=True)
class Spec:
    """A tensor has `sizes`, a list has `parts`, and anything else has `text`. `most` bounds a tensor's
    ids."""

    kind: str
    sizes: tuple[int, ...] = ()
    text: str = ""
    most: int = 100
    parts: tuple[Spec, ...] = ()

    @property
    def is_tensor(self) -> bool:
        return self.kind in (FLOATS, IDS, BOOLS, EDGES)

    def resized(self, sizes: tuple[int, ...]) -> Spec:
        return Spec(self.kind, sizes, self.text, self.most, self.parts)

    def below(self, most: int | None) -> Spec:
        """Its ids are also below this number, if there is one."""
        parts = tuple(part.below(most) for part in self.parts)
        return self if most is None else Spec(self.kind, self.sizes, self.text, min(self.most, most), parts)

    def scaled(self, factor: float) -> Spec:
        """With another batch; a graph has so many times the nodes and edges."""
        if self.kind == EDGES:
            return Spec(EDGES, (2, max(1, int(self.sizes[1] * factor))), most=max(1, int(self.most * factor)))
        if self.kind == LIST:
            return Spec(LIST, parts=tuple(part.scaled(factor) for part in self.parts))
        return self.resized((max(1, int(self.sizes[0] * factor)), *self.sizes[1:])) if self.sizes else self

    def source(self) -> str:
        """The expression for get_inputs()."""
        shape = ", ".join(map(str, self.sizes))
        if self.kind == FLOATS:
            return f"torch.rand({shape})" if self.sizes else "torch.rand(())"
        if self.kind in (IDS, EDGES):
            return f"torch.randint(0, {self.most}, ({shape}{',' if len(self.sizes) == 1 else ''}))"
        if self.kind == BOOLS:
            return f"torch.rand({shape}) < 0.5"  # whichever of the two values masks, the other is left
        if self.kind == LIST:
            return "[" + ", ".join(part.source() for part in self.parts) + "]"
        return self.text

    def made(self, torch: Any) -> Any:
        """The value, evaluated as get_inputs() does it, in the current mode of PyTorch."""
        return eval(self.source(), {"torch": torch})  # noqa: S307 - our own text, in the sandbox


def standard(rank: int, channels: int) -> Spec:
    """The usual tensor with this many dimensions. Up to three dimensions, channels are last; from four on,
    they come after the batch."""
    sizes = {0: (), 1: (BATCH,), 2: (BATCH, channels), 3: (BATCH, LENGTH, channels), 4: (BATCH, channels, SIDE, SIDE),
             5: (BATCH // 4, channels, 8, SIDE, SIDE), 6: (2, 4, channels, 8, SIDE, SIDE)}[min(rank, 6)]
    return Spec(FLOATS, sizes)


def parsed(text: str, first: Spec, most: int) -> Spec:
    """The specification for a guess from guesses.of_input()."""
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
    if kind == "points":
        return Spec(FLOATS, (batch, LENGTH, 3))
    if kind == "square":
        return Spec(FLOATS, (batch, LENGTH, LENGTH))
    if kind == "signal":
        return Spec(FLOATS, (batch, 16000))  # a second at the rate of speech recognition
    if kind == "list":
        channels = first.sizes[1] if len(first.sizes) > 3 else 64
        return Spec(LIST, parts=tuple(Spec(FLOATS, (BATCH, channels, side, side)) for side in (64, 32, 16)))
    if kind == "edges":
        return Spec(EDGES, (2, 8 * NODES), most=NODES)
    return Spec(TEXT, text=rest)
