"""Everything that reads a run, on runs of every outcome: no reader ends by a signal, and show describes each run."""

import os
import shutil
import signal
import sqlite3
import subprocess
import unittest
from pathlib import Path

from model_run_test import KEY, Model, reply
from support import CommandTest, kernelsmith, start, wait_for, write_task

OLDER = Path(__file__).parent / "older_run"
SEED = "k = 1  # @tune 1 2 3 4 5 6 7 8\n"
# Fails from the call on that FIRST says, to the one that LAST says; a candidate with k above MOST always.
SCORE = """\
calls=$(($(cat FOLDER/calls) + 1)); echo $calls > FOLDER/calls
[ $calls -ge FIRST ] && [ $calls -le LAST ] && exit 7
k=$(sed -n 's/^k = \\([0-9]*\\).*/\\1/p' "$1")
[ $k -gt MOST ] && exit 8
echo "{\\"fitness\\": $k}" > "$2"
"""


class OutcomesTest(CommandTest):
    def task(self, first=99, last=99, most=8):
        """A task that fails in those calls and for those candidates."""
        score = SCORE
        for name, value in {"FOLDER": self.folder, "FIRST": first, "LAST": last, "MOST": most}.items():
            score = score.replace(name, str(value))
        (self.folder / "calls").write_text("0")
        write_task(self.folder / "task", score_sh=score, seed_txt=SEED)

    def run_task(self, name, *args, status=0, evaluations=4):
        done = kernelsmith("run", "task", "--evaluations", evaluations, "--workers", 1, "--out", name, "--set",
                           "evaluator.sandbox=none", *args, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)

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
        self.run_task("demoted.run")
        self.task(first=4)
        self.run_task("none_holds.run", status=1)

    def asked_a_model(self):
        self.task()
        for name, answer, status in (("all_refused.run", reply("I would rather not."), 0),
                                     ("no_key.run", (401, {"error": {"message": "no such key"}}), 3)):
            model = Model([answer])
            self.addCleanup(model.close)
            done = kernelsmith("run", "task", "--out", name, "--iterations", 2, "--model", "m", "--base-url", model.url,
                               cwd=self.folder, env={"OPENAI_API_KEY": KEY})
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)

    def broken_off(self):
        self.task()
        model = Model([None])
        self.addCleanup(model.close)
        for name, number in (("interrupted.run", signal.SIGINT), ("killed.run", signal.SIGKILL)):
            asked = len(model.requests)
            running = start("run", "task", "--out", name, "--model", "m", "--base-url", model.url, cwd=self.folder,
                            env={"OPENAI_API_KEY": KEY})
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
