"""Suggests other constructor arguments from the text of an error."""

# mypy: ignore-errors
from __future__ import annotations

import re
from collections.abc import Iterator

from . import guesses

Given = dict[str, str]  # texts by parameter
_CONFIG_LACKS = re.compile(r"AttributeError: '?Config'?(?: object)? has no attribute '(\w+)'|KeyError: '(\w+)'")
_WHOLE, _REAL, _WORD = re.compile(r"\d+"), re.compile(r"\d*\.\d*(e-?\d+)?|\d+e-?\d+"), re.compile(r"'\w*'")
# A pattern of errors, a pattern of the wrong texts, and their replacements. {0} is the wrong text itself.
_RULES = (
    (r"'int' object is not (iterable|subscriptable)|type 'int' has no len|argument of type 'int'", _WHOLE,
     ("[{0}, {0}]", "[{0}, {0}, {0}, {0}]")),
    (r"'int' object is not callable|int is not a Module subclass", _WHOLE, ("nn.Identity()", "nn.Linear", "nn.ReLU")),
    (r"'float' object is not callable", _REAL, ("nn.Identity()", "torch.relu", "nn.GELU")),
    (r"'float' object has no attribute", _REAL, ("torch.ones(64)", "nn.Identity()")),
    (r"'int' object has no attribute", _WHOLE, ("nn.Linear(512, 512)", "torch.ones(64)")),
    (r"'str' object is not callable", _WORD, ("nn.ReLU()", "nn.ReLU")),
    (r"type str|got str|not 'str'|and 'str'|'str' and|str at pos|got \(str|: 'str' object", _WORD, ("64", "3", "True")),
    (r"type list|got list|not 'list'|and 'list'|'list' and|unhashable type: 'list'", re.compile(r"\[.*\]"), ("64", "2")),
    (r"missing \d+ required positional", re.compile(r"nn\.\w+"), ("nn.Identity()", "{0}()")),
    (r"is not a Module subclass", re.compile(r"nn\.\w+"), ("{0}()", "nn.Identity()", "nn.Linear(512, 512)")),
    (r"divisible", _WHOLE, ("64", "8", "1", "512")),
    (r"KeyError|NotImplementedError|not (implemented|supported)|[Uu]nknown|[Ii]nvalid|must be (one of|in)", _WORD,
     ("None", "'relu'", "'mean'", "'sum'", "'same'", "'none'")),
    (r"NoneType", re.compile(r"None"), ("64", "nn.Identity()", "[64, 64]")),
    (r"BatchNorm2d|LayerNorm", re.compile(r"nn\.\w*Norm\w*"), ("nn.LayerNorm", "nn.BatchNorm1d", "None")),
)
_COMPILED = [(re.compile(pattern), wrong, texts) for pattern, wrong, texts in _RULES]
_MOST = 12  # proposals from one error


def repaired(given: Given, words: str) -> Iterator[Given]:
    """Other arguments, the likely ones first."""
    more = _more_config(given, words)
    if more:
        yield more
        return
    made = 0
    for pattern, wrong, texts in _COMPILED:
        if not pattern.search(words):
            continue
        for text in texts:
            for name, old in given.items():
                new = text.format(old)
                if wrong.fullmatch(old) and new != old and made < _MOST:
                    made += 1
                    yield {**given, name: new}


def _more_config(given: Given, words: str) -> Given | None:
    """The arguments with a configuration that has the missing attribute."""
    found = _CONFIG_LACKS.search(words)
    name = (found.group(1) or found.group(2)) if found else ""
    for argument, text in given.items():
        if text.startswith("_Config(") and name and f"{name}=" not in text:
            comma = ", " if "=" in text else ""
            return {**given, argument: f"{text[:-1]}{comma}{name}={guesses.of_attribute(name)})"}
    return None
