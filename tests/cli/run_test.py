"""The main job as a user does it: make a task, evaluate, run, show, resume, export."""

import csv
import json
import os
import pty
import signal
import subprocess
import unittest

from support import KERNELSMITH, SCORE, SEED, TASK, CommandTest, TaskTest, finish, kernelsmith, write_task


def digest_in(text):
    """The archive's digest that run, resume and show print."""
    return text.split("digest ")[1].split()[0]


class KernelTest(CommandTest):
    """The task that init makes, of a kernel in C++."""

    ASSIGNMENT = "y[j * rows + i] = x[i * cols + j]"

    def setUp(self):
        super().setUp()
        self.succeed("init", "task")
        self.seed = (self.folder / "task/seed.cpp").read_text()

    def test_is_searched_and_what_was_found_is_the_baseline_of_the_next_search(self):
        evaluation = self.json("evaluate", "task", "task/seed.cpp")
        self.assertTrue(evaluation["accepted"])
        self.assertLessEqual(evaluation["speedup"]["low"], evaluation["speedup"]["median"])
        self.assertLessEqual(evaluation["speedup"]["median"], evaluation["speedup"]["high"])
        self.assertGreater(evaluation["runtime_us"], 0)
        self.assertGreater(evaluation["over_yardstick"]["low"], 0)
        self.assertEqual(len([shape for shape in evaluation["shapes"] if shape["timed"]]), 2)
        done = self.succeed("run", "task", "--evaluations", "4")
        self.assertIn("transpose-1.run/best/seed.cpp", done.stdout)
        self.assertIn("over the baseline", done.stdout)
        best = self.json("show", "transpose-1.run")["best"]["evaluation"]["speedup"]
        self.assertIn(f"speedup  {best['median']:.2f}x", done.stdout)
        unconfirmed = self.succeed("run", "task", "--evaluations", "4", "--set", "limits.confirm=false")
        figure = next(line.split()[1] for line in unconfirmed.stdout.splitlines() if line.startswith("speedup"))
        shown = [line.split("best ")[1].split()[0] for line in unconfirmed.stderr.splitlines() if "best " in line]
        self.assertEqual(shown[-1], figure, "one figure for one best")

        self.succeed("run", "task", "--evaluations", "2", "--baseline-from", "transpose-1.run", "--out", "b.run")
        [baseline] = (self.folder / "b.run/task").glob("baseline_*.cpp")
        self.assertEqual(baseline.read_text(), (self.folder / "transpose-1.run/best/seed.cpp").read_text())
        self.assertIn(f"baseline: {baseline.name}", (self.folder / "b.run/task/task.yaml").read_text())
        again = self.json("evaluate", "b.run/task", baseline, "--quick")["speedup"]["median"]
        self.assertLess(abs(again - 1), 0.5, "the best of the first run is 1.0x, whatever it was there")
        self.succeed("resume", "b.run", "--evaluations", "3")
        write_task(self.folder / "hill")
        self.succeed("run", "hill", "--iterations", "2", "--out", "hill.run")
        (self.folder / "module").mkdir()
        (self.folder / "module/reference.py").write_text("class Model: ...\n")
        (self.folder / "module/task.yaml").write_text("version: 1\nname: m\nbackend: torch\nfiles: {reference: reference.py}\n")
        self.refused((["run", "module", "--baseline-from", "transpose-1.run"], ["its backend or reference differs", "transpose-1.run"]),
                     (["run", "task", "--baseline-from", "transpose-2.run"], ["was not confirmed", "transpose-2.run"]),
                     (["run", "hill", "--baseline-from", "hill.run"], "so it has no baseline"))

    def test_what_is_told_of_candidates(self):
        self.edit("task/task.yaml", "policy: exact", "policy: auto")
        reference = (self.folder / "task/reference.cpp").read_text()
        self.assertNotIn("EVOLVE-BLOCK", reference)
        for name, text, before, after in (("close", reference, self.ASSIGNMENT, self.ASSIGNMENT + " * (1 + 0x1.8p-20F)"),
                                          ("mine", '#include "task.hpp"\nthis is no C++\n', "", ""),
                                          ("wrong", self.seed, self.ASSIGNMENT, "y[j * rows + i] = 1")):
            self.assertIn(before, text)
            (self.folder / f"{name}.cpp").write_text(text.replace(before, after) if before else text)
        done = self.ends(1, "evaluate", "task", "close.cpp", "mine.cpp", "wrong.cpp", "task/reference.cpp", "task/seed.cpp", "--quick", "--json")
        close, mine, wrong, own, seed = map(json.loads, done.stdout.splitlines())
        self.assertEqual([one["accepted"] for one in (close, mine, wrong, own, seed)], [True, False, False, True, True])
        self.assertRegex(done.stderr, r"note: close.cpp at cols=1024 rows=1024: the worst error is 0\.\d+ of the allowed error")
        self.assertNotIn("note: task/seed.cpp", done.stderr)
        self.assertIn("note: task/reference.cpp differs from the seed", done.stderr)
        self.assertIn("mine.cpp:2:", mine["diagnostics"], "it is named as it was given")
        self.assertNotIn("seed.cpp", mine["diagnostics"])
        self.assertNotIn(False, [shape["correct"] for shape in mine["shapes"]], "what was not reached is not wrong")
        self.assertEqual([shape["correct"] for shape in wrong["shapes"]].count(False), 1)

    def test_a_yardstick_that_is_much_slower_is_told_of(self):
        (self.folder / "fast.cpp").write_text(self.seed)
        loop = "  for (std::int64_t i = 0; i < rows; i += kTileRows)"
        self.assertEqual(self.seed.count(loop), 1)
        self.edit("task/seed.cpp", loop, "  for (volatile int again = 0; again < 8; again = again + 1)\n" + loop)
        told = self.succeed("evaluate", "task", "fast.cpp", "task/seed.cpp", "--quick").stderr
        self.assertEqual(told.count("note: the yardstick takes"), 1, told)

    def test_nothing_is_overwritten(self):
        (self.folder / "task/seed.cpp").write_text("mine")
        self.refused((["init", "task"], "exists already"))
        self.assertEqual((self.folder / "task/seed.cpp").read_text(), "mine")


