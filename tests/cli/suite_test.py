"""Many tasks at once: `suite` killed, stopped and resumed ends with the table of an uninterrupted one; `score` takes
right, wrong and missing candidates; what is broken is one row and one error."""

import csv
import fcntl
import json
import os
import signal
import unittest

from model import ModelTest, program, reply
from support import SEED, finish, kernelsmith, wait_for

TASK = """\
version: 1
name: NAME
backend: command
files: {seed: seed.py, also: [score.sh]}
command: [sh, score.sh, "{candidate}", "{answer}"]
"""

# The sum of the digits, times the task's own factor, in tenths. While a task has a gate, it waits there from the call on
# that NAME.from says.
SCORE = """\
grep -q wrong "$1" && { echo "that is wrong" >&2; exit 7; }
if [ -p FOLDER/NAME.gate ]; then
  echo >> FOLDER/NAME.calls
  if [ $(wc -l < FOLDER/NAME.calls) -ge $(cat FOLDER/NAME.from) ]; then touch FOLDER/NAME.reached; cat FOLDER/NAME.gate; fi
fi
sum=0
while read -r name equals value rest; do
  case "$equals" in =) sum=$((sum + value)) ;; esac
done < "$1"
sum=$((sum * FACTOR))
echo "{\\"fitness\\": $((sum / 10)).$((sum % 10)), \\"trivial\\": TRIVIAL, \\"algebraic\\": $((FACTOR / 3))}" > "$2"
"""

OPTIONS = ("--rounds", 16, "--seed", 3, "--deterministic", "--set", "evaluator.sandbox=none")


class TasksTest(ModelTest):
    """Three tasks over two levels."""

    def setUp(self):
        super().setUp()
        self.write("level1/a", trivial=1)
        self.write("level1/b", factor=2)
        self.write("level2/c", factor=3)

    def write(self, name, trivial=0, factor=1):
        task = self.folder / "tasks" / name
        task.mkdir(parents=True, exist_ok=True)
        (task / "task.yaml").write_text(TASK.replace("NAME", task.name))
        (task / "seed.py").write_text(SEED)
        score = SCORE.replace("FOLDER", str(self.folder)).replace("NAME", task.name)
        (task / "score.sh").write_text(score.replace("TRIVIAL", str(trivial)).replace("FACTOR", str(factor)))

    def suite(self, out, *more, options=OPTIONS, status=0):
        return self.ends(status, "suite", "tasks", "--out", out, *options, *more)

    def table(self, done):
        """The tables, without the line that names the folder."""
        return done.stdout.split("\nresults  ")[0]

    def results(self, out):
        return json.loads((self.folder / out / "suite.json").read_text())["results"]

    def broken(self):
        """Another task, whose backend is misspelt; the function returned mends it."""
        self.write("level1/broken")
        self.edit("tasks/level1/broken/task.yaml", "backend: command", "backend: comand")
        return lambda: self.edit("tasks/level1/broken/task.yaml", "backend: comand", "backend: command")

    def files(self, out):
        return {name: (self.folder / out / name).read_text()
                for name in ("suite.json", "levels.csv", "tasks.csv", "report.md")}

    def interrupted_by(self, number, status, task="b", call=10, options=OPTIONS):
        """The suite b.suite, which the signal `number` ends in that call of the task's own command."""
        gate = self.folder / f"{task}.gate"
        (self.folder / f"{task}.from").write_text(str(call))
        os.mkfifo(gate)
        process = self.begin("suite", "tasks", "--out", "b.suite", *options)
        wait_for((self.folder / f"{task}.reached").exists, "the gate")
        process.send_signal(number)
        out, err = finish(process)
        self.assertEqual(process.returncode, status, out + err)
        os.close(os.open(gate, os.O_RDWR | os.O_NONBLOCK))  # lets go whoever still waits there
        for name in (f"{task}.gate", f"{task}.calls", f"{task}.reached"):
            (self.folder / name).unlink()
        return out, err


