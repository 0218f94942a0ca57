"""Every wrong input gives one clear error, with the exit status that it deserves."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import unittest
from pathlib import Path

from model_run_test import Model, program, reply
from support import TASK, CommandTest, finish, kernelsmith, start, write_task


class MissingFiles(CommandTest):
    def test_no_such_task(self):
        for command in (["run", "nowhere"], ["evaluate", "nowhere", "file"]):
            self.fail_with(2, *command, says=["nowhere"], code="not_found")

    def test_a_folder_without_a_task(self):
        (self.folder / "empty").mkdir()
        self.fail_with(2, "run", "empty", says=["empty/task.yaml"], code="not_found")
        (self.folder / "empty" / "task.yml").touch()
        self.fail_with(2, "run", "empty", says=["rename task.yml"], code="not_found")
        (self.folder / "empty" / "run.yaml").touch()
        self.fail_with(2, "run", "empty", says=["kernelsmith resume"], code="not_found")

    def test_a_file_that_the_task_names_is_missing(self):
        task = write_task(self.folder / "task")
        (task / "seed.txt").unlink()
        self.fail_with(2, "run", "task", says=["seed.txt"], code="not_found")

    def test_no_such_candidate(self):
        write_task(self.folder / "task")
        self.fail_with(2, "evaluate", "task", "nothing.txt", says=["nothing.txt"], code="not_found")

    def test_a_candidate_without_end(self):
        write_task(self.folder / "task")
        self.fail_with(2, "evaluate", "task", "/dev/zero", says=["/dev/zero", "4 MiB"], code="bad_input")

    def test_a_candidate_that_is_no_text(self):
        write_task(self.folder / "task")
        self.fail_with(2, "evaluate", "task", "/bin/ls", says=["/bin/ls", "no text", "hint"], code="bad_input")

    def test_a_byte_order_mark_before_a_text_is_not_there(self):
        text = "# EVOLVE-BLOCK-START\nk0 = 7  # @tune 0 7\n# EVOLVE-BLOCK-END\n"
        write_task(self.folder / "task", seed_txt="\ufeff" + text)
        for mark in ("", "\ufeff"):
            (self.folder / "a.txt").write_text(mark + text)
            evaluated = self.json("evaluate", "task", "a.txt")
            self.assertEqual((evaluated["fitness"], evaluated["knobs"][0]["line"]), (7, 2))

    def test_a_pipe_that_nobody_writes_to_can_be_interrupted(self):
        write_task(self.folder / "task")
        os.mkfifo(self.folder / "pipe")
        process = start("evaluate", "task", "pipe", cwd=self.folder)
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(1)
        process.terminate()
        finish(process)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_an_unreadable_file(self):
        task = write_task(self.folder / "task")
        (task / "task.yaml").chmod(0)
        self.folder.chmod(0o755)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}  # root reads every file
        self.fail_with(3, "run", "task", says=["task.yaml"], code="permission", **nobody)

    def test_a_folder_that_may_not_be_searched(self):
        write_task(self.folder / "task")
        (self.folder / "closed").mkdir(mode=0)
        self.folder.chmod(0o755)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}
        self.fail_with(3, "init", "closed/task", says=["closed/task"], code="permission", **nobody)
        self.fail_with(3, "evaluate", "task", "closed/seed.txt", says=["closed/seed.txt"], code="permission", **nobody)

    def test_a_folder_where_a_file_is_expected(self):
        task = write_task(self.folder / "task")
        (task / "seed.txt").unlink()
        (task / "seed.txt").mkdir()
        self.fail_with(2, "run", "task", says=["seed.txt"], code="bad_input")

    def test_no_such_run(self):
        for command in ("show", "resume", "export"):
            self.fail_with(2, command, "nowhere.run", says=["nowhere.run"], code="not_found")

    def test_a_folder_that_is_no_run(self):
        (self.folder / "plain").mkdir()
        self.fail_with(2, "show", "plain", says=["no run folder"], code="not_found")


class WrongYaml(CommandTest):
    def test_broken_syntax(self):
        write_task(self.folder / "task", task_yaml="name: x\nshapes: [\n")
        self.fail_with(2, "run", "task", says=["task/task.yaml:2: '[' is never closed", "hint"], code="bad_input")

    def test_a_wrong_type(self):
        write_task(self.folder / "task", task_yaml=TASK + "threads: many\n")
        self.fail_with(2, "run", "task", says=["task/task.yaml:6", "threads"], code="bad_input")

    def test_an_unknown_key(self):
        write_task(self.folder / "task", task_yaml=TASK + "timeouts: 5\n")
        self.fail_with(2, "run", "task", says=["task/task.yaml:6", "timeouts", "timeout_s"], code="bad_input")

    def test_an_unknown_key_of_the_configuration(self):
        write_task(self.folder / "task")
        (self.folder / "run.yaml").write_text("version: 1\nislands:\n  cuont: 3\n")
        self.fail_with(2, "run", "task", "--config", "run.yaml", says=["run.yaml:3", "cuont", "count"],
                       code="bad_input")

    def test_a_wrong_type_in_the_configuration(self):
        write_task(self.folder / "task")
        (self.folder / "run.yaml").write_text("version: 1\nseed: [1]\n")
        self.fail_with(2, "run", "task", "--config", "run.yaml", says=["run.yaml:2", "seed"], code="bad_input")

    def test_a_wrong_setting(self):
        write_task(self.folder / "task")
        self.fail_with(2, "run", "task", "--set", "islands.topology=rign", says=["islands.topology=rign", "ring"],
                       code="bad_input")
        self.fail_with(2, "run", "task", "--set", "islands", says=["key=value"], code="invalid_argument")

    def test_what_a_setting_must_be_is_told_with_what_to_write(self):
        write_task(self.folder / "task")
        for setting, *says in (
                ("proposer.kind=openai", "'proposer.kind' must be one of", "found 'openai'", "--model NAME", "kind: chat"),
                ("proposer.model=gpt-4o", "unknown key 'proposer.model'", "is a key of kind: chat", "--model NAME"),
                ("backend=CPU", "unknown key 'backend'", "stands in its task.yaml"),
                ("iterations=5", "did you mean budgets.iterations?"),
                ("islands.edges=[]", "of the topology `edges`"),
                ("proposer={kind: chat, models: [gpt-4o]}", "write {name: gpt-4o}", "its keys are name, max_output_tokens"),
                ("budgets.wall_time_s=40s", "in seconds, without a unit: 40"),
                ("islands.topology=Ring", "did you mean ring?")):
            self.fail_with(2, "run", "task", "--set", setting, says=says, code="bad_input")
        self.fail_with(2, "run", "task", "--proposer", "openai", says=["unknown option --proposer", "--model NAME"])
        (self.folder / "task/task.yaml").write_text(TASK.replace("command\n", "CPU\n", 1))
        self.fail_with(2, "run", "task", says=["found 'CPU'", "did you mean cpu?"], code="bad_input")

    def test_a_secret_that_everybody_can_read_is_warned_of(self):
        token = self.folder / "token"
        token.write_text("secret")
        for mode, warned in ((0o644, True), (0o640, False)):
            token.chmod(mode)
            text = self.fail_with(2, "serve", "--token-file", "token", "--task", "nowhere", says=["nowhere"])
            self.assertEqual("everybody on this machine can read token" in text, warned, text)

    def test_each_of_the_two_commands_profile_names_the_other(self):
        for arguments in (["model.py", "--out", "hot"], ["model.py"]):
            self.fail_with(2, "profile", *arguments, says=["python -m kernelsmith profile MODEL --out DIR"])

    def test_a_name_that_is_a_path(self):
        write_task(self.folder / "task", task_yaml=TASK.replace("name: hill", "name: ../hill"))
        self.fail_with(2, "run", "task", says=["task/task.yaml:2", "the name cannot be that of a folder"], code="bad_input")

    def test_nothing_is_left_behind(self):
        write_task(self.folder / "task", task_yaml=TASK + "timeouts: 5\n")
        kernelsmith("run", "task", cwd=self.folder)
        write_task(self.folder / "task")
        self.fail_with(2, "run", "task", "--deterministic", "--time", "5s", says=["budgets.wall_time_s"])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["task"])


class ErrorsAsJson(CommandTest):
    """With --json an error is an object on the standard output, beside the text on the other one."""

    def error(self, status, *args, code, says, **options):
        done = kernelsmith(*args, "--json", cwd=self.folder, **options)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        error = json.loads(done.stdout)["error"]
        self.assertEqual(sorted(error), ["code", "hint", "message", "where"])
        self.assertEqual(error["code"], code)
        self.assertIn(says, error["message"])
        self.assertIn(f"error: {error['where']}: {error['message']} ({code})", done.stderr)
        return error

    def test_a_task_that_is_refused(self):
        self.succeed("init", "--template", "command", "task")
        (self.folder / "task/seed.py").write_text("k = 9  # @tune 1 2\n")
        self.error(2, "evaluate", "task", "nothing.py", code="not_found", says="")
        task = self.folder / "task/task.yaml"
        task.write_text(task.read_text().replace("backend: command", "backnd: command"))
        error = self.error(2, "evaluate", "task", "task/seed.py", code="bad_input", says="backnd")
        self.assertEqual(error["hint"], "did you mean backend?")
        self.error(2, "doctor", "task", code="bad_input", says="backnd")
        self.error(2, "prompt", "task", code="bad_input", says="backnd")

    def test_a_run_whose_evaluator_was_edited_or_whose_journal_was_damaged(self):
        (self.folder / "task").mkdir()
        for name, text in (("task.yaml", "version: 1\nname: own\nbackend: python\nevaluator: evaluator.py\nsandbox: false\n"
                                         "files: {seed: seed.py}\n"),
                           ("seed.py", "x = 0\n"), ("evaluator.py", "def evaluate(path):\n    return 1.0\n")):
            (self.folder / "task" / name).write_text(text)
        self.succeed("run", "task", "--out", "a.run", "--manual", "q", "--time", "1s", "--evaluations", "100")
        # One evaluation says nothing of 99 others.
        self.assertRegex(self.succeed("show", "a.run").stdout, "expected  over 100 % from the next 9[89] evaluations\n")
        with (self.folder / "task/evaluator.py").open("a") as file:
            file.write("# edited\n")
        shown = self.succeed("show", "a.run").stdout
        self.assertIn("the evaluator's file has changed since: ", shown)
        self.assertIn("program 0, fitness 1", shown)
        database = self.folder / "a.run/run.db"
        database.write_bytes(database.read_bytes()[:4096] + b"\xff" * (database.stat().st_size - 4096))
        for name in ("run.db-wal", "run.db-shm"):
            (self.folder / "a.run" / name).unlink(missing_ok=True)
        error = self.fail_with(3, "show", "a.run", says=["run.db", "hint: restore the run folder from a copy"])
        self.assertNotIn("SELECT", error)

    def test_a_budget_that_asks_nobody_is_said(self):
        write_task(self.folder / "task")
        done = self.succeed("run", "task", "--out", "a.run", "--evaluations", "2")
        self.assertIn("asks nobody for a program", done.stderr)
        self.assertIn("the least useful budget is 3", done.stderr)
        self.assertNotIn("asks nobody", self.succeed("run", "task", "--out", "b.run", "--evaluations", "3").stderr)

    def test_an_evaluator_that_cannot_be_imported(self):
        self.succeed("init", "--template", "python", "task")
        (self.folder / "task/evaluator.py").write_text("import os\nimport no_such_module\n")
        error = self.error(2, "evaluate", "task", "task/initial_program.py", code="refused", says="no_such_module")
        self.assertTrue(error["where"].endswith("task/evaluator.py:2"), error["where"])
        self.fail_with(2, "run", "task", "--iterations", "3", says=["evaluator.py:2"])

    def test_of_many_lines_the_terminal_has_the_fault(self):
        self.succeed("init", "task")
        (self.folder / "task/reference.cpp").write_text('#include "task.hpp"\nvoid f() {\n  int x\n  int y\n}\nint z\n')
        done = kernelsmith("evaluate", "task", "task/seed.cpp", "--json", cwd=self.folder)
        message = json.loads(done.stdout)["error"]["message"]
        self.assertGreater(len(message.splitlines()), 5)
        told = done.stderr[done.stderr.index("error: "):].splitlines()
        self.assertLess(len(told), 5)
        self.assertIn("error: ", "".join(told[1:]))
        self.assertIn("more lines", done.stderr)

    def test_a_kernel_task_that_fails_its_own_check(self):
        self.succeed("init", "task")
        (self.folder / "task/reference.cpp").write_text("this is no C++\n")
        self.error(2, "evaluate", "task", "task/seed.cpp", code="refused", says="reference")

    def test_a_compiler_that_is_none(self):
        self.succeed("init", "task")
        files = ["task/seed.cpp", "task/reference.cpp"]
        done = kernelsmith("evaluate", "task", *files, "--json", "--set", "evaluator.compiler=/bin/true", cwd=self.folder)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual([one["file"] for one in told], files)
        self.assertIn("it had no turn", told[1]["error"]["message"])
        error = told[0]["error"]
        self.assertEqual(error["code"], "tool_failed")
        self.assertIn("/bin/true", error["message"])
        self.assertNotIn("scratch", done.stdout + done.stderr)

    def test_what_is_not_there_or_not_understood(self):
        self.error(2, "show", "nowhere.run", code="not_found", says="no run folder")
        self.error(2, "show", "a", "b", code="invalid_argument", says="unexpected argument b")


class KnownAtOnce(CommandTest):
    """Mistakes that need no evaluator are reported before one is prepared. This compiler is a fake: preparing would fail."""

    NONE = ("--set", "evaluator.compiler=/bin/true")

    def setUp(self):
        super().setUp()
        self.succeed("init", "task")
        self.seed = self.folder / "task/seed.cpp"
        self.nested = "// EVOLVE-BLOCK-START\n" + self.seed.read_text()

    def test_a_candidate_that_cannot_be_read(self):
        (self.folder / "nested.cpp").write_text(self.nested)
        done = kernelsmith("evaluate", "task", "nested.cpp", *self.NONE, cwd=self.folder)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("rejected at parse: unreadable\nnested.cpp:", done.stdout)

    def test_a_seed_that_cannot_be_read(self):
        self.seed.write_text(self.nested)
        self.fail_with(2, "run", "task", "--manual", "desk", *self.NONE, says=["seed.cpp:", "do not nest"], code="bad_input")


class UnusableTask(CommandTest):
    """The task itself fails its own check."""

    def test_a_seed_that_fails_its_own_check(self):
        write_task(self.folder / "task", score_sh="exit 3\n")
        self.fail_with(2, "run", "task", "--iterations", "5", says=["seed"], code="refused")
        self.assertNotIn("resume", kernelsmith("run", "task", cwd=self.folder).stdout)

    def test_a_knob_whose_value_is_not_listed(self):
        write_task(self.folder / "task", seed_txt="k = 9  # @tune 1 2 3\n")
        self.fail_with(2, "run", "task", says=["seed.txt:1", "9"])

    def test_a_seed_without_knobs(self):
        write_task(self.folder / "task", seed_txt="k = 9\n")
        self.fail_with(2, "run", "task", says=["no knobs", "@tune"], code="refused")

    def test_neither_a_seed_nor_a_model(self):
        task = write_task(self.folder / "task")
        text = (task / "task.yaml").read_text()
        (task / "task.yaml").write_text(text.replace("seed: seed.txt", "reference: seed.txt"))
        self.fail_with(2, "run", "task", says=["the task has no seed", "--model"], code="refused")

    def test_a_reference_that_does_not_compile(self):
        self.succeed("init", "task")
        (self.folder / "task/reference.cpp").write_text("this is no C++\n")
        self.fail_with(2, "run", "task", "--time", "5s", says=["reference"], code="refused")

    def test_a_kernel_seed_that_fails_its_own_check(self):
        self.succeed("init", "task")
        seed = self.folder / "task/seed.cpp"
        seed.write_text(seed.read_text().replace("y[j * rows + i] = x[i * cols + j]", "y[j * rows + i] = 1"))
        self.fail_with(2, "run", "task", "--time", "5s", says=["seed"], code="refused")


class LackingMachine(CommandTest):
    """Tools that are not there."""

    def path_without(self, *missing):
        """A PATH on which everything is but `missing`."""
        tools = self.folder / "tools"
        tools.mkdir()
        for folder in ("/usr/local/bin", "/usr/bin", "/bin"):
            for program in Path(folder).iterdir() if Path(folder).is_dir() else ():
                link = tools / program.name
                if program.name not in missing and not os.path.lexists(link):
                    link.symlink_to(program)
        return {"PATH": str(tools)}

    def test_no_compiler(self):
        self.succeed("init", "task")
        self.fail_with(3, "run", "task", "--time", "5s", says=["g++", "apt-get install"], code="tool_missing",
                       env=self.path_without("g++"))

    def test_no_bubblewrap(self):
        write_task(self.folder / "task")
        self.fail_with(3, "run", "task", "--iterations", "5", says=["bubblewrap", "apt-get install bubblewrap"],
                       code="tool_missing", env=self.path_without("bwrap"))

    def test_the_doctor_says_so(self):
        machine = self.json("doctor", status=3, env=self.path_without("bwrap", "g++"))
        self.assertFalse(machine["usable"])
        lacking = {check["name"]: check["remedy"] for check in machine["checks"] if check["status"] == "missing"}
        self.assertIn("apt-get install", lacking["bubblewrap"])
        self.assertIn("apt-get install", lacking["compiler"])

    def task_checks(self, status):
        checks = self.json("doctor", "task", status=status)["checks"]
        return {check["name"]: check for check in checks if check["name"] in ("task", "precision")}

    def test_the_doctor_tries_a_task(self):
        self.assertIn("bit for bit", self.succeed("init", "task").stdout)
        checks = self.task_checks(0)
        self.assertEqual({check["status"] for check in checks.values()}, {"ok"})
        self.assertIn("reference, baseline and seed compile and pass", checks["task"]["detail"])
        yaml = self.folder / "task" / "task.yaml"
        yaml.write_text(yaml.read_text().replace("policy: exact", "policy: auto").replace("normal", "zeros"))
        checks = self.task_checks(2)
        self.assertEqual((checks["task"]["status"], checks["precision"]["status"]), ("ok", "limited"))
        self.assertIn("tf32", checks["precision"]["detail"])
        self.assertIn("allow", checks["precision"]["remedy"])
        self.fail_with(2, "doctor", "nowhere", says=["nowhere"], code="not_found")


class WrongRunFolder(CommandTest):
    def make_run(self):
        write_task(self.folder / "task")
        self.succeed("run", "task", "--iterations", "3", "--out", "a.run")

    def test_a_folder_that_is_not_empty(self):
        self.make_run()
        self.fail_with(2, "run", "task", "--out", "a.run", says=["a.run"])

    def test_a_home_that_no_shell_has_put_in_is_not_made_here(self):
        write_task(self.folder / "task")
        for command in (["run", "task", "--out", "~/a.run"], ["init", "~/task"], ["suite", "task", "--out", "~/a.suite"]):
            self.fail_with(2, *command, says=["~"], code="invalid_argument")
        self.assertEqual(os.listdir(self.folder), ["task"])

    def test_a_folder_that_is_not_empty_is_refused_before_the_task_is_prepared(self):
        self.succeed("init", "task")
        (self.folder / "a.run" / "notes").mkdir(parents=True)
        self.fail_with(2, "run", "task", "--set", "evaluator.compiler=/bin/true", "--out", "a.run", says=["not empty"])

    def test_a_newer_version(self):
        self.make_run()
        with sqlite3.connect(self.folder / "a.run/run.db") as database:
            database.execute("PRAGMA user_version = 999")
        for command in ("show", "resume", "export"):
            self.fail_with(2, command, "a.run", says=["a.run", "999"], code="version")

    def test_a_newer_configuration(self):
        self.make_run()
        config = self.folder / "a.run/run.yaml"
        config.write_text(config.read_text().replace("version: 1", "version: 7"))
        self.fail_with(2, "resume", "a.run", says=["run.yaml", "version 1, not 7"])

    def test_in_use_by_another_process(self):
        write_task(self.folder / "task")
        busy = start("run", "task", "--iterations", "100000", "--out", "a.run", cwd=self.folder)
        self.addCleanup(busy.communicate)
        self.addCleanup(busy.kill)
        busy.stderr.readline()  # "task hill, ..."
        busy.stderr.readline()  # the first best: the run is being written
        self.fail_with(2, "resume", "a.run", says=["a.run", str(busy.pid)], code="busy")
        self.assertGreaterEqual(self.json("show", "a.run")["counts"]["evaluations"], 1)

    def test_a_budget_that_is_refused_leaves_the_run_resumable(self):
        write_task(self.folder / "task")
        self.succeed("run", "task", "--deterministic", "--iterations", "3", "--out", "a.run")
        self.fail_with(2, "resume", "a.run", "--time", "5s", "--iterations", "5", says=["budgets.wall_time_s"],
                       code="invalid_argument")
        self.succeed("resume", "a.run", "--iterations", "5")

    def test_a_budget_that_is_used_up_beside_the_raised_one_is_named(self):
        write_task(self.folder / "task")
        self.succeed("run", "task", "--iterations", "3", "--evaluations", "90", "--out", "a.run")
        self.fail_with(2, "resume", "a.run", "--evaluations", "91", says=["used up", "--iterations 6"], code="invalid_argument")
        self.succeed("resume", "a.run", "--iterations", "4")

    def test_a_damaged_event_is_one_line_and_a_hint(self):
        self.make_run()
        with sqlite3.connect(self.folder / "a.run/run.db") as database:
            database.execute("UPDATE sources SET files = CAST(x'7b22ff00c3' AS TEXT)")
        text = self.fail_with(3, "show", "a.run", says=["event ", "hint: restore the run folder"], code="corrupt")
        self.assertNotIn("base64", text)
        self.assertEqual(len(text.splitlines()), 2, text)

    def test_what_stands_beside_the_database_is_not_waited_for(self):
        self.make_run()
        for name in ("run.db-journal", "run.db-wal"):
            path = self.folder / "a.run" / name
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            self.fail_with(3, "show", "a.run", says=[name, "no regular file"], code="corrupt")
            path.unlink()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a file system")
    def test_a_run_on_a_read_only_file_system_can_be_looked_at(self):
        disk = self.folder / "a?b"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this machine does not let tests mount: " + mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        write_task(self.folder / "task")
        self.succeed("run", "task", "--iterations", "3", "--out", disk / "a.run")
        with sqlite3.connect(disk / "a.run/run.db") as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        for name in ("run.db-wal", "run.db-shm"):
            (disk / "a.run" / name).unlink(missing_ok=True)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        self.assertEqual(self.json("show", disk / "a.run")["counts"]["iterations"], 3)
        self.assertIn('"type":"run"', self.succeed("export", disk / "a.run").stdout)
        self.succeed("replay", disk / "a.run", "--keep-evaluations", "--out", "b.run")

    def test_a_run_without_its_task(self):
        self.make_run()
        shutil.rmtree(self.folder / "a.run/task")
        self.assertIsNone(self.json("show", "a.run")["archive"], "its axes read features of the task's sources")
        self.assertIn('"type":"run"', self.succeed("export", "a.run").stdout)
        for command in ("resume", "replay", "prompt"):
            self.fail_with(2, command, "a.run", says=["a.run", "links the library"], code="not_found")

    def test_a_figure_for_flatness_is_a_percentage(self):
        write_task(self.folder / "task")
        for figure in ("0", "-1", "101", "5%", "nan", "soon"):
            self.fail_with(2, "run", "task", f"--until-flat={figure}", says=["--until-flat", f"found '{figure}'"],
                           code="invalid_argument")
        self.fail_with(2, "run", "task", "--set", "budgets.until_flat=0", says=["until_flat"])
        self.fail_with(2, "run", "task", "--until-flat", "5", "--set", "islands.count=2",
                       says=["islands migrate at fractions of a budget"], code="invalid_argument")
        self.assertEqual(list(self.folder.glob("*.run")), [])

    def test_budgets_can_only_be_raised(self):
        self.make_run()
        self.fail_with(2, "resume", "a.run", "--iterations", "2", says=["totals"], code="invalid_argument")
        self.fail_with(2, "resume", "a.run", "--evaluations", "1", says=["has used"], code="invalid_argument")
        text = self.fail_with(2, "resume", "a.run", "--time", "abc", says=["abc"], code="invalid_argument")
        self.assertNotIn("preparing", text)


class FullDisk(CommandTest):
    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small file system")
    def test_the_disk_fills_up_during_the_run(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this machine does not let tests mount: " + mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        write_task(self.folder / "task")
        self.fail_with(3, "run", "task", "--iterations", "100000", "--out", disk / "a.run", says=["resume"],
                       code="disk_full")
        self.assertEqual(sqlite3.connect(disk / "a.run/run.db").execute("PRAGMA integrity_check").fetchone(), ("ok",))
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        told = self.json("show", disk / "a.run")["counts"]["iterations"]
        self.assertGreater(told, 0)


class FullDiskWithAModel(CommandTest):
    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small file system")
    def test_the_disk_fills_up_while_models_are_asked(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("this machine does not let tests mount: " + mounted.stderr.decode())
        self.addCleanup(subprocess.run, ["umount", "-l", disk])
        write_task(self.folder / "task")
        model = Model([])
        self.addCleanup(model.close)
        answer = reply(f"```\n{program(1, 2, 3, 4, 5, 6)}```\n")

        class Script(list):
            """The disk is full when the first answer goes out."""

            filled = False

            def __len__(self):
                return 1

            def __getitem__(self, _):
                filler = disk / "filler"
                if not self.filled:
                    self.filled = True
                    with open(filler, "wb", buffering=0) as file:
                        try:
                            while True:
                                file.write(bytes(4096))
                        except OSError:
                            pass
                return answer

        model.script = Script()
        self.fail_with(3, "run", "task", "--model", "m", "--base-url", model.url, "--iterations", "40", "--set",
                       "proposer.concurrency=2", "--out", disk / "a.run", says=["resume"], code="disk_full")
        (disk / "filler").unlink()
        self.succeed("resume", disk / "a.run", "--iterations", "41")
        self.assertFalse((disk / "a.run/run.spare").exists())


if __name__ == "__main__":
    unittest.main()
