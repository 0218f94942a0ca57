"""A patch's manifest names the repository, the function that calls the package, and the repository's
tests."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from .._errors import Error
from .._files import toml_of

_EXAMPLE = 'docs/production.md, "A patch", has a manifest'
_TEXTS = ("file", "function", "package", "import")
_LISTS = ("arguments", "tests")


@dataclass(frozen=True)
class Manifest:
    """`file` and `package` are relative to the repository; `root` is the folder from which `import_name` is imported."""

    path: Path
    repository: Path
    file: Path
    function: str
    arguments: list[str]
    package: PurePosixPath
    import_name: str
    tests: list[str]
    add_tests: PurePosixPath | None

    @property
    def root(self) -> PurePosixPath:
        return PurePosixPath(*self.package.parts[:len(self.package.parts) - len(self.import_name.split("."))])


def read_manifest(path: Path) -> Manifest:
    """Raises Error."""
    said = toml_of(path, "the manifest", _EXAMPLE)
    _check_keys(path, said)
    package = PurePosixPath(said["package"])
    parts = said["import"].split(".")
    if list(package.parts[-len(parts):]) != parts:
        raise Error(f"the package {package} cannot be imported as {said['import']}", "bad_input", f"{path}: import",
                    "the folder's path must end like its import: src/tiny/kernels is tiny.kernels")
    added = said.get("add_tests")
    return Manifest(path, (path.parent / said.get("repository", ".")).resolve(), Path(said["file"]), said["function"],
                    said["arguments"], package, said["import"], said["tests"], PurePosixPath(added) if added else None)


def _check_keys(path: Path, said: dict[str, Any]) -> None:
    unknown = sorted(set(said) - {*_TEXTS, *_LISTS, "repository", "add_tests"})
    if unknown:
        raise Error(f"unknown key {unknown[0]}", "bad_input", str(path), _EXAMPLE)
    for key in (*_TEXTS, *_LISTS):
        if key not in said:
            raise Error(f"the key {key} is missing", "bad_input", str(path), _EXAMPLE)
    for key in {*_TEXTS, "repository", "add_tests"} & set(said):
        if not isinstance(said[key], str):
            raise Error("this must be a text", "bad_input", f"{path}: {key}", _EXAMPLE)
    for key in _LISTS:
        if not isinstance(said[key], list) or not said[key] or not all(isinstance(each, str) for each in said[key]):
            raise Error("this must be a list of texts", "bad_input", f"{path}: {key}", _EXAMPLE)
    for key in {"file", "package", "add_tests"} & set(said):
        inside = PurePosixPath(said[key])
        if inside.is_absolute() or ".." in inside.parts:
            raise Error("this must be a path within the repository", "bad_input", f"{path}: {key}")
