"""Texts for Hugging Face's `kernels`: names, the licence, and a layer for `kernelize`."""

from __future__ import annotations

import re
from typing import Any

from .._errors import Error
from .facts import met
from .texts import template
from .torch_here import executed
from .winners import Winner


def licence_of(winner: Winner, said: str | None) -> str:
    """`said`, or else the licence that the reference's file names. Raises Error if there is neither."""
    found = re.search(r"SPDX-License-Identifier:\s*(\S+)", winner.reference)
    if said is None and found is None:
        raise Error("no licence is known, and build.toml needs one", "invalid_argument", str(winner.folder),
                    "pass --licence apache-2.0, or name it in the reference: # SPDX-License-Identifier: Apache-2.0")
    return (said or found.group(1)).lower()  # type: ignore[union-attr]


def layer_of(facts: dict[str, Any], winner: Winner) -> tuple[str, str]:
    """The source of a layer, or an empty text and the reason. A layer has no constructor, so it passes on its
    module's attributes."""
    made = executed(winner.reference, winner.folder / "task" / "reference.py", "reference")
    model = made.Model(*made.get_init_inputs())
    for name, value in met(winner).init.items():
        if getattr(model, name, None) != value:
            return "", f"`Model` does not keep its argument `{name}` under that name, so a layer cannot pass it on."
    inputs = facts["inputs"]
    init = [facts["constants"]["attributes"].get(name, name) for name in facts["init"]]  # as in the user's module
    arguments = [*inputs, *(f"self.{name}" for name in (*facts["states"], *init))]
    if any(not part.isidentifier() for state in (*facts["states"], *init) for part in state.split(".")):
        return "", "A parameter's name is not a Python name, so a layer cannot pass it on."
    words = {"layer_name": class_name(facts["name"]), "signature": ", ".join(inputs), "name": facts["name"],
             "arguments": ", ".join(arguments)}
    return template("layer.py", words), ""


def class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))
