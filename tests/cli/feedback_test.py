"""`kernelsmith profile` and `kernelsmith diff`, as far as they go without a GPU and a compiler."""

import json
import unittest

from support import CommandTest, kernelsmith, write_task


class FeedbackTest(CommandTest):
    def setUp(self):
        super().setUp()
        write_task(self.folder / "task")

    def run_of_a_few(self):
        done = kernelsmith("run", "task", "--out", "a.run", "--iterations", "3", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_profile_is_the_verdict_and_what_is_missing(self):
        done = self.succeed("profile", "task", "task/seed.txt")
        self.assertIn("accepted: fitness 0\n", done.stdout)
        self.assertIn("missing: launches and counters are known of candidates in CUDA C++", done.stdout)
        told = json.loads(self.succeed("profile", "--json", "task", "task/seed.txt").stdout)
        self.assertTrue(told["evaluation"]["accepted"])
        self.assertEqual((told["launches"], told["device"]), ([], None))
        self.assertEqual(len(told["missing"]), 1)

    def test_a_rejected_candidate_is_profiled_too(self):
        (self.folder / "bad.txt").write_text("k0 = 1/0\n")
        done = kernelsmith("profile", "task", "bad.txt", cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("rejected at run: command_failed", done.stdout)

    def test_without_an_evaluation_there_is_no_verdict(self):
        told = json.loads(self.succeed("profile", "--no-evaluation", "--json", "task", "task/seed.txt").stdout)
        self.assertIsNone(told["evaluation"])

    def test_a_program_of_a_run_is_profiled_by_its_number(self):
        self.run_of_a_few()
        self.assertIn("accepted: fitness 0\n", self.succeed("profile", "a.run", "0").stdout)
        self.fail_with(2, "profile", "a.run", "9999", says=["the run has no program 9999"], code="not_found")
        self.fail_with(2, "profile", "a.run", "task/seed.txt", says=["no whole number"], code="invalid_argument")

    def test_a_difference_has_text_features_and_verdicts(self):
        self.run_of_a_few()
        done = self.succeed("diff", "a.run", "0", "1")
        self.assertIn("A: program 0 (seed): fitness 0\n", done.stdout)
        self.assertRegex(done.stdout, r"\n-k\d = 0 .*\n\+k\d = \d ")
        told = json.loads(self.succeed("diff", "a.run", "0", "1", "--json").stdout)
        self.assertEqual((told["a"]["program"], told["b"]["program"]), (0, 1))
        self.assertEqual(len(told["source"]), 1)
        self.assertRegex(done.stdout, r"\nknobs that differ \(A, B\)\n  k\d +0 +\d\n")
        self.assertFalse([name for name in told["features"] if name.startswith("knob.")], "places on the archive's axes")
        self.assertIn("the texts are equal", self.succeed("diff", "a.run", "1", "1").stdout)

    def test_wrong_use_says_what_is_wrong(self):
        self.run_of_a_few()
        self.fail_with(2, "diff", "a.run", "1", "9999", says=["the run has no program 9999", "export"], code="not_found")
        self.fail_with(2, "diff", "a.run", "1", "two", says=["B"], code="invalid_argument")
        self.fail_with(2, "diff", "no.run", "1", "2", says=["no.run"], code="not_found")
        self.fail_with(2, "profile", "task", "nothing.txt", says=["nothing.txt"], code="not_found")
        self.fail_with(2, "profile", "task", says=["FILE"], code="invalid_argument")


if __name__ == "__main__":
    unittest.main()