class SuiteTest(TasksTest):
    def test_killed_in_the_middle_it_ends_with_the_same_table(self):
        whole = self.table(self.suite("a.suite"))
        self.interrupted_by(signal.SIGKILL, -signal.SIGKILL)
        self.assertEqual([result["task"] for result in self.results("b.suite")], ["level1/a"])
        resumed = self.suite("b.suite")
        self.assertEqual(self.table(resumed), whole)
        self.assertNotIn("[1/3]", resumed.stderr)  # what was done is not done again
        self.assertIn("[2/3] level1/b", resumed.stderr)
        self.assertEqual(self.files("b.suite"), self.files("a.suite"))
        again = self.suite("b.suite")
        self.assertEqual(self.table(again), whole)
        self.assertNotIn("/3]", again.stderr)

    def test_ctrl_c_ends_in_order(self):
        whole = self.table(self.suite("a.suite"))
        out, err = self.interrupted_by(signal.SIGINT, 130)
        self.assertIn("1 of 3 tasks are done", out)
        self.assertIn("stopped: the same command goes on", err)
        self.assertEqual(self.table(self.suite("b.suite")), whole)
        self.assertEqual(self.files("b.suite"), self.files("a.suite"))

    def test_the_figures_are_those_of_the_runs(self):
        self.suite("a.suite")
        report = json.loads((self.folder / "a.suite/suite.json").read_text())
        self.assertEqual([level["level"] for level in report["levels"]], [1, 2, "all"])
        for result in report["results"]:
            shown = self.json("show", f"a.suite/runs/{result['task']}")
            self.assertEqual(result["speedup"]["median"], shown["best"]["evaluation"]["fitness"])
            self.assertEqual(len(result["best_by_round"]), shown["counts"]["evaluations"])
            self.assertEqual(result["best_by_round"], sorted(result["best_by_round"]))
            self.assertEqual(result["best_by_round"][-1], result["speedup"]["median"])
            self.assertEqual(result["trivial"], result["task"] == "level1/a")
            self.assertEqual(result["algebraic"], result["task"] == "level2/c")
        self.assertEqual([level["tasks"] for level in report["levels_without_shortcuts"]], [2, 2])
        self.assertIn("| all, no shortcuts | 2 |", (self.folder / "a.suite/report.md").read_text())
        best = [result["speedup"]["median"] for result in report["results"]]
        self.assertTrue(all(value >= 1 for value in best), best)
        self.assertAlmostEqual(report["levels"][2]["amsr"], sum(best) / 3)
        self.assertEqual(report["levels"][0]["trivial_rate"], 0.5)
        with open(self.folder / "a.suite/tasks.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([float(row["speedup"]) for row in rows], best)

    def test_evaluate_names_a_shortcut(self):
        for task, named in (("level2/c", True), ("level1/b", False)):
            done = self.succeed("evaluate", f"tasks/{task}", f"tasks/{task}/seed.py", *OPTIONS[-2:])
            self.assertIn("accepted: ", done.stdout)
            self.assertEqual("\nalgebraic: " in done.stdout, named)

    def test_a_broken_task_is_a_row_and_the_others_go_on(self):
        mend = self.broken()
        self.write("level1/knobless")
        (self.folder / "tasks/level1/knobless/seed.py").write_text("k0 = 1\n")
        done = self.suite("a.suite", status=2)
        self.assertIn("2 of 5 tasks ended with an error; level1/broken:", done.stderr)
        self.assertIn("task.yaml:3", done.stderr)
        for row in (r"level1/broken +1 +no .*error: .*comand", r"level1/knobless +1 +no .*no knobs", r"level2/c +2 +yes"):
            self.assertRegex(self.table(done), row)
        mend()
        mended = self.suite("a.suite", status=2)
        self.assertRegex(self.table(mended), r"level1/broken +1 +yes")
        self.assertNotIn("level2/c", mended.stderr)

    def test_without_a_measurement_there_are_no_figures(self):
        for task in ("level1/a", "level1/b", "level2/c"):
            self.edit(f"tasks/{task}/task.yaml", "backend: command", "backend: comand")
        done = self.suite("a.suite", status=2)
        self.assertIn("error: nothing was measured: 3 of 3 tasks ended with an error; level1/a: ", done.stderr)
        self.assertNotIn("corr", done.stdout)

    def test_a_dry_run_estimates_all_tasks(self):
        model = self.serve([reply("this would have been paid for")])
        model.models = lambda _: (200, {"data": [{"id": "scripted"}]})
        done = self.suite("a.suite", "--dry-run", *self.asking(model), "--price-file", "prices.yaml", "--max-usd", "0.6",
                          "--set", "proposer.models=[{name: scripted, max_output_tokens: 100}]")
        self.assertEqual(model.requests, [])
        self.assertFalse((self.folder / "a.suite").exists())
        self.assertRegex(done.stdout, r"in all   3 such runs, about 48 calls and 0\.\d+ USD; at most 0\.6000 USD\n")

    def test_a_limit_of_money_holds_for_all_tasks(self):
        model = self.serve(lambda number, _: reply(f"```\n{program(*[(number >> 3 * k) % 8 for k in range(6)])}```\n"))
        self.suite("a.suite", *self.asking(model), "--price-file", "prices.yaml", "--max-usd", "0.0151")
        self.assertEqual(len(model.requests), 6)  # each task has 0.00503 USD, which pay for two calls of 0.002
        self.assertEqual([result["cost"]["calls"] for result in self.results("a.suite")], [2, 2, 2])

    def test_a_changed_task_is_told(self):
        self.suite("a.suite", "--levels", "2")
        with (self.folder / "tasks/level2/c/seed.py").open("a") as seed:
            seed.write("# changed\n")
        done = self.suite("a.suite", "--levels", "2", status=2)
        self.assertIn("the task was changed since its search began", done.stderr)
        self.assertIn("--renew", done.stderr)

    def test_a_corrected_evaluator_is_searched_anew(self):
        right = self.folder / "tasks/level2/c/score.sh"
        text = right.read_text()
        right.write_text("echo broken >&2; exit 1\n")
        self.assertRegex(self.suite("a.suite", status=2).stdout, r"level2/c +2 +no ")
        right.write_text(text)
        renewed = self.suite("a.suite", "--renew")
        self.assertRegex(self.table(renewed), r"level2/c +2 +yes")
        self.assertNotIn("level1/b", renewed.stderr)
        self.assertTrue((self.folder / "a.suite/replaced/level2/c/run.db").exists())
        self.write("level2/c", factor=4)
        self.suite("a.suite", "--renew")
        self.assertTrue((self.folder / "a.suite/replaced/level2/c.2/run.db").exists())
        self.assertEqual(self.table(self.suite("b.suite")), self.table(self.suite("a.suite")))

    def test_bad_input_is_one_error(self):
        self.refused((["suite", "nowhere"], "nowhere", "not_found"),
                     (["suite", "tasks", "--levels", 5], ["no task of level 5", "level 1, 2"]),
                     (["suite", "tasks", "--rounds", 0], "--rounds"),
                     (["suite", "tasks", "--budget", "greedy"], "--budget"),
                     (["suite", "tasks", "--set", "islands.cuont=2"], "did you mean count?"))
        self.fail_with(2, "suite", "tasks", "--model", "m", "--base-url", "https://api.openai.com/v1", says=["OPENAI_API_KEY"],
                       env={"OPENAI_API_KEY": "", "HTTPS_PROXY": "http://127.0.0.1:1"})
        self.assertFalse((self.folder / "tasks.suite").exists())
        self.suite("a.suite", "--levels", 2)
        self.refused((["suite", "tasks", "--out", "tasks", *OPTIONS], ["holds something else", "--out"]),
                     (["suite", "tasks", "--out", "a.suite", "--rounds", 5, "--levels", 2, *OPTIONS[2:]],
                      ["other settings: rounds was 16, and is 5 now", "--out"]),
                     (["score", "tasks", "--tasks", "tasks", "--out", "a.suite"], "kernelsmith suite"))

    def test_the_preset_says_how_models_are_asked(self):
        model = self.serve([reply(f"```\n{program(7, 7, 7, 7, 7, 7)}```\n")])
        command = ("suite", "tasks", "--levels", "2", "--preset", "kernel-smith", "--rounds", 3, *self.asking(model), *OPTIONS[-2:])
        done = self.succeed(*command)
        body = model.requests[0][1]
        self.assertEqual((body["temperature"], body["top_p"], body["max_tokens"]), (0.6, 0.95, 32768))
        result = self.results("tasks.suite")[0]
        self.assertEqual((result["speedup"]["median"], result["cost"]["calls"]), (12.6, len(model.requests)))
        self.assertIn("unknown", done.stdout)  # there is no price
        asked = len(model.requests)
        (self.folder / "tasks.suite/suite.json").unlink()  # as after a kill before it was written
        self.assertEqual(self.table(self.succeed(*command)), self.table(done))
        self.assertEqual(len(model.requests), asked)

    def test_a_server_that_refuses_the_key_ends_the_suite(self):
        self.write("level2/d")
        model = self.serve([(401, {"error": {"message": "no such key"}})])
        command = ("suite", "tasks", "--out", "a.suite", *self.asking(model), "--rounds", 3, *OPTIONS[2:], "--set",
                   "proposer.concurrency=1")
        text = self.fail_with(3, *command, says=["3 searches in a row ended with an error"], code="permission")
        self.assertNotIn("level2/d", text)
        self.assertEqual([result["error"]["code"] for result in self.results("a.suite")], ["permission"] * 3)
        model.script = [reply(f"```\n{program(7, 7, 7, 7, 7, 7)}```\n")]
        self.assertRegex(self.table(self.succeed(*command)), r"level2/d +2 +yes +4.20")

    def test_one_process_writes_a_folder(self):
        (self.folder / "a.suite").mkdir()
        folder = os.open(self.folder / "a.suite", os.O_RDONLY)
        self.addCleanup(os.close, folder)
        fcntl.flock(folder, fcntl.LOCK_EX)
        self.fail_with(2, "suite", "tasks", "--out", "a.suite", *OPTIONS, says=["another process"], code="busy")


class AdaptiveTest(TasksTest):
    OPTIONS = (*OPTIONS, "--budget", "adaptive")

    def evaluations(self, out):
        return {result["task"]: len(result["best_by_round"]) for result in self.results(out)}

    def test_one_budget_is_handed_out(self):
        seed = self.folder / "tasks/level2/c/seed.py"
        seed.write_text(SEED.replace("= 0", "= 6"))  # it has little to gain
        done = self.suite("a.suite", options=self.OPTIONS)
        table = self.table(done)
        self.assertIn("3 tasks, 48 evaluations in all", done.stderr)
        got = self.evaluations("a.suite")
        self.assertGreater(sum(got.values()), 40)
        self.assertLessEqual(sum(got.values()), 48)
        self.assertGreaterEqual(min(got.values()), 7)  # half of the rounds, of which one is kept for measuring again
        self.assertLess(got["level2/c"], got["level1/a"])
        for task, evaluations in got.items():
            self.assertRegex(table, rf"{task} .* {evaluations}  ")
        with open(self.folder / "a.suite/tasks.csv", encoding="utf-8") as file:
            self.assertEqual([int(row["evaluations"]) for row in csv.DictReader(file)], list(got.values()))
        again = self.suite("a.suite", options=self.OPTIONS)
        self.assertEqual(self.table(again), table)
        self.assertNotIn("/3]", again.stderr)
        self.fail_with(2, "suite", "tasks", "--out", "a.suite", *OPTIONS, says=["other settings: budget was adaptive"])

    def test_interrupted_it_ends_with_the_same_table(self):
        whole = self.table(self.suite("a.suite", options=self.OPTIONS))
        got = self.evaluations("a.suite")
        most = max(got, key=got.get)
        self.interrupted_by(signal.SIGKILL, -signal.SIGKILL, task="b", call=4, options=self.OPTIONS)
        out, err = self.interrupted_by(signal.SIGINT, 130, task="c", call=2, options=self.OPTIONS)
        self.assertIn("0 of 3 tasks are done", out)
        self.assertIn("stopped: the same command goes on", err)
        self.interrupted_by(signal.SIGKILL, -signal.SIGKILL, task=most.split("/")[1], call=2, options=self.OPTIONS)
        self.assertEqual(self.table(self.suite("b.suite", options=self.OPTIONS)), whole)
        self.assertEqual(self.files("b.suite"), self.files("a.suite"))

    def test_a_broken_task_gives_its_share_back(self):
        mend = self.broken()
        table = self.table(self.suite("a.suite", options=self.OPTIONS, status=2))
        self.assertRegex(table, r"level1/broken +1 +no .*error: .*comand")
        self.assertGreater(sum(self.evaluations("a.suite").values()), 48)
        mend()
        self.assertRegex(self.table(self.suite("a.suite", options=self.OPTIONS)), r"level1/broken +1 +yes")

    def test_flat_tasks_leave_the_rest(self):
        self.suite("a.suite", "--set", "budgets.until_flat=100", options=self.OPTIONS)
        self.assertLess(sum(self.evaluations("a.suite").values()), 40)


class ScoreTest(TasksTest):
    def score(self, *more, status=0):
        done = self.ends(status, "score", "mine", "--tasks", "tasks", *OPTIONS[-2:], *more)
        return done, {result["task"]: result
                      for result in json.loads((self.folder / "mine.score/score.json").read_text())["results"]}

    def put(self, name, text):
        path = self.folder / "mine" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def test_good_wrong_and_missing_candidates(self):
        self.put("level1/a/low.py", program(1, 1, 1, 1, 1, 1))
        self.put("level1/a/high.py", program(7, 0, 0, 0, 0, 7))
        self.put("b.py", "wrong\n")
        self.put("stray.py", "nothing\n")
        done, results = self.score()
        self.assertIn("stray.py belongs to none of the tasks", done.stderr)
        self.assertEqual(results["level1/a"]["speedup"]["median"], 1.4)
        self.assertEqual(results["level1/a"]["best_by_round"], [1.4, 1.4])
        self.assertEqual(results["level1/a"]["candidates"], 2)
        self.assertFalse(results["level1/b"]["correct"])
        self.assertEqual(results["level1/b"]["failure"], "run: command_failed")
        self.assertEqual(results["level2/c"]["failure"], "no candidate")
        levels = json.loads((self.folder / "mine.score/score.json").read_text())["levels"]
        self.assertAlmostEqual(levels[0]["corr"], 0.5)
        self.assertAlmostEqual(levels[2]["amsr"], 1.4 / 3)
        again, unchanged = self.score()
        self.assertNotIn("/3]", again.stderr)
        self.assertEqual(unchanged, results)

    def test_what_changed_is_evaluated_anew(self):
        self.put("level_1_problem_1_sample_0_kernel.py", program(1, 1, 1, 1, 1, 1))
        self.write("level1/1_first")
        self.assertEqual(self.score()[1]["level1/1_first"]["speedup"]["median"], 0.6)
        self.put("level_1_problem_1_sample_1_kernel.py", program(2, 2, 2, 2, 2, 2))
        done, results = self.score()
        self.assertEqual(results["level1/1_first"]["speedup"]["median"], 1.2)
        self.assertEqual(done.stderr.count("/4]"), 1)

    def test_each_candidate_has_a_row(self):
        self.put("level1/a/empty/other.py", "")  # a candidate of several files, without the seed's
        self.put("level1/a/low.py", program(1, 1, 1, 1, 1, 1))
        self.put("level1/a/wrong.py", "wrong\n")
        self.score(status=2)
        with open(self.folder / "mine.score/candidates.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(row["candidate"], row["verdict"], row["own_kernels"]) for row in rows],
                         [("empty", "not evaluated: not_found", ""), ("low.py", "accepted", "true"),
                          ("wrong.py", "run: command_failed", "")])
        self.assertIn("seed.py", rows[0]["error"])
        self.assertEqual([row["error"] for row in rows[1:]], ["", ""])

    def test_a_published_set_brings_its_problems(self):
        line = {"level_id": 1, "task_id": 2, "ref_code": "import torch\n", "custom_code": "x = 1\n", "score_default": 2.5}
        (self.folder / "h100.json").write_text(json.dumps(line) + "\n")
        done = kernelsmith("score", "h100.json", cwd=self.folder)
        self.assertIn("[1/1] level1/2_problem\n", done.stderr)
        self.assertEqual((self.folder / "h100.json.score/set/candidates/level_1_problem_2_sample_0_kernel.py").read_text(),
                         "x = 1\n")

    def test_a_folder_without_candidates(self):
        self.put("stray.py", "nothing\n")
        self.refused((["score", "mine", "--tasks", "tasks"], "no candidate for any of these tasks"),
                     (["score", "mine"], "--tasks is required"))


if __name__ == "__main__":
    unittest.main()
