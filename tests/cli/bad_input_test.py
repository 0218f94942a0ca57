"""Every wrong input gives one clear error, with the exit status that it deserves."""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest
from pathlib import Path

from model import BETTER, ModelTest, reply
from support import TASK, CommandTest, finish, kernelsmith, write_task


class MissingFiles(CommandTest):
    def setUp(self):
        super().setUp()
        self.task = write_task(self.folder / "task")

    def test_files_and_folders_that_are_not_there(self):
        for folder, file in (("empty", None), ("misnamed", "task.yml"), ("ran", "run.yaml")):
            (self.folder / folder).mkdir()
            if file:
                (self.folder / folder / file).touch()
        write_task(self.folder / "seedless")
        (self.folder / "seedless/seed.txt").unlink()
        self.refused((["run", "nowhere"], "nowhere", "not_found"),
                     (["evaluate", "nowhere", "file"], "nowhere", "not_found"),
                     (["run", "empty"], "empty/task.yaml", "not_found"),
                     (["run", "misnamed"], "rename task.yml", "not_found"),
                     (["run", "ran"], "kernelsmith resume", "not_found"),
                     (["run", "seedless"], "seed.txt", "not_found"),
                     (["evaluate", "task", "nothing.txt"], "nothing.txt", "not_found"),
                     *[([command, "nowhere.run"], "nowhere.run", "not_found") for command in ("show", "resume", "export")],
                     (["show", "empty"], "no run folder", "not_found"))

    def test_what_is_no_text_file(self):
        write_task(self.folder / "folders")
        (self.folder / "folders/seed.txt").unlink()
        (self.folder / "folders/seed.txt").mkdir()
        self.refused((["evaluate", "task", "/dev/zero"], ["/dev/zero", "4 MiB"], "bad_input"),
                     (["evaluate", "task", "/bin/ls"], ["/bin/ls", "not text", "hint"], "bad_input"),
                     (["run", "folders"], "seed.txt", "bad_input"))

    def test_a_byte_order_mark_before_a_text_is_not_there(self):
        text = "# EVOLVE-BLOCK-START\nk0 = 7  # @tune 0 7\n# EVOLVE-BLOCK-END\n"
        write_task(self.folder / "task", seed_txt="\ufeff" + text)
        for mark in ("", "\ufeff"):
            (self.folder / "a.txt").write_text(mark + text)
            evaluated = self.json("evaluate", "task", "a.txt")
            self.assertEqual((evaluated["fitness"], evaluated["knobs"][0]["line"]), (7, 2))

    def test_a_pipe_that_nobody_writes_to_can_be_interrupted(self):
        os.mkfifo(self.folder / "pipe")
        process = self.begin("evaluate", "task", "pipe")
        with self.assertRaises(subprocess.TimeoutExpired):
            process.wait(1)
        process.terminate()
        finish(process)
        self.assertEqual(process.returncode, -signal.SIGTERM)

    def test_what_may_not_be_read_or_entered(self):
        write_task(self.folder / "locked")
        (self.folder / "locked/task.yaml").chmod(0)
        (self.folder / "closed").mkdir(mode=0)
        self.folder.chmod(0o755)
        nobody = {"user": 65534} if os.geteuid() == 0 else {}  # root reads every file
        for args, says in ((["run", "locked"], "task.yaml"), (["init", "closed/task"], "closed/task"),
                           (["evaluate", "task", "closed/seed.txt"], "closed/seed.txt")):
            self.fail_with(3, *args, says=[says], code="permission", **nobody)


