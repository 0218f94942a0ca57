"""Runs the tests below a folder like `python -m unittest discover -v`. Run this file as `python -P counted.py
FOLDER`; the last line of its output has the framework's counts as JSON."""

from __future__ import annotations

import json
import sys
import unittest
from typing import Any


class _Result(unittest.TextTestResult):
    """Counts each test by its name; a subtest counts for its test."""

    answers_of_kernels = 0

    def stopTest(self, test: unittest.TestCase) -> None:  # noqa: N802 - unittest's
        self.answers_of_kernels += getattr(test, "answers_of_kernels", 0)
        super().stopTest(test)


def counted(folder: str) -> dict[str, Any]:
    runner = unittest.TextTestRunner(verbosity=2, resultclass=_Result)  # type: ignore[arg-type,unused-ignore]
    result = runner.run(unittest.defaultTestLoader.discover(folder))
    assert isinstance(result, _Result)
    failures = [*result.failures, *result.errors]
    failed = {_name(test) for test, _ in failures}
    skipped = {_name(test): reason for test, reason in result.skipped if _name(test) not in failed}
    return {"ran": result.testsRun, "failed": len(failed), "skipped": [f"{name}: {reason}" for name, reason in skipped.items()],
            "failures": [f"{_words(test)}: {_raised(text)}" for test, text in failures],
            "kernels": result.answers_of_kernels}


def _name(test: Any) -> str:
    return str(getattr(test, "test_case", test).id()).partition(".")[2] or str(test)


def _words(test: Any) -> str:
    """The test's description, with that of the subtest."""
    about = f" {test._subDescription()}" if hasattr(test, "_subDescription") else ""
    return _name(test) + about


def _raised(traceback: str) -> str:
    """The first line of the exception, which is the first line without indentation."""
    lines = traceback.strip().splitlines()
    return next((line for line in lines[1:] if line and not line[0].isspace()), lines[-1] if lines else "no reason")


if __name__ == "__main__":
    print(json.dumps(counted(sys.argv[1])))