class TemplateTest(CommandTest):
    """What init makes of the other kinds works as it is."""

    def test_command(self):
        self.succeed("init", "task", "--template", "command")
        evaluation = self.json("evaluate", "task", "task/seed.py")
        self.assertTrue(evaluation["accepted"])
        self.assertIn("x", evaluation["features"])
        self.assertIsNone(evaluation["speedup"])
        self.succeed("run", "task", "--iterations", "30")
        best = self.json("show", "highest_point-1.run")["best"]["evaluation"]["fitness"]
        self.assertGreater(best, evaluation["fitness"])

    def test_several_objectives_leave_a_front_to_choose_from(self):
        self.succeed("init", "task", "--template", "command")
        self.succeed("run", "task", "--iterations", "20", "--set", "objectives=[fitness, min x]")
        archive = self.json("show", "highest_point-1.run")["archive"]
        self.assertEqual(archive["objectives"]["rule"], "pareto")
        values = [member["values"] for member in archive["front"]]
        self.assertTrue(values)
        for one in values:
            better = [other for other in values if other["fitness"] >= one["fitness"] and other["x"] <= one["x"]]
            self.assertEqual(better, [one])
        self.assertIn("that no other program beats in everything", self.succeed("show", "highest_point-1.run").stdout)
        self.succeed("resume", "highest_point-1.run", "--iterations", "25")
        self.fail_with(2, "resume", "highest_point-1.run", "--iterations", "30", "--set", "objectives=[fitness]",
                       says=["objectives"])
        self.succeed("run", "task", "--iterations", "2", "--axes", "kernel-smith")
        axes = self.json("show", "highest_point-2.run")["archive"]["axes"]
        self.assertEqual([axis["feature"] for axis in axes], ["bytes", "fitness"])

    def test_python(self):
        self.succeed("init", "task", "--template", "python")
        evaluation = self.json("evaluate", "task", "task/initial_program.py")
        self.assertTrue(evaluation["accepted"])
        self.assertEqual(evaluation["tier"], "unverified")
        self.assertIn("x", evaluation["features"])
        self.succeed("doctor", "task")
        self.succeed("run", "task", "--iterations", "30")
        best = self.json("show", "highest_point-1.run")["best"]["evaluation"]["fitness"]
        self.assertGreater(best, evaluation["fitness"])
        self.succeed("resume", "highest_point-1.run", "--iterations", "35")
        done = self.succeed("evaluate", "task", "task/initial_program.py", "--set", "evaluator.sandbox=none")
        self.assertIn("unsandboxed", done.stdout)


