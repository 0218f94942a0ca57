"""All examples can be planned without a GPU: every reference, and every seed."""

import pathlib

from support import Planner, needs_torch

EXAMPLES = pathlib.Path(__file__).resolve().parents[4] / "examples"


@needs_torch
class Examples(Planner):
    def test_references_and_seeds(self):
        references = sorted([*EXAMPLES.glob("torch/level*/*/reference.py"), *EXAMPLES.glob("*_torch/reference.py")])
        self.assertEqual(len(references), 13)
        for reference in references:
            text = reference.read_text()
            with self.subTest(reference.parent.name):
                _, _, summary = self.plan(None, text)
                self.assertEqual(summary["launches"], 0)
            seed = reference.with_name("seed.py")
            if not seed.exists():
                continue
            with self.subTest(reference.parent.name + "'s seed"):
                _, _, summary = self.plan(seed.read_text(), text)
                self.assertGreater(summary["launches"], 0)