class WrongYaml(CommandTest):
    def test_of_a_task(self):
        for name, text, *says in (("syntax", "name: x\nshapes: [\n", "syntax/task.yaml:2: '[' is never closed", "hint"),
                                  ("type", TASK + "threads: many\n", "type/task.yaml:6", "threads"),
                                  ("key", TASK + "timeouts: 5\n", "key/task.yaml:6", "timeouts", "timeout_s"),
                                  ("path", TASK.replace("name: hill", "name: ../hill"), "path/task.yaml:2",
                                   "the name cannot be that of a folder"),
                                  ("backend", TASK.replace("command\n", "CPU\n", 1), "found 'CPU'", "did you mean cpu?")):
            write_task(self.folder / name, task_yaml=text)
            self.refused((["run", name], says, "bad_input"))
        self.assertFalse(list(self.folder.glob("*.run")), "nothing is left behind")

    def test_of_a_configuration(self):
        write_task(self.folder / "task")
        for text, *says in (("version: 1\nislands:\n  cuont: 3\n", "run.yaml:3", "cuont", "count"),
                            ("version: 1\nseed: [1]\n", "run.yaml:2", "seed")):
            (self.folder / "run.yaml").write_text(text)
            self.refused((["run", "task", "--config", "run.yaml"], says, "bad_input"))

    def test_what_a_setting_must_be_is_told_with_what_to_write(self):
        write_task(self.folder / "task")
        for setting, *says in (
                ("islands.topology=rign", "islands.topology=rign", "ring"),
                ("proposer.kind=openai", "'proposer.kind' must be one of", "found 'openai'", "--model NAME", "kind: chat"),
                ("proposer.model=gpt-4o", "unknown key 'proposer.model'", "is a key of kind: chat", "--model NAME"),
                ("backend=CPU", "unknown key 'backend'", "stands in its task.yaml"),
                ("iterations=5", "did you mean budgets.iterations?"),
                ("islands.edges=[]", "of the topology `edges`"),
                ("archive.axes=[{feature: bytes, low: 0, high: 9, bins: 3, edges: [1, 2]}]", "axes[0].edges", "depend on its scale"),
                ("archive.axes=[{feature: bytes, low: 0, high: 9, bins: 3}, {feature: bytes, low: 0, high: 5, bins: 2}]",
                 "axis 'bytes': another axis"),
                ("proposer={kind: chat, models: [gpt-4o]}", "write {name: gpt-4o}", "its keys are name, max_output_tokens"),
                ("budgets.wall_time_s=40s", "in seconds, without a unit: 40"),
                ("islands.topology=Ring", "did you mean ring?")):
            self.refused((["run", "task", "--set", setting], says, "bad_input"))
        self.refused((["run", "task", "--proposer", "openai"], ["unknown option --proposer", "--model NAME"]),
                     (["run", "task", "--set", "islands"], "key=value", "invalid_argument"),
                     (["run", "task", "--set", "sampler.cells=4", "--set", "sampler.kind=tree"], "is a key of kind: cells", "bad_input"),
                     (["run", "task", "--deterministic", "--time", "5s"], "budgets.wall_time_s"))
        self.assertEqual([path.name for path in self.folder.iterdir()], ["task"], "nothing is left behind")

    def test_a_secret_that_everybody_can_read_is_warned_of(self):
        token = self.folder / "token"
        token.write_text("secret")
        for mode, warned in ((0o644, True), (0o640, False)):
            token.chmod(mode)
            text = self.fail_with(2, "serve", "--token-file", "token", "--task", "nowhere", says=["nowhere"])
            self.assertEqual("everybody on this machine can read token" in text, warned, text)

    def test_each_of_the_two_commands_profile_names_the_other(self):
        for arguments in (["model.py", "--out", "hot"], ["model.py"]):
            self.refused((["profile", *arguments], "python -m kernelsmith profile MODEL --out DIR"))


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
        self.assertRegex(self.succeed("show", "a.run").stdout, "outlook   going by the gains so far, the next 9[89] evaluations would add over 100 %\n")
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

    def test_a_compiler_that_is_none(self):
        self.succeed("init", "task")
        files = ["task/seed.cpp", "task/reference.cpp"]
        done = self.ends(3, "evaluate", "task", *files, "--json", "--set", "evaluator.compiler=/bin/true")
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


