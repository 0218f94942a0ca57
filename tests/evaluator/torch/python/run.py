"""Runs all tests of this folder. Exits with 77 if torch or triton is missing, so that ctest says `skipped`."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import support  # noqa: E402

if support.MISSING:
    print(f"skipped: {' and '.join(support.MISSING)} missing")
    sys.exit(77)
outcome = unittest.TextTestRunner(verbosity=2).run(unittest.defaultTestLoader.discover(HERE))
sys.exit(0 if outcome.wasSuccessful() else 1)
