"""The built-in proposers, as sections of run.yaml."""

import os
from typing import Any


class _Configured:
    """A proposer that the engine makes from settings; their names are those of run.yaml (docs/formats.md)."""

    _kind = ""

    def __init__(self, **settings: Any) -> None:
        self.settings = {"kind": self._kind, **settings}

    def __repr__(self) -> str:
        told = ", ".join(f"{name}={value!r}" for name, value in self.settings.items() if name not in ("kind", "key"))
        return f"{type(self).__name__}({told})"


class Tuner(_Configured):
    """Gives the seed's knobs (`# @tune 1 2 4`) other values, chosen by the results of earlier values. With
    `exhaustive`, tries all values."""

    _kind = "tuner"


class Chat(_Configured):
    """Asks language models over HTTPS (docs/llm.md): `models=[{"name": ...}]`, `base_url`, `protocol`, `key`, ...

    >>> Chat(models=[{"name": "my-model"}], base_url="http://localhost:8000/v1")
    Chat(models=[{'name': 'my-model'}], base_url='http://localhost:8000/v1')
    """

    _kind = "chat"

    def __init__(self, models: Any, **settings: Any) -> None:
        if isinstance(models, str):
            models = [models]
        for one in models:
            if not isinstance(one, (str, dict)):
                raise TypeError(f"a model is a name or a dict, not {type(one).__name__}")
        super().__init__(models=[{"name": one} if isinstance(one, str) else one for one in models], **settings)


class ManualQueue(_Configured):
    """Writes requests into a folder, and reads replies that people or other programs put next to them."""

    _kind = "manual"

    def __init__(self, folder: str | os.PathLike[str], **settings: Any) -> None:
        super().__init__(folder=os.fspath(folder), **settings)
