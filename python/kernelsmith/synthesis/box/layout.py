"""Writes a task's file in KernelBench's layout."""

from __future__ import annotations

import ast
import re

# construct.Config, as the text that a task contains.
CONFIG_TEXT = ("class _Config:\n    def __init__(self, **values):\n        self.__dict__.update(values)\n\n"
               "    def get(self, name, default=None):\n        return self.__dict__.get(name, default)\n\n"
               "    def __contains__(self, name):\n        return name in self.__dict__\n\n"
               "    def __getitem__(self, name):\n        return self.__dict__[name]\n")


def reference(code: str, arguments: list[str], inputs: list[str]) -> str:
    """The text of the module, get_inputs and get_init_inputs, with the imports that these need."""
    needed = [] if re.search(r"^import torch$", code, re.MULTILINE) else ["import torch"]
    has_nn = re.search(r"import torch\.nn as nn$|from torch import nn$", code, re.MULTILINE)
    if not has_nn and any("nn." in text for text in arguments):
        needed.append("import torch.nn as nn")
    if any(re.search(r"\bF\.", text) for text in arguments) and "functional as F" not in code:
        needed.append("import torch.nn.functional as F")
    config = "\n\n" + CONFIG_TEXT if any("_Config(" in text for text in arguments) else ""
    text = (f"{code.rstrip()}\n{config}\n\ndef get_inputs():\n    return [{', '.join(inputs)}]\n\n\n"
            f"def get_init_inputs():\n    return [{', '.join(arguments)}]\n")
    text = _after_future(text, needed)
    ast.parse(text)
    return text


def _after_future(text: str, imports: list[str]) -> str:
    lines = text.splitlines(keepends=True)
    at = next((number for number, line in enumerate(lines) if not line.startswith("from __future__")), 0)
    return "".join([*lines[:at], *(one + "\n" for one in imports), *lines[at:]])
