"""Runs all tests of this folder, or those named, such as test_layout. Exits with 77 if torch or triton is missing."""

import os
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import support  # noqa: E402

if support.MISSING:
    print(f"skipped: {' and '.join(support.MISSING)} missing")
    sys.exit(77)
loader = unittest.defaultTestLoader
tests = loader.loadTestsFromNames(sys.argv[1:]) if sys.argv[1:] else loader.discover(HERE)
outcome = unittest.TextTestRunner(verbosity=2).run(tests)
sys.exit(0 if outcome.wasSuccessful() else 1)
