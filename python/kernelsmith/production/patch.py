"""`kernelsmith publish --as patch`: a package in a checked-out repository, tested by the repository's own tests."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from .._errors import Error
from .._writing import write
from .checkout import Checkout
from .manifest import Manifest, read_manifest
from .publish import Published, Request, publish
from .rewrite import with_kernel


def patch(request: Request, manifest_path: Path) -> str:
    """Changes the work tree, and puts it back if its tests fail. Returns what to say. Raises Error."""
    manifest = read_manifest(manifest_path)
    checkout = Checkout(manifest.repository)
    old = _text_of(checkout.inside(manifest.file))
    for path in (manifest.package, manifest.add_tests):
        if path is not None:
            checkout.inside(Path(path))
    before = request.out.with_name(f"{request.out.name}.tests.log")
    if not checkout.tested(manifest.tests, before):
        raise Error("the repository's own tests fail before anything is changed", "bad_input", str(before),
                    "make them pass, or change tests in the manifest")
    before.unlink()
    made = publish(replace(request, kind="torch-op"))
    log = request.out / "repository-tests.log"
    changed = _changed(manifest, made, old)
    try:
        _put(checkout, manifest, made, changed)
        passed = checkout.tested(manifest.tests, log)
        difference = checkout.difference()
    except BaseException:
        checkout.revert()
        raise
    write(request.out / "change.patch", difference.encode("utf-8", "surrogateescape"))
    if not passed:
        checkout.revert()
        raise Error("the repository's own tests fail with the change, which was taken back", "refused", str(log),
                    f"{request.out / 'change.patch'} is what was tried")
    return _said(request, manifest, made)


def _text_of(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as failed:
        raise Error(f"the file cannot be read: {failed.strerror}", "not_found", str(file), "change file in the manifest") from None
    except UnicodeDecodeError as wrong:
        raise Error(f"the file is no UTF-8: {wrong}", "bad_input", str(file), "change file in the manifest") from None


def _changed(manifest: Manifest, made: Published, old: str) -> str:
    """The file's new text."""
    wanted = [*made.facts["inputs"], *made.facts["states"], *made.facts["init"]]
    if len(manifest.arguments) != len(wanted):
        raise Error(f"the operator takes {len(wanted)} arguments ({', '.join(wanted)}), and the manifest gives "
                    f"{len(manifest.arguments)}", "bad_input", f"{manifest.path}: arguments")
    file = manifest.repository / manifest.file
    return with_kernel(old, str(file), manifest.function, manifest.arguments,
                       manifest.import_name, made.facts["name"], trains=made.facts["trains"])


def _put(checkout: Checkout, manifest: Manifest, made: Published, changed: str) -> None:
    name = made.facts["name"]
    checkout.add(Path(manifest.package) / name, made.package)
    if not (checkout.folder / manifest.package / "__init__.py").exists() and manifest.package != manifest.root:
        checkout.add(Path(manifest.package) / "__init__.py", made.package / "kernels" / "__init__.py")
    checkout.replace(manifest.file, changed)
    if manifest.add_tests is not None:
        _put_tests(checkout, manifest, made)


def _put_tests(checkout: Checkout, manifest: Manifest, made: Published) -> None:
    """The package's tests, which import it as the repository does."""
    assert manifest.add_tests is not None
    name, tests = made.facts["name"], made.package.parent / "tests"
    root = os.path.relpath(manifest.root, manifest.add_tests.parent)
    arms = (tests / "arms.py").read_text()
    arms = arms.replace('_ROOT / "."', f'_ROOT / "{root}"').replace(f'import_module("{name}")',
                                                                    f'import_module("{manifest.import_name}.{name}")')
    moved = made.package.parent / "moved"
    moved.mkdir()
    (moved / "arms.py").write_text(arms)
    (moved / f"test_{name}.py").write_text((tests / f"test_{name}.py").read_text())
    if (checkout.folder / manifest.add_tests.parent / "__init__.py").exists():
        (moved / "__init__.py").touch()
    checkout.add(Path(manifest.add_tests), moved)


def _said(request: Request, manifest: Manifest, made: Published) -> str:
    kernels = "kernels were run" if made.tested.kernels_ran else "no kernel was run: this machine has no such GPU"
    package = f"{manifest.import_name}.{made.facts['name']}"
    return (f"{manifest.repository}: {manifest.function} in {manifest.file} asks {package} first\n"
            f"the repository's own tests pass; {kernels}\n"
            f"nothing is committed; {request.out / 'change.patch'} is the change, CHANGE_REQUEST.md beside it its text")