class EvaluateTest(TaskTest):
    def test_a_rejection_has_status_1(self):
        (self.folder / "bad.txt").write_text(SEED.replace("k0 = 0", "k0 = 9"))
        evaluation = self.json("evaluate", "task", "bad.txt", status=1)
        self.assertFalse(evaluation["accepted"])
        self.assertEqual((evaluation["stage"], evaluation["code"]), ("parse", "unreadable"))
        self.assertIn("9", evaluation["diagnostics"])
        for absent in ("fitness", "speedup", "runtime_us"):
            self.assertIsNone(evaluation[absent])
        self.assertIn("rejected at parse", self.ends(1, "evaluate", "task", "bad.txt").stdout)

    def test_knobs_are_listed_and_near_misses_told(self):
        (self.folder / "mine.txt").write_text(SEED + "n = 3  # @tunes 1 3\n")
        done = self.succeed("evaluate", "task", "mine.txt")
        self.assertIn("knob k1 (mine.txt:2) is 0 of 0 1 2 3 4 5 6 7\n", done.stdout)
        self.assertIn("note: mine.txt:7: `@tunes 1 3` makes no knob; `@tune 1 3` would\n", done.stderr)
        done = self.succeed("evaluate", "task", "task")
        self.assertIn("knob k1 (task/seed.txt:2) is 0 of 0 1 2 3 4 5 6 7\n", done.stdout)
        knobs = self.json("evaluate", "task", "mine.txt")["knobs"]
        self.assertEqual(len(knobs), 6)
        self.assertEqual(
            knobs[1], {"name": "k1", "file": "mine.txt", "line": 2, "value": "0", "values": list("01234567")}
        )
        (self.folder / "task/seed.txt").write_text(SEED + "n = 3  # @tunes 1 3\n")
        checks = [check for check in self.json("doctor", "task", status=2)["checks"] if check["name"] == "knobs"]
        self.assertEqual([check["status"] for check in checks], ["ok"] * 6 + ["limited"])
        self.assertIn("knob k0 (seed.txt:1) is 0 of", checks[0]["detail"])
        self.assertIn("seed.txt:7: `@tunes 1 3` makes no knob", checks[6]["detail"])
        done = self.succeed("run", "task", "--iterations", "1")
        self.assertIn("note: seed.txt:7: `@tunes 1 3` makes no knob; `@tune 1 3` would\n", done.stderr)


