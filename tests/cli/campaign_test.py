"""benchmarks/campaign with a scripted model: arms at equal calls, through a kill, a limit of money, and recorded replies."""

import csv
import os
import re
import signal
import subprocess
import sys
import threading
import unittest
from pathlib import Path
from xml.etree import ElementTree

from kernelbench_test import PROBLEM
from model import ModelTest, reply
from stts_test import SCORE, TASK
from support import KERNELSMITH, finish, wait_for

CAMPAIGN = Path(__file__).resolve().parents[2] / "benchmarks/campaign"
sys.path.append(str(CAMPAIGN))
from replies import NOTHING_LEFT, Recorded  # noqa: E402

PYTHON = os.environ["KERNELSMITH_PYTHON"]  # one with numpy
CALL_USD = 0.002


def improver(number, body):
    """Raises the best program that it is shown by 1, and begins with a little more than 1, each time more."""
    shown = [float(value) for value in re.findall(r"(\d+\.\d+)  # mine", body["messages"][-1]["content"])]
    return reply(f"```\n{max(shown) + 1 if shown else 1 + number / 1000}  # mine\n```")


class CampaignTest(ModelTest):
    env = {**ModelTest.env, "PATH": f"{Path(KERNELSMITH).parent}:{os.environ['PATH']}",
           "KERNELSMITH_TORCH_PYTHON_DIR": os.environ["KERNELSMITH_FAKE_TORCH"]}

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"

    def problems(self, *names):
        """The candidate is its own score."""
        for name in names:
            task = self.folder / "bench/level1" / name
            task.mkdir(parents=True)
            for file, text in (("task.yaml", TASK), ("score.sh", SCORE.replace("cat", "cut -d' ' -f1")), ("about.txt", "A number.\n")):
                (task / file).write_text(text)

    def start(self, *words):
        process = subprocess.Popen([PYTHON, "-B", CAMPAIGN, "bench", "--out", "out", *map(str, words)], cwd=self.folder,
                                   env={**os.environ, **self.env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def campaign(self, *words, status=0):
        process = self.start(*words)
        out, err = finish(process)
        self.assertEqual(process.returncode, status, out + err)
        return err

    def asking_one_by_one(self, model):
        return ["--", *self.asking(model), "--price-file", "prices.yaml", "--deterministic", "--set=pipeline=1",
                "--set=evaluator.sandbox=none"]

    def table(self, name):
        with open(self.out / name, newline="") as file:
            return list(csv.DictReader(file))

    def prompts(self, run):
        return {line["prompt"] for line in self.lines("export", self.out / "runs" / run) if "prompt" in line}

    def test_arms_at_equal_calls_through_a_kill(self):
        self.problems("1_one", "2_two")
        held = threading.Event()

        def script(number, body):
            if number == 1:
                return reply("```\nwrong\n```")
            if number != 8:
                return improver(number, body)
            held.set()
            return None

        model = self.serve(script)
        command = ["--calls", 6, "--seeds", 2, "--arms", "best-of-N", "--arm", "greedy sampler.exploration=0 sampler.opening=1", *self.asking_one_by_one(model)]
        process = self.start(*command)
        wait_for(held.is_set, "the ninth call")
        process.send_signal(signal.SIGKILL)
        told = self.campaign(*command)
        self.assertIn("8 runs of 6 calls: 48 calls in all", told)
        self.assertNotIn("[1/8]", told, "an ended run is not repeated")
        self.assertIn("level1_1.greedy.1: ", told)
        self.assertEqual(len(model.requests), 48 + 1, "the one that hung is asked again")
        runs = self.table("runs.csv")
        self.assertEqual([(row["calls"], row["confirmed"]) for row in runs], [("6", "True")] * 8)
        first, greedy = self.table("arms.csv")
        self.assertLessEqual(float(first["speedup"]), 1.2)
        self.assertEqual((first["runs"], first["ratio"], greedy["runs"], greedy["pairs"]), ("4", "", "4", "4"))
        # One first program, and five steps of 1.
        self.assertEqual({int(float(row["speedup"])) for row in runs if row["arm"] == "greedy"}, {6})
        self.assertEqual(greedy["a12_low"], "1.0")
        self.assertGreater(float(greedy["ratio_low"]), 3)
        self.assertEqual([round(float(best)) for best in runs[1]["best_by_call"].split()], [0, 1, 2, 3, 4, 5, 6])
        for problem in ("level1_1", "level1_2"):
            self.assertEqual(len(self.prompts(f"{problem}.best-of-N.1.run")), 1, "every call is a first one, after a failure too")
        self.assertEqual(runs[0]["rejected"], "1")
        self.assertEqual(len(self.prompts("level1_1.greedy.1.run")), 6)
        picture = ElementTree.parse(self.out / "picture.svg")
        self.assertLessEqual({"best-of-N", "greedy"}, {text.text for text in picture.iter("{http://www.w3.org/2000/svg}text")})
        before = (self.out / "report.md").read_bytes()
        self.assertIn(b"| greedy | 4 | 100% | 100% | 0% | 6.", before)
        self.campaign(*command)
        self.assertEqual((len(model.requests), (self.out / "report.md").read_bytes()), (49, before))
        command[1] = 7
        self.assertIn("other settings: calls (6, not 7)", self.campaign(*command, status=1))
        (self.out / "campaign.json").write_text('{"calls": 6}')
        self.assertIn("campaign.json is damaged", self.campaign(*command, status=1))

    def test_no_arm_exceeds_its_share_of_the_money(self):
        self.problems("1_one", "2_two")
        model = self.serve(improver)
        asks = self.asking_one_by_one(model)
        told = self.campaign("--calls", 6, "--seeds", 1, "--max-usd", 0.03, *asks, status=1)
        self.assertIn("the money of best-of-N is used up; 2 of 4 runs have ended", told)
        self.assertEqual(len(model.requests), 6 + 6 + 1)
        self.assertEqual([(row["arm"], float(row["usd"])) for row in self.table("runs.csv")],
                         [("best-of-N", 6 * CALL_USD), ("evolution", 6 * CALL_USD)])
        self.campaign("--calls", 6, "--seeds", 1, "--max-usd", 0.03, *asks, status=1)
        self.assertEqual(len(model.requests), 13)
        self.campaign("--calls", 6, "--seeds", 1, "--max-usd", 1, *asks)
        self.assertEqual(len(model.requests), 24)
        self.assertEqual(len(self.table("runs.csv")), 4)
        told = self.campaign("--calls", 6, "--seeds", 1, "--max-usd", 0.0525, "--arms", "best-of-N,evolution,mixture", *asks, status=1)
        self.assertIn("the money of mixture is used up", told)
        self.assertEqual(len(model.requests), 26, "what is left of the whole, though it is less than a share")

    def test_recorded_replies_are_the_model(self):
        level = self.folder / "bench/level1"
        level.mkdir(parents=True)
        (level / "19_ReLU.py").write_text(f'# script: {{"us": 1000}}\n{PROBLEM}')
        for name, us in (("first/level1_19_a", 500), ("first/level1_19_b", 400), ("first/level1_2_a", 1),
                         ("second/level1_19_000001", 250), ("second/level1_19_000007", 800)):
            file = self.folder / "replies" / f"{name}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f'Faster:\n```python\n# script: {{"us": {us}}}\nclass ModelNew:\n    us = {us}\n```\n')
        self.campaign("--calls", 3, "--seeds", 1, "--replies", "replies", "--arms", "best-of-N", "--arm", "deeper sampler.opening=1",
                      "--", "--set", "evaluator.sandbox=none")
        found = {row["arm"]: (float(row["speedup"]), row["calls"], row["refused"]) for row in self.table("runs.csv")}
        self.assertEqual(found, {"best-of-N": (2.5, "3", "1"), "deeper": (4.0, "3", "0")})

    def test_a_reply_that_was_used_before_a_kill_is_not_used_again(self):
        (self.folder / "queue/answered").mkdir(parents=True)
        (self.folder / "replies/first").mkdir(parents=True)
        for name in "ab":
            (self.folder / f"replies/first/it_{name}.txt").write_text(name)
        (self.folder / "queue/answered/000000.reply.json").write_text('{"text": "a"}')
        recorded = Recorded(self.folder / "queue", self.folder / "replies", "it")
        request = {"operator": "translate", "ticket": 1, "messages": []}
        self.assertEqual([recorded.reply(request), recorded.reply(request)], ["b", NOTHING_LEFT])

    def test_edits_answer_requests_that_show_their_lines(self):
        (self.folder / "replies/second").mkdir(parents=True)
        for ticket, lines in ((1, "x = 1\n"), (2, "y = 2\n")):
            text = f"```\n<<<<<<< SEARCH\n{lines}=======\nz = 3\n>>>>>>> REPLACE\n```\n"
            (self.folder / f"replies/second/it_00000{ticket}.txt").write_text(text)
        for shown, first in (("x = 1\n", "x"), ("y = 2\n", "y"), ("x = 1\ny = 2\n", "y"), ("", "y")):
            recorded = Recorded(self.folder / "queue", self.folder / "replies", "it")
            request = {"operator": "edit", "ticket": 2, "messages": [{"role": "user", "content": shown}]}
            self.assertIn(f"\n{first} = ", recorded.reply(request))

    def test_what_fails_is_said_and_tried_again(self):
        self.problems("1_one", "2_two", "3_three")
        for says, status, *words in (("there is no arm 'best'", 1, "--arms", "best"), ("level1_4 is not", 1, "--problems", "level1_4"),
                                     ("found '1,x'", 1, "--levels", "1,x"), ("an arm is a name", 1, "--arm", ""),
                                     ("an arm evolution already", 1, "--arm", "evolution sampler.top=1"),
                                     ("--max-usd must be", 2, "--max-usd", 0), ("--max-usd must be", 2, "--max-usd", "nan")):
            self.assertIn(says, self.campaign("--calls", 1, *words, status=status))
        model = self.serve([(401, {"error": {"message": "wrong key"}})])
        told = self.campaign("--calls", 1, "--seeds", 1, *self.asking_one_by_one(model), status=1)
        self.assertEqual(told.count("wrong key"), 5, "one problem's arms may all fail")
        self.assertIn("the runs of 3 problems in a row failed; 0 of 6 runs have ended", told)
        model.script = improver
        self.campaign("--calls", 1, "--seeds", 1, *self.asking_one_by_one(model))

    def test_an_arm_with_a_wrong_key_costs_nothing_and_can_be_corrected(self):
        self.problems("1_one", "2_two")
        model = self.serve(improver)

        def start(arm, status=0):
            return self.campaign("--calls", 1, "--seeds", 1, "--arms", "evolution", "--arm", arm, *self.asking_one_by_one(model), status=status)

        self.assertIn("a setting was refused; 1 of 4 runs have ended", start("wide islands.cuont=4", status=1))
        self.assertEqual(len(model.requests), 1)
        start("wide islands.count=4")
        self.assertIn('other settings: arm wide (["islands.count=4"], not ["islands.count=2"])', start("wide islands.count=2", status=1))


if __name__ == "__main__":
    unittest.main()