class UnusableTask(CommandTest):
    """The task itself fails its own check."""

    def test_a_seed_that_cannot_be_used(self):
        reference = {"task_yaml": TASK.replace("seed: seed.txt", "reference: seed.txt")}
        for name, says, code, files in (("rejected", ["seed"], "refused", {"score_sh": "exit 3\n"}),
                                        ("unlisted", ["seed.txt:1", "9"], None, {"seed_txt": "k = 9  # @tune 1 2 3\n"}),
                                        ("knobless", ["no knobs", "@tune"], "refused", {"seed_txt": "k = 9\n"}),
                                        ("absent", ["the task has no seed", "--model"], "refused", reference)):
            write_task(self.folder / name, **files)
            self.refused((["run", name, "--iterations", 5], says, code))
        self.assertNotIn("resume", self.ends(2, "run", "rejected").stdout)

    def test_a_reference_that_does_not_compile(self):
        self.succeed("init", "task")
        (self.folder / "task/reference.cpp").write_text("this is no C++\n")
        self.refused((["run", "task", "--time", "5s"], "reference", "refused"))


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

    def test_the_doctor_says_what_can_be_searched(self):
        done = self.succeed("doctor")
        self.assertLessEqual(max(map(len, done.stdout.splitlines())), 100)
        missing = {backend["name"]: backend["missing"] for backend in self.json("doctor")["backends"]}
        self.assertEqual(set(missing), {"command", "cpu", "cuda", "hip", "maca", "python", "torch"})
        self.assertEqual((missing["cpu"], missing["command"]), ([], []))
        for name, lacks in missing.items():
            self.assertIn(f"\n  {name:<8} " + ("no, see above: " + ", ".join(lacks) if lacks else "yes") + "\n", done.stdout)

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
    @classmethod
    def setUpClass(cls):
        """A run that the tests copy."""
        folder = tempfile.TemporaryDirectory(prefix="kernelsmith-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.made = Path(folder.name)
        write_task(cls.made / "task")
        kernelsmith("run", "task", "--iterations", 3, "--out", "a.run", cwd=cls.made)

    def setUp(self):
        super().setUp()
        shutil.copytree(self.made, self.folder, dirs_exist_ok=True)

    def query(self, text):
        with sqlite3.connect(self.folder / "a.run/run.db") as database:
            database.execute(text)

    def test_a_home_that_no_shell_has_put_in_is_not_made_here(self):
        shutil.rmtree(self.folder / "a.run")
        self.refused(*[(command, "~", "invalid_argument") for command in (
            ["run", "task", "--out", "~/a.run"], ["init", "~/task"], ["suite", "task", "--out", "~/a.suite"])])
        self.assertEqual(os.listdir(self.folder), ["task"])

    def test_a_newer_version(self):
        self.query("PRAGMA user_version = 999")
        self.refused(*[([command, "a.run"], ["a.run", "999"], "version") for command in ("show", "resume", "export")])

    def test_a_newer_configuration(self):
        self.edit("a.run/run.yaml", "version: 1", "version: 7")
        self.refused((["resume", "a.run"], ["run.yaml", "version 1, not 7"]))

    def test_in_use_by_another_process(self):
        busy = self.begin_run("task", "--iterations", 100000, "--out", "b.run")
        self.refused((["resume", "b.run"], ["b.run", str(busy.pid)], "busy"))
        self.assertGreaterEqual(self.json("show", "b.run")["counts"]["evaluations"], 1)

    def test_a_budget_that_is_refused_leaves_the_run_resumable(self):
        self.succeed("run", "task", "--deterministic", "--iterations", 3, "--out", "b.run")
        self.refused((["resume", "b.run", "--time", "5s", "--iterations", 5], "budgets.wall_time_s", "invalid_argument"))
        self.succeed("resume", "b.run", "--iterations", 5)

    def test_a_budget_that_is_used_up_beside_the_raised_one_is_named(self):
        self.succeed("run", "task", "--iterations", 3, "--evaluations", 90, "--out", "b.run")
        self.refused((["resume", "b.run", "--evaluations", 91], ["used up", "--iterations 6"], "invalid_argument"))
        self.succeed("resume", "b.run", "--iterations", 4)

    def test_a_damaged_event_is_one_line_and_a_hint(self):
        self.query("UPDATE sources SET files = CAST(x'7b22ff00c3' AS TEXT)")
        text = self.fail_with(3, "show", "a.run", says=["event ", "hint: restore the run folder"], code="corrupt")
        self.assertNotIn("base64", text)
        self.assertEqual(len(text.splitlines()), 2, text)

    def test_what_stands_beside_the_database_is_not_waited_for(self):
        for name in ("run.db-journal", "run.db-wal"):
            path = self.folder / "a.run" / name
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            self.fail_with(3, "show", "a.run", says=[name, "not a regular file"], code="corrupt")
            path.unlink()

    @unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a file system")
    def test_a_run_on_a_read_only_file_system_can_be_looked_at(self):
        run = self.mount("a?b", "8m") / "a.run"
        self.query("PRAGMA wal_checkpoint(TRUNCATE)")
        shutil.copytree(self.folder / "a.run", run, ignore=shutil.ignore_patterns("run.db-*"))
        subprocess.run(["mount", "-o", "remount,ro", run.parent], check=True)
        self.assertEqual(self.json("show", run)["counts"]["iterations"], 3)
        self.assertIn('"type":"run"', self.succeed("export", run).stdout)
        self.succeed("replay", run, "--keep-evaluations", "--out", "b.run")

    def test_a_run_without_its_task(self):
        shutil.rmtree(self.folder / "a.run/task")
        self.assertIsNone(self.json("show", "a.run")["archive"], "its axes read features of the task's sources")
        self.assertIn('"type":"run"', self.succeed("export", "a.run").stdout)
        self.refused(*[([command, "a.run"], ["a.run", "links the library"], "not_found")
                       for command in ("resume", "replay", "prompt")])

    def test_a_figure_for_flatness_is_a_percentage(self):
        self.refused(*[(["run", "task", f"--until-flat={figure}"], ["--until-flat", f"found '{figure}'"], "invalid_argument")
                       for figure in ("0", "-1", "101", "5%", "nan", "soon")],
                     (["run", "task", "--set", "budgets.until_flat=0"], "until_flat"),
                     (["run", "task", "--until-flat", "5", "--set", "islands.count=2"],
                      "islands migrate at fractions of a budget", "invalid_argument"))
        self.assertEqual([path.name for path in self.folder.glob("*.run")], ["a.run"])

    def test_budgets_can_only_be_raised(self):
        self.refused((["resume", "a.run", "--iterations", 2], "totals", "invalid_argument"),
                     (["resume", "a.run", "--evaluations", 1], "has used", "invalid_argument"))
        text = self.fail_with(2, "resume", "a.run", "--time", "abc", says=["abc"], code="invalid_argument")
        self.assertNotIn("preparing", text)


@unittest.skipUnless(os.geteuid() == 0, "needs root, to mount a small file system")
class FullDisk(ModelTest):
    def test_it_fills_up_during_the_run(self):
        disk = self.mount("disk", "2m")
        self.fail_with(3, "run", "task", "--iterations", 100000, "--out", disk / "a.run", says=["resume"], code="disk_full")
        self.assertEqual(sqlite3.connect(disk / "a.run/run.db").execute("PRAGMA integrity_check").fetchone(), ("ok",))
        subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
        self.assertGreater(self.json("show", disk / "a.run")["counts"]["iterations"], 0)

    def test_it_fills_up_while_models_are_asked(self):
        disk = self.mount("disk", "8m")
        filler = disk / "filler"

        def fill(number, _):
            """When the first answer goes out."""
            if number == 0:
                with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(4096))
            return reply(f"```\n{BETTER}```\n")

        self.fail_with(3, "run", "task", *self.asking(self.serve(fill)), "--iterations", 40, "--set", "proposer.concurrency=2",
                       "--out", disk / "a.run", says=["resume"], code="disk_full")
        filler.unlink()
        self.succeed("resume", disk / "a.run", "--iterations", 41)
        self.assertFalse((disk / "a.run/run.spare").exists())


if __name__ == "__main__":
    unittest.main()