class RunTest(TaskTest):
    def test_refusals_are_counted_by_name(self):
        write_task(self.folder / "task", seed_txt="k0 = 3  # @tune 3\n")
        self.succeed("run", "task", "--iterations", "4", "--workers", "1", "--out", "a.run")
        [refusal] = self.json("show", "a.run")["refusals"]
        self.assertEqual((refusal["code"], refusal["count"], refusal["ticket"]), ("exhausted", 1, 1))
        self.assertRegex(self.succeed("show", "a.run").stdout, r"exhausted +1\n")

    def test_the_configuration_is_written_out_and_reads_back(self):
        self.succeed("run", "task", "--iterations", "10", "--out", "a.run", "--deterministic", "--seed", "5",
                     "--set", "islands.count=2")
        text = (self.folder / "a.run/run.yaml").read_text()
        for line in ("seed: 5", "deterministic: true", "count: 2", "iterations: 10"):
            self.assertIn(line, text)
        self.succeed("run", "task", "--config", "a.run/run.yaml", "--out", "b.run")
        self.assertEqual((self.folder / "b.run/run.yaml").read_text(), text)
        self.assertEqual(self.json("show", "a.run")["archive"], self.json("show", "b.run")["archive"])

    def test_show(self):
        done = self.succeed("run", "task", "--iterations", "40", "--out", "a.run")
        (self.folder / "task").rename(self.folder / "gone")
        run = self.json("show", "a.run")
        self.assertEqual(run["archive"]["digest"][:16], digest_in(done.stdout))
        self.assertEqual(run["ended"], "budget")
        self.assertEqual(run["budgets"]["iterations"], {"used": 40, "limit": 40})
        self.assertEqual(run["lineage"][0]["origin"], "seed")
        self.assertEqual(run["lineage"][-1]["program"], run["best"]["program"])
        self.assertIn("+k", run["lineage"][-1]["diff"])
        self.assertEqual(run["archive"]["filled"], len(run["archive"]["elites"]))
        text = self.succeed("show", "a.run").stdout
        for part in ("cells filled", "lineage of the best", "40 of 40 iterations", f"digest {digest_in(done.stdout)}"):
            self.assertIn(part, text)

    def test_show_keeps_to_a_hundred_columns_unless_all_is_asked_for(self):
        write_task(self.folder / "wide", seed_txt=SEED.replace("k3", "# " + "long " * 60 + "\nk3"))
        done = self.succeed("run", "wide", "--deterministic", "--iterations", "150", "--out", "a.run", "--set",
                     "archive.axes=[{feature: knob.k0, low: 0, high: 7.1, bins: 96}, {feature: knob.k1, low: 0, high: 7.3, bins: 96}]")
        self.assertLessEqual(max(len(line) for line in done.stderr.splitlines() if "iteration" in line), 100)
        text = self.succeed("show", "a.run").stdout
        self.assertLessEqual(max(map(len, text.splitlines())), 100, text)
        self.assertLess(len(text.splitlines()), 120, text)
        self.assertEqual(text.count("--all"), 2, "at the map and at the lineage")
        self.assertNotRegex(text.replace(digest_in(text), ""), r"\d{12}")
        whole = self.succeed("show", "a.run", "--all").stdout
        steps = self.json("show", "a.run")["lineage"]
        for step in steps:
            self.assertIn(step["diff"], whole)
            self.assertIn(f"program {step['program']} (", text)
        self.assertIn("best of each cell", whole)
        self.assertNotIn("--all", whole)
        self.assertGreater(max(map(len, whole.splitlines())), 240)

    def test_runs_that_begin_at_once_have_folders_of_their_own(self):
        runs = [self.begin("run", "task", "--iterations", "2") for _ in range(3)]
        told = [finish(run)[1] for run in runs]
        self.assertEqual([run.returncode for run in runs], [0, 0, 0], told)
        self.assertEqual({text.split("run folder ")[1].split(";")[0] for text in told},
                         {f"hill-{number}.run" for number in (1, 2, 3)})
        self.succeed("init", "c")
        failed = kernelsmith("run", "c", "--set", "evaluator.compiler=/bin/false", cwd=self.folder)
        self.assertIn("run folder ", failed.stderr)
        self.assertEqual(list(self.folder.glob("c-*.run")) + list(self.folder.glob("transpose*.run")), [], failed.stderr)

    def test_export(self):
        self.succeed("run", "task", "--iterations", "20", "--out", "a.run")
        lines = self.lines("export", "a.run")
        programs = {line["id"] for line in lines if line["type"] == "program"}
        self.assertEqual({line["program"] for line in lines if line["type"] == "evaluation"}, programs)
        for edge in (line for line in lines if line["type"] == "lineage"):
            self.assertLess(edge["parent"], edge["child"])
            self.assertLessEqual({edge["parent"], edge["child"]}, programs)
        self.succeed("export", "a.run", "--out", "all.jsonl")
        self.assertEqual(len((self.folder / "all.jsonl").read_text().splitlines()), len(lines))

    def test_export_as_a_table(self):
        self.succeed("init", "tiles")
        seed = self.folder / "tiles/seed.cpp"
        seed.write_text(seed.read_text().replace("enum Order", "// @require kTileRows * kTileCols <= 16384\n\nenum Order"))
        self.succeed("run", "tiles", "--iterations", "4", "--out", "tiles.run")
        self.succeed("export", "tiles.run", "--format", "csv", "--out", "tiles.csv")
        with (self.folder / "tiles.csv").open() as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["program"] for row in rows][:2], ["0", "1"])
        for row in rows:
            self.assertLessEqual(int(row["kTileRows"]) * int(row["kTileCols"]), 16384)
            self.assertEqual(row["verdict"] == "accepted", float(row["runtime_us"] or 0) > 0)

    def test_a_failed_export_leaves_the_file(self):
        (self.folder / "mine.jsonl").write_text("mine")
        self.fail_with(2, "export", "nowhere.run", "--out", "mine.jsonl", says=["nowhere.run"])
        self.assertEqual((self.folder / "mine.jsonl").read_text(), "mine")
        self.succeed("run", "task", "--iterations", "5", "--out", "a.run")
        self.refused(*[([*command, file], "in the run's own folder") for file in ("a.run/run.db", "a.run/task/new")
                       for command in (["export", "a.run", "--out"], ["report", "a.run", "-o"])])
        self.succeed("show", "a.run")
        journal = bytearray((self.folder / "a.run/run.db").read_bytes())
        journal[len(journal) // 2:len(journal) // 2 + 400] = b"\xff" * 400
        (self.folder / "a.run/run.db").write_bytes(journal)
        kernelsmith("export", "a.run", "--out", "mine.jsonl", cwd=self.folder)
        self.assertEqual((self.folder / "mine.jsonl").read_text(), "mine")
        self.assertEqual([path.name for path in self.folder.glob("mine*")], ["mine.jsonl"])


class InterruptTest(TaskTest):
    def test_ctrl_c_ends_in_order(self):
        run = self.begin_run("task", "--iterations", "100000", "--out", "a.run")
        run.send_signal(signal.SIGINT)
        out, err = finish(run)
        self.assertEqual(run.returncode, 130, out + err)
        self.assertIn("kernelsmith resume a.run", out)
        shown = self.json("show", "a.run")
        self.assertEqual(shown["archive"]["digest"][:16], digest_in(out))
        told = shown["counts"]["iterations"]
        resumed = self.begin("resume", "a.run")
        resumed.stderr.readline()  # "run ..., preparing"
        resumed.send_signal(signal.SIGTERM)
        finish(resumed)
        self.assertEqual(resumed.returncode, 130)
        self.assertGreaterEqual(self.json("show", "a.run")["counts"]["iterations"], told)


class EndedRunTest(TaskTest):
    """What a run that has ended says when it is resumed."""

    def test_a_budget_that_is_used_up_is_named_with_what_raises_it(self):
        done = self.succeed("run", "task", "--iterations", "3", "--out", "a.run")
        self.assertIn("ended    the budget of iterations is used up", done.stdout)
        again = self.succeed("resume", "a.run")
        self.assertIn("ended    before this session: the budget of iterations is used up", again.stdout)
        (line,) = [line for line in again.stdout.splitlines() if "kernelsmith resume" in line]
        self.assertIn("kernelsmith resume a.run --iterations 6 ", line)
        self.assertIn("give a larger one", line)
        more = self.succeed("resume", "a.run", "--iterations", "6")
        self.assertNotIn("before this session", more.stdout)

    def test_a_flat_run_says_what_is_expected_and_what_goes_on(self):
        # From a sum of 24 to one of 42: it is flat soon.
        write_task(self.folder / "task", seed_txt=SEED.replace("= 0", "= 4"))
        done = self.succeed("run", "task", "--deterministic", "--out", "a.run", "--until-flat=20")
        self.assertIn("ended    the rest of the budget would gain too little", done.stdout)
        self.assertRegex(done.stdout, r"the next \d+ evaluations would add [\d.]+ %; --until-flat asks for 20 %")
        self.assertIn("kernelsmith resume a.run --until-flat 10 ", done.stdout)
        self.assertIn("measured again on fresh inputs", done.stdout)
        shown = self.json("show", "a.run")
        self.assertEqual((shown["ended"], shown["used_up"]), ("flat", None))
        expected, evaluations = shown["expected_gain"], shown["counts"]["evaluations"]
        self.assertLess(expected["percent"], 20)
        self.assertEqual((expected["evaluations"], expected["until_flat"]), (evaluations, 20))
        self.assertRegex(self.succeed("show", "a.run").stdout, r"outlook   .* would add [\d.]+ %; the search ends below 20 %\n")
        self.assertIn("before this session: the rest of the budget", self.succeed("resume", "a.run").stdout)
        self.assertEqual(self.json("show", "a.run")["counts"]["evaluations"], evaluations)
        replayed = self.succeed("replay", "a.run", "--keep-evaluations", "--out", "b.run")
        self.assertIn("ended    the rest of the budget would gain too little", replayed.stdout)

    def test_where_nothing_is_left_to_propose_no_resume_is_suggested(self):
        write_task(self.folder / "task", seed_txt="k = 0  # @tune 0 1 2\n")
        self.succeed("run", "task", "--iterations", "3000", "--out", "a.run")
        ended = self.succeed("resume", "a.run").stdout
        self.assertIn("before this session: every point of the knobs was tried", ended)
        self.assertNotIn("kernelsmith resume", ended)
        self.assertIn("@tune", ended)
        self.assertNotIn("idle_iterations", ended)

    def test_an_exhaustive_search_tries_every_point_once_and_says_so(self):
        write_task(self.folder / "task", seed_txt="a = 0  # @tune 0 1 2 3 4 5\nb = 0  # @tune 0 1 2 3\n")
        for options in ((), ("--workers", "3"), ("--deterministic", "--workers", "2")):
            name = f"{len(options)}.run"
            done = self.succeed("run", "task", "--exhaustive", "--out", name, *options).stdout
            self.assertIn("ended    every point of the knobs was tried", done)
            counts = self.json("show", name)["counts"]
            self.assertEqual(counts["accepted"] + counts["rejected"], 24, "points")
            self.assertEqual(counts["repeated"], 0, "nothing twice")
            self.assertIsNone(self.json("show", name)["expected_gain"], "nothing is left")

    def test_an_exhaustive_search_needs_knobs_and_takes_no_model(self):
        write_task(self.folder / "task", seed_txt="k = 0\n")
        self.refused((["run", "task", "--exhaustive"], "no knobs"),
                     (["run", "task", "--exhaustive", "--model", "m"], ["--exhaustive", "--model"]))

    def test_time_is_kept_to_and_what_comes_on_top_is_told(self):
        # Whoever is scored sleeps for longer than anybody waits, but for the seed and the best.
        score = "grep -q 'k0 = 0' \"$1\" || sleep 1000\n" + SCORE
        write_task(self.folder / "task", score_sh=score, seed_txt=SEED.split("\n", maxsplit=1)[0] + "\n",
                   task_yaml=TASK + "timeout_s: 2000\n")
        for seconds in (1, 10, 60):  # until children are under way when the time is up
            run = f"{seconds}.run"
            done = self.succeed("run", "task", "--time", f"{seconds}s", "--out", run)
            shown = self.json("show", run)
            if shown["counts"]["given_back"] > 0:
                break
        self.assertIn("ended    the time is used up", done.stdout)
        self.assertEqual((shown["ended"], shown["used_up"]), ("budget", "wall_time"))
        self.assertGreater(shown["counts"]["given_back"], 0)
        self.assertEqual(shown["given_back"], [{"code": "cancelled", "count": shown["counts"]["given_back"]}])
        self.assertIn("without a verdict: cancelled", kernelsmith("show", run, cwd=self.folder).stdout)
        self.assertGreater(shown["confirming_s"], 0)
        self.assertGreaterEqual(shown["budgets"]["wall_time_s"]["used"], 1)


class ProgressTest(CommandTest):
    def test_rejections_are_shown(self):
        # An odd sum is rejected; the seed's is even.
        write_task(self.folder / "task", score_sh=SCORE + "exit $((sum % 2))\n")
        shown = self.succeed("run", "task", "--iterations", "60", "--out", "a.run").stderr
        self.assertRegex(shown, r"  \d+ accepted, \d+ rejected  ")
        self.assertNotIn("\x1b", shown, "plain lines")
        self.assertLess(len(shown.splitlines()), 60)
        self.assertIn("which is measured once more", shown)


class TerminalTest(TaskTest):
    def output_on_a_terminal(self, *args):
        leader, follower = pty.openpty()
        process = subprocess.Popen([KERNELSMITH, *args], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=follower)
        os.close(follower)
        shown = b""
        try:
            while chunk := os.read(leader, 4096):
                shown += chunk
        except OSError:  # the other end was closed
            pass
        os.close(leader)
        finish(process)
        return process.returncode, shown.decode()

    def test_one_live_line(self):
        status, shown = self.output_on_a_terminal("run", "task", "--iterations", "60", "--out", "a.run")
        self.assertEqual(status, 0, shown)
        self.assertRegex(shown, r"iteration \d+/60.*  best .*  \d+ accepted  .*evaluations/s  \d+/\d+ cells")
        self.assertIn("which is measured once more", shown)
        self.assertEqual(shown.count("\n"), 1, shown)  # the first line; the live one is drawn over itself


if __name__ == "__main__":
    unittest.main()
