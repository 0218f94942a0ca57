"""`stts`: a scripted model works in turns, is shown the windows that were computed by hand, is asked for nothing twice
however often the command is killed, and what is broken is one error."""

import csv
import fcntl
import json
import os
import signal
import threading
import unittest

from model import KEY, ModelTest, reply
from support import finish, wait_for

TASK = """\
version: 1
name: number
backend: command
files: {reference: about.txt, also: [score.sh]}
command: [sh, score.sh, "{candidate}", "{answer}"]
"""

# The candidate is its own score.
SCORE = """\
grep -q wrong "$1" && { echo "that is wrong" >&2; exit 7; }
echo "{\\"fitness\\": $(cat "$1")}" > "$2"
"""

# Turn by turn. Rewards: 0 1.5 0 2 1 0 1.1.
REPLIES = ["I would think about it.", "```\n2\n```", "```\nwrong\n```", "```\n3\n```", "```\n1\n```", "```\nwrong again\n```",
           "```\n1.2\n```"]
PLAN = ("--turns", 7, "--first", 3, "--keep", 2)
SHOWN = {"consecutive": [[], [1], [1, 2], [1, 2], [3, 4], [4, 5], [4, 5]],
         "top": [[], [1], [1, 2], [1, 2], [2, 4], [2, 4], [2, 4]]}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


class Script:
    """Answers by how far the journal of the one trajectory is, so that a kill in between changes nothing."""

    def __init__(self):
        self.journal = None
        self.hold = None  # the number of the request that gets no answer
        self.held = threading.Event()

    def __call__(self, number, body):
        if number == self.hold:
            self.held.set()
            return None
        text = self.journal.read_text() if self.journal.exists() else ""
        return reply(REPLIES[text.count('"event":"reply"')])


