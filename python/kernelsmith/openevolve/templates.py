"""Templates and fragments: the default texts, overridden by a folder's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._errors import Error
from .texts import FRAGMENTS, TEMPLATES


class Templates:
    """The default texts, overridden by those of a folder. Raises Error for an unreadable folder."""

    def __init__(self, folder: str | None) -> None:
        self.texts = dict(TEMPLATES)
        self.fragments = dict(FRAGMENTS)
        if folder is None:
            return
        if not Path(folder).is_dir():
            raise Error("there is no such folder of templates", "not_found", folder, "see prompt.template_dir")
        for file in sorted(Path(folder).glob("*.txt")):
            self.texts[file.stem] = file.read_text(encoding="utf-8")
        fragments = Path(folder) / "fragments.json"
        if fragments.exists():
            try:
                self.fragments |= json.loads(fragments.read_text(encoding="utf-8"))
            except (ValueError, TypeError) as wrong:
                raise Error(f"this is not a JSON object of texts: {wrong}", "bad_input", str(fragments)) from None

    def text(self, name: str, **values: Any) -> str:
        """A template with its placeholders filled in. Raises Error for a placeholder without a value."""
        return self._filled(self.texts[name], name + ".txt", values)

    def fill(self, text: str, name: str, values: Mapping[str, Any]) -> str:
        return self._filled(text, name + ".txt", values)

    def fragment(self, name: str, **values: Any) -> str:
        return self._filled(self.fragments[name], f"fragments.json: {name}", values)

    @staticmethod
    def _filled(text: str, where: str, values: Mapping[str, Any]) -> str:
        try:
            return text.format(**values)
        except (KeyError, IndexError, ValueError) as wrong:
            known = ", ".join(f"{{{name}}}" for name in values)
            raise Error(f"a placeholder cannot be filled in: {wrong}", "bad_input", where,
                        f"there are {known}; a literal brace is written twice") from None
