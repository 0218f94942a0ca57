"""`kernelsmith publish --as patch`: puts a package into a checked-out repository, and runs the repository's
own tests."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

from .._errors import Error
from .._words import counted
from .._files import text_of, write
from .checkout import Checkout
from .manifest import Manifest, read_manifest
from .publish import Published, Request, publish
from .rewrite import Asking, with_comparison, with_kernel


def patch(request: Request, manifest_path: Path) -> Published:
    """Changes the work tree, and restores it if its tests fail. Prints the actions. Raises Error."""
    manifest = read_manifest(manifest_path)
    checkout = Checkout(manifest.repository)
    old = text_of(checkout.inside(manifest.file), hint="change file in the manifest")
    for path in (manifest.package, manifest.add_tests):
        if path is not None:
            checkout.inside(Path(path))
    before = request.out.with_name(f"{request.out.name}.tests.log")
    if not checkout.tested(manifest.tests, before):
        raise Error("the repository's own tests fail before anything is changed", "bad_input", str(before),
                    "make them pass, or change tests in the manifest")
    before.unlink()
    made = publish(replace(request, kind="torch-op"))
    asking, log = _asking(manifest, made), request.out / "repository-tests.log"
    where = str(manifest.repository / manifest.file)
    changed = with_kernel(old, where, asking)
    _compare(checkout, manifest, made, with_comparison(old, where, asking))
    try:
        _put(checkout, manifest, made, changed)
        if manifest.add_tests is not None:
            _put_tests(checkout, manifest, made)
        passed = checkout.tested(manifest.tests, log)
        difference = checkout.difference()
    except BaseException:
        checkout.revert()
        raise
    write(request.out / "change.patch", difference.encode("utf-8", "surrogateescape"))
    if not passed:
        checkout.revert()
        raise Error("the repository's own tests fail with the change, which was undone", "refused", str(log),
                    f"{request.out / 'change.patch'} is the change")
    print(_said(request, manifest, made))
    return made


def _compare(checkout: Checkout, manifest: Manifest, made: Published, trial: str) -> None:
    """Runs the repository's own tests with a function that compares itself with the package. Unless --force
    is given, raises Error for a difference, and if nothing was compared."""
    out = made.request.out
    notes, log = out / "compared.jsonl", out / "comparison-tests.log"
    try:
        _put(checkout, manifest, made, trial)
        checkout.tested(manifest.tests, log, {"KERNELSMITH_COMPARED": str(notes.resolve())})
    finally:
        checkout.revert()
    found = [json.loads(line) for line in notes.read_text().splitlines()] if notes.exists() else []
    differing = [f"{manifest.function} at {each['form']}: {'; '.join(each['differences'])}" for each in found if each["differences"]]
    kernels = sum(each["kernel"] is not None for each in found)
    made.facts["replaces"] = (
        f"With {manifest.function} on {counted(len(found), 'form')} of its own arguments and inputs of other scales, by "
        f"{'kernels' if kernels else 'the reference, because no kernel runs here'}: {len(differing) or 'none'} of them differ.")
    if not found:
        differing = [f"nothing was compared with {manifest.function}: the repository's tests do not call it at sizes that "
                     "the package serves"]
    made.facts["overridden"] += differing
    made.facts["refused"] = bool(differing) and not made.request.force
    made.write_documents()
    if made.facts["refused"]:
        raise Error(f"the package differs from the function that it would replace: {differing[0]}", "refused", str(notes if found else log),
                    "the work tree is unchanged; correct arguments in the manifest, or the tests, or pass --force")


def _asking(manifest: Manifest, made: Published) -> Asking:
    wanted = [*made.facts["inputs"], *made.facts["states"], *made.facts["init"]]
    if len(manifest.arguments) != len(wanted):
        raise Error(f"the operator takes {len(wanted)} arguments ({', '.join(wanted)}), and the manifest gives "
                    f"{len(manifest.arguments)}", "bad_input", f"{manifest.path}: arguments")
    return Asking(manifest.function, manifest.arguments, manifest.import_name, made.facts["name"],
                  made.facts["trains"], bool(made.facts["constants"]["fixed"]))


def _put(checkout: Checkout, manifest: Manifest, made: Published, changed: str) -> None:
    name = made.facts["name"]
    # New folders below the folder of imports become packages, like their siblings.
    new = [folder for folder in (manifest.package, *manifest.package.parents)
           if folder != manifest.root and folder.is_relative_to(manifest.root) and not (checkout.folder / folder).exists()]
    checkout.add(Path(manifest.package) / name, made.package)
    for folder in new:
        checkout.add(Path(folder) / "__init__.py", made.package / "kernels" / "__init__.py")
    checkout.replace(manifest.file, changed)


def _put_tests(checkout: Checkout, manifest: Manifest, made: Published) -> None:
    """Adds the package's tests, which import it as the repository does."""
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
    (moved / "__init__.py").touch()  # else unittest does not find them
    checkout.add(Path(manifest.add_tests), moved)


def _said(request: Request, manifest: Manifest, made: Published) -> str:
    package = f"{manifest.import_name}.{made.facts['name']}"
    return (f"{manifest.repository}: {manifest.function} in {manifest.file} asks {package} first\n"
            f"the repository's own tests pass; the package's: {made.tested.words}\n"
            f"{made.facts['replaces']}\n"
            f"nothing is committed; {request.out / 'change.patch'} is the change, "
            "and CHANGE_REQUEST.md beside it the text of a change request")