class SttsTest(ModelTest):
    def setUp(self):
        super().setUp()
        self.write("number")
        self.script = Script()
        self.model = self.serve(self.script)

    def write(self, name, score=SCORE):
        task = self.folder / name
        task.mkdir(parents=True, exist_ok=True)
        (task / "task.yaml").write_text(TASK)
        (task / "about.txt").write_text("A number.\n")
        (task / "score.sh").write_text(score)

    def command(self, *more, out="a", task="number", plan=PLAN):
        self.script.journal = self.folder / out / "trajectories/number/1.jsonl"
        return ("stts", task, "--out", out, *self.asking(self.model), *plan, "--set", "evaluator.sandbox=none", *more)

    def stts(self, *more, status=0, **options):
        return self.ends(status, *self.command(*more, **options))

    def held(self, number):
        """The command, once the model was asked for the first time without an answer: by that request."""
        self.script.held.clear()
        self.script.hold = number
        process = self.begin(*self.command())
        wait_for(lambda: self.script.held.is_set() or process.poll() is not None, "the model to be asked")
        self.script.hold = None
        return process

    def journal(self, out="a", path="number/1.jsonl"):
        return lines(self.folder / out / "trajectories" / path)

    def test_windows_and_tables_are_those_computed_by_hand(self):
        for window, shown in SHOWN.items():
            done = self.stts("--window", window, "--temperature", 1, "--top-p", 0.95, "--max-output-tokens", 100, out=window)
            journal = self.journal(window)
            self.assertEqual([line["shown"] for line in journal if line["event"] == "reply"], shown)
            rewards = [line["reward"] for line in journal if line["event"] == "verdict"]
            for reward, expected in zip(rewards, [0, 1.5, 0, 2, 1, 0, 1.1], strict=True):
                self.assertAlmostEqual(reward, expected)
            with open(self.folder / window / "results.csv", newline="") as file:
                last, best = csv.DictReader(file)
            self.assertEqual((last["table"], last["speedup"], last["best_by_round"]), ("last", "1.2", "0 2 0 3 1 0 1.2"))
            self.assertEqual((best["table"], best["speedup"], best["best_by_round"]), ("best_of_history", "3", "0 2 2 3 3 3 3"))
            self.assertEqual((best["task"], best["calls"], best["candidates"]), ("number", "7", "6"))
            self.assertIn("number 4/7  fitness 3, reward 2", done.stderr)
            self.assertEqual(self.stts("--window", window, "--temperature", 1, "--top-p", 0.95, "--max-output-tokens", 100,
                                       out=window).stdout, done.stdout, "a finished one is taken as it is")
        self.assertEqual(len(self.model.requests), 2 * len(REPLIES))
        for _, body in self.model.requests:
            self.assertEqual((body["temperature"], body["top_p"]), (1, 0.95))

    def test_killed_anywhere_it_asks_for_no_reply_twice(self):
        self.stts(out="whole")
        asked = len(self.model.requests)
        for kept in (0, 1, 3, 6):
            process = self.held(len(self.model.requests) + kept - (0 if not kept else self.replies()))
            process.kill()
            out, err = finish(process)
            self.assertEqual(process.returncode, -signal.SIGKILL, out + err)
            self.assertEqual(self.replies(), kept)
        self.stts()
        # The four requests that were never answered were not paid for.
        self.assertEqual(len(self.model.requests) - asked, len(REPLIES) + 4)
        for name in ("results.csv", "results.json", "levels.csv"):
            self.assertEqual((self.folder / "a" / name).read_text(), (self.folder / "whole" / name).read_text(), name)
        self.assertEqual(self.without_times("a"), self.without_times("whole"))

    def test_more_turns_go_on_from_a_finished_trajectory(self):
        more = ("--turns", 9, *PLAN[2:])
        REPLIES.extend(["```\n4\n```", "```\n27\n```"])
        self.addCleanup(REPLIES.__delitem__, slice(7, None))
        self.stts()
        self.stts(plan=more)
        self.assertEqual(len(self.model.requests), 9)
        self.stts(out="whole", plan=more)
        for name in ("results.csv", "results.json", "levels.csv"):
            self.assertEqual((self.folder / "a" / name).read_text(), (self.folder / "whole" / name).read_text(), name)
        self.assertEqual(self.without_times("a"), self.without_times("whole"))
        self.refused((self.command(), ["trajectories here have 9 turns", "--turns"]))

    def test_ctrl_c_ends_it_in_order(self):
        process = self.held(2)
        process.send_signal(signal.SIGINT)
        out, err = finish(process)
        self.assertEqual(process.returncode, 130, out + err)
        self.assertIn("stopped: the same command goes on", err)
        self.stts()
        self.assertEqual(len(self.model.requests), len(REPLIES) + 1)

    def without_times(self, out):
        journal = self.journal(out)
        for line in journal:
            line.get("evaluation", {}).get("report", {}).pop("spent_ms", None)
        return journal

    def replies(self):
        """How many the journal holds."""
        journal = self.folder / "a/trajectories/number/1.jsonl"
        return journal.read_text().count('"event":"reply"') if journal.exists() else 0

    def test_samples_are_trajectories_of_their_own(self):
        self.model.script = lambda number, body: reply(f"```\n{number + 1}\n```")
        self.stts("--samples", 3, "--workers", 3)
        with open(self.folder / "a/results.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["task"] for row in rows], ["number#1", "number#2", "number#3"] * 2)
        self.assertEqual(len(self.model.requests), 21)
        self.assertEqual(sorted(path.name for path in (self.folder / "a/trajectories/number").iterdir()),
                         ["1.jsonl", "2.jsonl", "3.jsonl"])
        self.assertIn("more samples than --samples asks for", self.stts("--samples", 2, status=2).stderr)
        self.assertIn("--for-training", self.stts("--for-training", status=2).stderr)

    def test_a_folder_has_its_levels_and_a_broken_task_is_one_row(self):
        self.write("tasks/level1/good")
        self.write("tasks/level2/bad")
        (self.folder / "tasks/level2/bad/task.yaml").write_text("version: 1\nname: bad\nbackend: nothing\n")
        self.model.script = [reply("```\n2\n```")]
        done = self.stts(task="tasks", status=2)
        self.assertIn("1 of 2 tasks ended with an error; level2/bad", done.stderr)
        results = json.loads((self.folder / "a/results.json").read_text())
        self.assertEqual([level["level"] for level in results["last"]["levels"]], [1, 2, "all"])
        self.assertEqual(results["last"]["levels"][-1]["corr"], 0.5)

    def test_a_server_that_refuses_is_one_error_and_the_same_command_goes_on(self):
        self.model.script = [(401, {"error": {"message": f"no such key {KEY}"}})]
        done = self.stts(status=3)
        self.assertIn("(permission)", done.stderr)
        self.assertNotIn(KEY, done.stdout + done.stderr)
        self.model.script = self.script
        self.stts()
        self.assertEqual(len(self.model.requests), 1 + len(REPLIES))
        for path in (self.folder / "a").rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY, path.read_text(), path)

    def test_wrong_use_is_one_error(self):
        model = ("--model", "m", "--base-url", self.model.url)
        (self.folder / "empty").mkdir()
        self.refused((["stts", "number"], ["no language model is named", "--model NAME"], "invalid_argument"),
                     (["stts", "number", *model, "--model", "n"], ["one model", "2 are named"]),
                     (["stts", "empty", *model], "empty", "not_found"),
                     (["stts", "nowhere", *model], "nowhere", "not_found"),
                     (["stts", "number", *model, "--turns", 3], ["--first", "5 turns"]))
        self.assertEqual(list(self.folder.glob("*.stts")), [])

    def test_a_folder_of_other_results_is_refused(self):
        self.stts()
        asked = len(self.model.requests)
        self.write("other")
        (self.folder / "mine").mkdir()
        (self.folder / "mine/letter.txt").write_text("dear")
        self.refused((self.command(task="other"), ["tasks was number, and is other now", "--out"]),
                     (self.command("--window", "top"), "window was consecutive, and is top now"),
                     (self.command(out="mine"), "holds something else: letter.txt"))
        self.write("number", SCORE + "\n")
        self.refused((self.command(), ["the task or the settings were changed", "--out"]))
        self.assertEqual(len(self.model.requests), asked)

    def test_one_process_at_a_time_writes_a_folder(self):
        (self.folder / "a").mkdir()
        lock = os.open(self.folder / "a", os.O_RDONLY)
        self.addCleanup(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX)
        self.refused((self.command(), "another process", "busy"))


if __name__ == "__main__":
    unittest.main()
