"""A best that is rejected when it is measured again is no best: not in the archive, not in best/, not in the output."""

import json
import unittest

from support import TASK, CommandTest, kernelsmith, write_task

# Counts its calls in `calls`, and fails from the one on that `first` says, to the one that `last` says.
SCORE = """\
calls=$(($(cat {folder}/calls) + 1)); echo $calls > {folder}/calls
[ $calls -ge {first} ] && [ $calls -le {last} ] && {{ echo "it is late" >&2; exit 7; }}
echo "{{\\"fitness\\": $(sed -n 's/^k = \\([0-9]*\\).*/\\1/p' "$1")}}" > "$2"
"""
SEED = "k = 1  # @tune 1 2 3 4 5 6 7 8\n"


class DemotionTest(CommandTest):
    def search(self, first, last, evaluations=4):
        """The finished run over a program that fails in those calls; the last evaluation is the confirmation."""
        score = SCORE.format(folder=self.folder, first=first, last=last)
        write_task(self.folder / "task", score_sh=score, seed_txt=SEED, task_yaml=TASK)
        (self.folder / "calls").write_text("0")
        return kernelsmith("run", "task", "--evaluations", evaluations, "--workers", 1, "--out", "a.run", "--set",
                           "evaluator.sandbox=none", cwd=self.folder)

    def test_the_next_best_takes_its_place(self):
        done = self.search(first=4, last=4)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("is rejected now: measured again it failed", done.stderr)
        self.assertIn("it is late", done.stderr)
        self.assertIn("demoted  1 program that was the best", done.stdout)
        self.assertRegex(done.stdout, r"fitness  \d, measured again")
        shown = self.json("show", "a.run")
        self.assertEqual(shown["counts"]["demoted"], 1)
        (demoted,) = shown["demoted"]
        self.assertEqual(demoted["evaluation"]["code"], "command_failed")
        self.assertTrue(shown["best"]["confirmed"])
        self.assertNotEqual(shown["best"]["program"], demoted["program"])
        self.assertNotIn(demoted["program"], [elite["program"] for elite in shown["archive"]["elites"]])
        report = json.loads((self.folder / "a.run/best/report.json").read_text())
        self.assertNotIn("rejection", report)
        best = (self.folder / "a.run/best/seed.txt").read_text()
        self.assertTrue(best.startswith(f"k = {shown['best']['evaluation']['fitness']:.0f} "), best)

    def test_where_none_holds_there_is_no_best_and_the_status_is_1(self):
        done = self.search(first=4, last=99)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("best     none: no candidate was accepted that held when it was measured again", done.stdout)
        self.assertFalse((self.folder / "a.run/best").exists())
        text = self.succeed("show", "a.run").stdout
        self.assertIn("best      none: nothing was accepted that held", text)
        shown = self.json("show", "a.run")
        self.assertIsNone(shown["best"])
        self.assertEqual(len(shown["demoted"]), 3)
        self.assertEqual(shown["archive"]["filled"], 0)
        for reader in (["export", "a.run"], ["prompt", "a.run"], ["replay", "a.run", "--keep-evaluations", "--out", "b.run"]):
            self.assertIn(kernelsmith(*reader, cwd=self.folder).returncode, (0, 1), reader)
        self.assertEqual(self.json("show", "b.run")["archive"]["digest"], shown["archive"]["digest"])


if __name__ == "__main__":
    unittest.main()
