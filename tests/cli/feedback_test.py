"""`kernelsmith profile` and `kernelsmith diff`, as far as they go without a GPU and a compiler."""

import unittest

from support import TaskTest


class FeedbackTest(TaskTest):
    def setUp(self):
        super().setUp()
        self.succeed("run", "task", "--out", "a.run", "--iterations", "3")

    def test_a_profile_is_the_verdict_and_what_is_missing(self):
        done = self.succeed("profile", "task", "task/seed.txt")
        self.assertIn("accepted: fitness 0\n", done.stdout)
        self.assertIn("missing: launches and counters are measured for candidates in CUDA C++", done.stdout)
        told = self.json("profile", "task", "task/seed.txt")
        self.assertTrue(told["evaluation"]["accepted"])
        self.assertEqual((told["launches"], told["device"]), ([], None))
        self.assertEqual(len(told["missing"]), 1)
        self.assertIsNone(self.json("profile", "--no-evaluation", "task", "task/seed.txt")["evaluation"])
        self.assertIn("accepted: fitness 0\n", self.succeed("profile", "a.run", "0").stdout)

    def test_a_rejected_candidate_is_profiled_too(self):
        (self.folder / "bad.txt").write_text("k0 = 1/0\n")
        done = self.ends(1, "profile", "task", "bad.txt")
        self.assertIn("rejected at run: command_failed", done.stdout)

    def test_a_difference_has_text_features_and_verdicts(self):
        done = self.succeed("diff", "a.run", "0", "1")
        self.assertIn("A: program 0 (seed): fitness 0\n", done.stdout)
        self.assertRegex(done.stdout, r"\n-k\d = 0 .*\n\+k\d = \d ")
        told = self.json("diff", "a.run", "0", "1")
        self.assertEqual((told["a"]["program"], told["b"]["program"]), (0, 1))
        self.assertEqual(len(told["source"]), 1)
        self.assertRegex(done.stdout, r"\nknobs that differ \(A, B\)\n  k\d +0 +\d\n")
        self.assertFalse([name for name in told["features"] if name.startswith("knob.")], "places on the archive's axes")
        self.assertIn("the texts are equal", self.succeed("diff", "a.run", "1", "1").stdout)

    def test_wrong_use_says_what_is_wrong(self):
        self.refused((["diff", "a.run", "1", "9999"], ["the run has no program 9999", "export"], "not_found"),
                     (["diff", "a.run", "1", "two"], "B", "invalid_argument"),
                     (["diff", "no.run", "1", "2"], "no.run", "not_found"),
                     (["profile", "task", "nothing.txt"], "nothing.txt", "not_found"),
                     (["profile", "task"], "FILE", "invalid_argument"),
                     (["profile", "a.run", "9999"], "the run has no program 9999", "not_found"),
                     (["profile", "a.run", "task/seed.txt"], "not a whole number", "invalid_argument"))


if __name__ == "__main__":
    unittest.main()
