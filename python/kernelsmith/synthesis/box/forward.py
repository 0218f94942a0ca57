"""Finds inputs that a model takes. It first guesses from the model's layers, and then follows the errors,
with a limited number of calls."""

# mypy: ignore-errors
from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import torch

from . import guesses
from .fit import misfit
from .repairs import Specs, of_rank, repairs
from .specs import BATCH, FLOATS, IDS, LENGTH, NODES, SIDE, Spec, parsed, standard

_MOST_CALLS = 48
_MOST_WAITING = 400
PICTURES = Spec("rand", (BATCH, 3, 224, 224))
# Layers that take a usual tensor, the number of its dimensions, and the attribute with its channels.
_RANKS = (
    ((torch.nn.Conv3d, torch.nn.ConvTranspose3d), 5, "in_channels"),
    ((torch.nn.BatchNorm2d, torch.nn.InstanceNorm2d), 4, "num_features"),
    (torch.nn.BatchNorm1d, 2, "num_features"),
    (torch.nn.BatchNorm3d, 5, "num_features"),
    (torch.nn.GroupNorm, 4, "num_channels"),
    (torch.nn.Linear, 3, "in_features"),
    (torch.nn.RNNBase, 3, "input_size"),
    (torch.nn.MultiheadAttention, 3, "embed_dim"),
)


class NoInputs(Exception):
    """No inputs were found. Holds the first error."""


def found(model: torch.nn.Module, hints: dict[str, str], skip: int = 0, below: int | None = None) -> Specs:
    """Inputs that the model takes, but not the first `skip` of them. Indices are below `below`. Raises NoInputs."""
    parameters = _parameters(model)
    waiting = [*_first(model, parameters, hints), *_first(model, _with_optional(model, parameters), hints)]
    seen, words = set(waiting), ""
    for _ in range(_MOST_CALLS):
        if not waiting:
            break
        specs = tuple(one.below(below) for one in waiting.pop(0))
        try:
            wrong = misfit(model, [one.made(torch) for one in specs])
            if not (wrong or skip):
                return specs
            skip, words = skip - (not wrong), wrong or words or "other inputs were not found"
            continue
        except Exception as error:  # noqa: BLE001 - forward may raise anything
            message = f"{type(error).__name__}: {error}"
            words = words or message
        new = [one for one in repairs(specs, message) if one not in seen][:12]
        seen.update(new)
        # Suggestions of the last error come before older ones.
        waiting = [*new[:6], *waiting, *new[6:]][:_MOST_WAITING]
    raise NoInputs(words or "forward takes no inputs")


def _parameters(model: torch.nn.Module) -> list[inspect.Parameter]:
    try:
        given = list(inspect.signature(model.forward).parameters.values())
    except (TypeError, ValueError):
        return []
    if any(one.kind is one.VAR_POSITIONAL for one in given) and not any(one.default is one.empty for one in given
                                                                      if one.kind is one.POSITIONAL_OR_KEYWORD):
        return [inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)]
    return [one for one in given
            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD) and one.default is one.empty]


def _with_optional(model: torch.nn.Module, needed: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Adds the next argument whose default is None."""
    optional = []
    for one in list(inspect.signature(model.forward).parameters.values())[len(needed):] if needed else ():
        if one.default is not None or one.kind not in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD):
            break
        optional.append(one)
    return [*needed, *optional] if optional else []


def _first(model: torch.nn.Module, parameters: list[inspect.Parameter], hints: dict[str, str]) -> list[Specs]:
    if not parameters:
        return []
    tensors, most = _tensors(model)
    if any(one.name == "edge_index" for one in parameters):  # a graph: each node has a row of features
        tensors = list(dict.fromkeys(of_rank(one, 2).resized((NODES, of_rank(one, 2).sizes[1])) for one in tensors
                                     if one.kind == FLOATS))
    made = []
    for tensor in tensors:
        options = [[parsed(text, tensor, most) for text in guesses.of_input(one.name, hints.get(one.name, ""))]
                   for one in parameters]
        made.append(tuple(option[0] for option in options))
        for at, option in enumerate(options):
            for other in option[1:]:
                made.append((*made[0][:at], other, *made[0][at + 1:]))
    return list(dict.fromkeys([*made, *_other_ranks(made[0])]))


def _other_ranks(specs: Specs) -> Iterator[Specs]:
    """Changes the number of dimensions of one input: a vector instead of a picture or sequence."""
    for at, one in enumerate(specs if len(specs) > 1 else ()):
        for rank in (2, 3, 4):
            if one.kind == FLOATS and len(one.sizes) != rank:
                yield (*specs[:at], of_rank(one, rank), *specs[at + 1:])


def _tensors(model: torch.nn.Module) -> tuple[list[Spec], int]:
    """The tensors that the first layers with known inputs take, and the number of ids in the smallest embedding."""
    made: list[Spec] = []
    tables = [layer.num_embeddings for layer in model.modules() if isinstance(layer, (torch.nn.Embedding, torch.nn.EmbeddingBag))]
    most = min(tables, default=100)  # which table an input indexes is not known
    for layer in model.modules():
        one = _of_layer(layer)
        if one is not None and len(made) < 3:
            made.append(one)
            if isinstance(layer, torch.nn.Linear):
                made.append(standard(2, layer.in_features))
    if not made:  # a layer of its own, such as a normalisation
        made += [one for value in [*model.parameters(), *model.buffers()] if (one := _of_parameter(tuple(value.shape))) is not None][:1]
    made += [standard(4, 64), PICTURES, standard(3, 512), standard(2, 512), standard(5, 64), standard(1, 1)]
    return list(dict.fromkeys(made)), most


def _of_parameter(shape: tuple[int, ...]) -> Spec | None:
    """The tensor that a parameter is combined with: (1, 1, C) or positions of (1, L, C) with sequences, (1, C, 1, 1) with
    pictures."""
    sizes = [size for size in shape if size > 1]
    if len(sizes) > 1 and len(shape) in (3, 4) and shape[0] == 1:
        return Spec(FLOATS, (BATCH, *shape[1:]))
    if len(sizes) != 1 or len(shape) > 4 or len(shape) == 4 and shape[0] > 1:
        return None
    after = len(shape) - 1 - shape.index(sizes[0])  # axes after the channels
    rank = max(3, len(shape) + (shape[0] > 1))  # the batch is not in a parameter of (C, 1, 1)
    return Spec(FLOATS, tuple(sizes[0] if at == rank - 1 - after else BATCH if at == 0 else LENGTH if rank == 3 else SIDE
                              for at in range(rank)))


def _of_layer(layer: torch.nn.Module) -> Spec | None:
    nn = torch.nn
    if isinstance(layer, (nn.Conv1d, nn.ConvTranspose1d)):
        return Spec("rand", (BATCH, layer.in_channels, LENGTH))
    if isinstance(layer, (nn.Conv2d, nn.ConvTranspose2d)):
        # Inputs with three channels are pictures.
        side = 224 if layer.in_channels == 3 else SIDE
        return Spec("rand", (BATCH, layer.in_channels, side, side))
    for kinds, rank, channels in _RANKS:
        if isinstance(layer, kinds):
            return standard(rank, getattr(layer, channels))
    if isinstance(layer, nn.LayerNorm):
        return standard(3, layer.normalized_shape[-1])
    if isinstance(layer, (nn.Embedding, nn.EmbeddingBag)):
        return Spec(IDS, (BATCH, LENGTH), most=layer.num_embeddings)
    return None
