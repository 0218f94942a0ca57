"""Everything that reads a run, on runs of every outcome: no reader ends by a signal, and show describes each run."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import unittest
from pathlib import Path

from model import ModelTest, reply
from support import kernelsmith, wait_for, write_task

OLDER = Path(__file__).parent / "older_run"
SEED = "k = 1  # @tune 1 2 3 4 5 6 7 8\n"
# Fails from the call on that FIRST says, to the one that LAST says; a candidate with k above MOST always.
SCORE = """\
calls=$(($(cat FOLDER/calls) + 1)); echo $calls > FOLDER/calls
[ $calls -ge FIRST ] && [ $calls -le LAST ] && { echo "it is late" >&2; exit 7; }
k=$(sed -n 's/^k = \\([0-9]*\\).*/\\1/p' "$1")
[ $k -gt MOST ] && exit 8
echo "{\\"fitness\\": $k}" > "$2"
"""


class OutcomesTest(ModelTest):
    def task(self, first=99, last=99, most=8):
        """A task that fails in those calls and for those candidates."""
        score = SCORE
        for name, value in {"FOLDER": self.folder, "FIRST": first, "LAST": last, "MOST": most}.items():
            score = score.replace(name, str(value))
        (self.folder / "calls").write_text("0")
        write_task(self.folder / "task", score_sh=score, seed_txt=SEED)

    def run_task(self, name, *args, status=0, evaluations=4):
        return self.ends(status, "run", "task", "--evaluations", evaluations, "--workers", 1, "--out", name, "--set",
                         "evaluator.sandbox=none", *args)

    def searched(self):
        self.task()
        self.run_task("confirmed.run")
        self.run_task("unconfirmed.run", "--set", "limits.confirm=false")
        self.run_task("deterministic.run", "--deterministic")
        self.run_task("timed.run", "--time", "1s")
        self.run_task("one_evaluation.run", evaluations=1)
        self.task(most=1)
        self.run_task("all_children_rejected.run")
        self.task(most=0)
        self.run_task("seed_rejected.run", status=2)
        self.task(first=4, last=4)
        self.check_demoted(self.run_task("demoted.run"))
        self.task(first=4)
        self.check_none_holds(self.run_task("none_holds.run", status=1))

    def check_demoted(self, done):
        """A best that is rejected when it is measured again is no best, and the next one takes its place."""
        for says in ("is now rejected: when measured again, it failed", "it is late"):
            self.assertIn(says, done.stderr)
        self.assertIn("demoted  1 program that was the best", done.stdout)
        self.assertRegex(done.stdout, r"fitness  \d, measured again")
        shown = self.json("show", "demoted.run")
        (demoted,) = shown["demoted"]
        self.assertEqual((shown["counts"]["demoted"], demoted["evaluation"]["code"]), (1, "command_failed"))
        self.assertTrue(shown["best"]["confirmed"])
        self.assertNotIn(demoted["program"], [shown["best"]["program"], *[elite["program"] for elite in shown["archive"]["elites"]]])
        self.assertNotIn("rejection", json.loads((self.folder / "demoted.run/best/report.json").read_text()))
        best = (self.folder / "demoted.run/best/seed.txt").read_text()
        self.assertTrue(best.startswith(f"k = {shown['best']['evaluation']['fitness']:.0f} "), best)

    def check_none_holds(self, done):
        self.assertIn("best     none: no candidate was accepted both at first and when measured again", done.stdout)
        self.assertFalse((self.folder / "none_holds.run/best").exists())
        self.assertIn("best      none: nothing was accepted both at first and when measured again", self.succeed("show", "none_holds.run").stdout)
        shown = self.json("show", "none_holds.run")
        self.assertIsNone(shown["best"])
        self.assertEqual((len(shown["demoted"]), shown["archive"]["filled"]), (3, 0))

    def asked_a_model(self):
        self.task()
        for name, answer, status in (("all_refused.run", reply("I would rather not."), 0),
                                     ("no_key.run", (401, {"error": {"message": "no such key"}}), 3)):
            self.ends(status, "run", "task", "--out", name, "--iterations", 2, *self.asking(self.serve([answer])))

    def broken_off(self):
        self.task()
        model = self.serve([None])
        for name, number in (("interrupted.run", signal.SIGINT), ("killed.run", signal.SIGKILL)):
            asked = len(model.requests)
            running = self.begin("run", "task", "--out", name, *self.asking(model))
            wait_for(lambda: len(model.requests) > asked, "the first call")
            running.send_signal(number)
            running.communicate()

    def copied(self):
        """Runs whose journal ends early, and one that an older kernelsmith made."""
        for name, last in (("empty.run", 0), ("begun.run", 1), ("seeding.run", 3)):
            shutil.copytree(self.folder / "confirmed.run", self.folder / name)
            with sqlite3.connect(self.folder / name / "run.db") as database:
                database.execute("DELETE FROM artifacts WHERE position > ?", (last,))
                database.execute("DELETE FROM events WHERE position > ?", (last,))
        self.older()
        shutil.copytree(self.folder / "confirmed.run", self.folder / "torn.run")
        database = self.folder / "torn.run" / "run.db"
        database.write_bytes(database.read_bytes()[:9000])

    def older(self):
        shutil.copytree(OLDER, self.folder / "older.run")
        with sqlite3.connect(self.folder / "older.run" / "run.db") as database:
            database.executescript((OLDER / "run.sql").read_text())

    def made_by_the_library(self):
        subprocess.run([os.environ["LINK_LIBRARY"], "library.run"], cwd=self.folder, check=True,
                       capture_output=True)

    def replayed(self):
        for run in ("confirmed", "none_holds"):
            kernelsmith("replay", f"{run}.run", "--keep-evaluations", "--out", f"{run}_again.run", cwd=self.folder)
            before, after = (self.json("show", f"{name}.run")["archive"]["digest"] for name in (run, f"{run}_again"))
            self.assertEqual(before, after)

    def test_every_reader_takes_every_run(self):
        self.searched()
        self.asked_a_model()
        self.broken_off()
        self.made_by_the_library()
        self.copied()
        self.replayed()
        runs = sorted(path.name for path in self.folder.glob("*.run"))
        self.assertGreaterEqual(len(runs), 20)
        for run in runs:
            readers = (["show", run], ["show", run, "--json"], ["export", run], ["report", run], ["prompt", run],
                       ["replay", run, "--keep-evaluations", "--out", f"{run}.copy"])
            for reader in readers:
                with self.subTest(" ".join(reader)):
                    done = kernelsmith(*reader, cwd=self.folder)
                    self.assertIn(done.returncode, (0, 1, 2, 3), done.stderr)
                    if reader[0] in ("show", "export", "report") and run != "torn.run":
                        self.assertEqual(done.returncode, 0, done.stderr)
                    if done.returncode >= 2:
                        self.assertIn("error: ", done.stderr)

    def test_an_older_run_with_a_false_best_is_shown_without_it(self):
        self.older()
        shown = self.json("show", "older.run")
        self.assertEqual([demoted["program"] for demoted in shown["demoted"]], [1])
        self.assertEqual(shown["best"]["program"], 2)
        self.assertFalse(shown["best"]["confirmed"])


if __name__ == "__main__":
    unittest.main()
